package builtin

import (
	"regexp"
	"strings"
)

// markup matches Org's markup for code and bold.
var markup = regexp.MustCompile(`(^|[\s(])(?:=([^=\n]+)=|~([^~\n]+)~|\*([^*\n]+)\*)`)

// plain removes the Org markup from an answer, for channels that would show it as it is.
func plain(answer string) string {
	lines := strings.Split(answer, "\n")
	unmarked := lines[:0]
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
			line = markup.ReplaceAllString(line, "$1$2$3$4")
		}
		unmarked = append(unmarked, line)
	}
	return strings.Join(unmarked, "\n")
}
