package org

import (
	"regexp"
	"strings"
)

// sourceLine cuts what follows "#+begin_src" as Org does: a language behind blanks (a
// tab does not count), switches, header arguments.
var sourceLine = regexp.MustCompile(`^(?: +([^ \t\r\f\v]+))?((?: +(?:-(?:l ".+"|[ikr])|[-+]n(?: *[0-9]+)?))+)?(.*)$`)

// cutSourceLine splits what follows "#+begin_src" into language, switches and header arguments.
func cutSourceLine(rest string) (language, switches, arguments string) {
	word := strings.TrimLeft(rest, " ")
	end := strings.IndexAny(word, " \t\r\f\v")
	if end < 0 {
		end = len(word)
	}
	if tail := word[end:]; end > 0 && len(word) < len(rest) && !strings.Contains(tail, " -") && !strings.Contains(tail, " +") {
		return word[:end], "", trimBlanks(tail) // the common case, without the expression
	}
	parts := sourceLine.FindStringSubmatch(rest)
	return parts[1], trimBlanks(parts[2]), trimBlanks(parts[3])
}

var (
	indentSwitch = regexp.MustCompile(`-i\b`)
	labelFormat  = regexp.MustCompile(`-l +"([^"\n]+)"`)
)

// keepsIndentation reports whether the switches have -i.
func keepsIndentation(switches string) bool {
	return switches != "" && indentSwitch.MatchString(switches)
}

// defaultLabel is how a code line names itself unless a block says otherwise.
const defaultLabel = "(ref:%s)"

// coderefs returns the expression of the labels that the switch -r takes off a block's
// lines, nil without the switch.
func coderefs(switches string) *regexp.Regexp {
	if !strings.Contains(switches, "-r") {
		return nil
	}
	format := defaultLabel
	if written := labelFormat.FindStringSubmatch(switches); written != nil {
		format = written[1]
	}
	label := strings.ReplaceAll(regexp.QuoteMeta(format), "%s", "[-a-zA-Z0-9_][-a-zA-Z0-9_ ]*")
	return regexp.MustCompile(`(?im)[ \t]*` + label + `[ \t]*$`)
}
