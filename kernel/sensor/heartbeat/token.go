package heartbeat

import (
	"regexp"
	"strings"
)

// token is what a model answers when nothing needs the person.
const token = "HEARTBEAT_OK"

// tags are those of HTML at the edges of a text.
var tags = regexp.MustCompile(`^(</?[a-zA-Z]{1,10}>\s*)+|(\s*</?[a-zA-Z]{1,10}>)+$`)

// isOK reports whether an answer is the token and nothing else, in whatever markup. Anything that is said beside it is for the
// person.
func isOK(answer string) bool {
	answer = tags.ReplaceAllString(strings.TrimSpace(answer), "")
	return strings.Trim(answer, " \t\r\n*_~=`+/\"'#.!:\u200b\ufeff") == token
}
