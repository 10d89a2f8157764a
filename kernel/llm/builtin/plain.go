package builtin

import (
	"regexp"
	"strings"
)

// quoted is what stands between the marks for code or bold in Org.
var quoted = regexp.MustCompile(`(^|[\s(])(?:=([^=\n]+)=|~([^~\n]+)~|\*([^*\n]+)\*)`)

// plain takes the Org markup out of an answer, for channels that would show it as
// it is.
func plain(answer string) string {
	lines := strings.Split(answer, "\n")
	kept := lines[:0]
	source := false
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "#+begin_"):
			source = true
			continue
		case strings.HasPrefix(line, "#+end_"):
			source = false
			continue
		case !source:
			line = strings.TrimPrefix(line, "* ")
			line = quoted.ReplaceAllString(line, "$1$2$3$4")
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}
