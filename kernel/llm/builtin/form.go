package builtin

import (
	"regexp"
	"slices"
	"strings"
)

// form is the shape of a reply as a system prompt shows it: a property list with a gap in its text.
type form struct {
	head, tail string // before and after the text, including the quotation marks
	org        bool   // the reply becomes part of an Org document
}

// fill returns the form with a text in the gap.
func (f form) fill(text string) string {
	return f.head + escapes.Replace(text) + f.tail
}

// escapes escapes a text for the quotation marks of a property list.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

// formLimit is how many property lists of a prompt are examined, and formSize the maximum length of
// one in bytes.
const (
	formLimit = 100
	formSize  = 4 << 10
)

var (
	// formStart matches where a property list may begin.
	formStart = regexp.MustCompile(`(?i)\(\s*:type\s+:(request|response)\b`)
	// gap matches what a prompt writes where the answer belongs.
	gap = regexp.MustCompile(`<[^<>\n]+>|…|\.\.\.`)
	// answerWord matches a word for an answer in the label of a form.
	answerWord = regexp.MustCompile(`(?i)\b(?:answer|reply|respond)`)
	// formTarget matches the target of a form.
	formTarget = regexp.MustCompile(`(?i):target\s+:[a-z]`)
)

// replyForm returns the form of a reply in a system prompt. If there are several, the last one
// counts, because the text of a skill comes after that of the kernel. A form without a gap is an
// example and not a form. A form whose label does not name an answer is not a reply.
func replyForm(system string) (form, bool) {
	places := formStart.FindAllStringIndex(system, -1)
	for _, at := range slices.Backward(places[max(0, len(places)-formLimit):]) {
		list, ok := balanced(system[at[0]:min(len(system), at[0]+formSize)])
		if !ok {
			continue
		}
		if label := labelOf(system[:at[0]]); label != "" && !answerWord.MatchString(label) {
			continue
		}
		if found, ok := asForm(list); ok {
			return found, true
		}
	}
	return form{}, false
}

// labelOf returns the line that introduces the form behind it. It returns "" if the line does not
// end with a colon.
func labelOf(before string) string {
	line := strings.TrimRight(before[strings.LastIndexByte(before, '\n')+1:], " \t")
	if !strings.HasSuffix(line, ":") {
		return ""
	}
	return line
}

// asForm splits a property list around its text.
func asForm(list string) (form, bool) {
	from, to, ok := textOf(list)
	if !ok || !gap.MatchString(list[from:to]) {
		return form{}, false
	}
	// A reply without a target ends the turn in its conversation, which is an Org document. A reply
	// with a target is part of an Org document if its form begins with a heading.
	org := strings.HasPrefix(list[from:], "* ") || !formTarget.MatchString(list[:from]+list[to:])
	return form{head: list[:from], tail: list[to:], org: org}, true
}

// textOf returns where the string after :text begins and ends, without its quotation marks.
func textOf(list string) (from, to int, ok bool) {
	for i := 0; i < len(list); i++ {
		if list[i] == '"' {
			i = closing(list, i)
			continue
		}
		if !strings.HasPrefix(strings.ToLower(list[i:min(i+5, len(list))]), ":text") {
			continue
		}
		rest := strings.TrimLeft(list[i+5:], " \t\r\n")
		if !strings.HasPrefix(rest, `"`) {
			continue
		}
		open := len(list) - len(rest)
		return open + 1, closing(list, open), true
	}
	return 0, 0, false
}

// balanced returns the list at the beginning of s.
func balanced(s string) (string, bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = closing(s, i)
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[:i+1], true
			}
		}
	}
	return "", false
}

// closing returns where the string that opens at open is closed, or the last index of s if it is
// not closed.
func closing(s string, open int) int {
	for i := open + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s) - 1
}
