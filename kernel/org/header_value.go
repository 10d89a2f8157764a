package org

import (
	"regexp"
	"strings"
)

// A valueKind says how Emacs reads the text behind a header argument's key.
type valueKind int

const (
	absentValue valueKind = iota // nothing is written
	textValue
	numberValue
	codeValue   // Emacs Lisp, which Org evaluates
	brokenValue // a string without its end, or with an escape that is not supported here
)

// An argument is a header argument, read as Emacs reads it.
type argument struct {
	HeaderArgument
	kind valueKind
}

// text returns the value as a string, and whether it is one: no value reads as nil.
func (a argument) text() (string, bool) { return a.Value, a.kind == textValue }

var (
	numberCharacters = regexp.MustCompile(`^[0-9e.+-]+$`)
	number           = regexp.MustCompile(`^[-+]?(?:[0-9]+\.?|[0-9]*\.[0-9]+(?:e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+)$`)
)

// readValue reads a value as Org does: a number, a string in quotes, code, or plain text.
func readValue(written string) (string, valueKind) {
	switch {
	case written == "":
		return "", absentValue
	case numberCharacters.MatchString(written) && number.MatchString(written):
		return written, numberValue
	case strings.IndexByte("('`[", written[0]) >= 0 || written == "*this*":
		return written, codeValue
	case written[0] == '"':
		if text, ok := readString(written); ok {
			return text, textValue
		}
		return written, brokenValue
	}
	return written, textValue
}

// stringEscapes are the escapes of Emacs Lisp strings that stand for one character.
const stringEscapes = "n\nt\tr\re\x1ba\af\fb\bv\vd\x7f"

// readString reads the Emacs Lisp string at the front of a text and ignores the rest. It does not
// read escapes by number and by modifier.
func readString(text string) (string, bool) {
	var value strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			return value.String(), true
		case c != '\\':
			value.WriteByte(c)
			continue
		}
		i++
		if i == len(text) || strings.IndexByte("01234567xuUNCMSHA^s", text[i]) >= 0 {
			return "", false
		}
		if text[i] == ' ' || text[i] == '\n' {
			continue
		}
		c = text[i]
		for k := 0; k < len(stringEscapes); k += 2 {
			if stringEscapes[k] == text[i] {
				c = stringEscapes[k+1]
			}
		}
		value.WriteByte(c)
	}
	return "", false
}

// splitBalanced cuts a text as Org cuts header arguments, and leaves out empty pieces. It calls cut
// with the byte before a place (0 at the start) and the byte behind. Where cut returns true, the
// byte behind belongs to no piece, and with drop the byte before does not either. Closed brackets
// and strings are never cut. starts are the offsets of the pieces.
func splitBalanced(text string, drop bool, cut func(before, behind byte) bool) (pieces []string, starts []int) {
	closings := matchBrackets(text)
	start := 0
	add := func(end, next int) {
		if end > start {
			pieces, starts = append(pieces, text[start:end]), append(starts, start)
		}
		start = next
	}
	for i := 0; i < len(text); {
		before := byte(0)
		if i > 0 {
			before = text[i-1]
		}
		switch c := text[i]; {
		case cut(before, c):
			end := i
			if drop {
				end--
			}
			add(end, i+1)
			i++
		case (c == '(' || c == '[') && closings[i] > 0:
			i = closings[i]
		case c == '"' && before != '\\':
			if end := stringEnd(text, i); end > 0 {
				i = end
			} else {
				i++
			}
		default:
			i++
		}
	}
	add(len(text), len(text))
	return pieces, starts
}

// stringEnd returns the offset behind the string whose quote is at start, or 0 if the string has no
// end. A quote behind a backslash does not end it.
func stringEnd(text string, start int) int {
	for i := start + 1; i < len(text); i++ {
		if text[i] == '"' && text[i-1] != '\\' {
			return i + 1
		}
	}
	return 0
}

// matchBrackets returns the offset behind the closing bracket for each opening bracket that has
// one. A closing bracket that does not match the last open one is ignored.
func matchBrackets(text string) map[int]int {
	var closings map[int]int
	var open []int
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[':
			open = append(open, i)
		case ')', ']':
			n := len(open) - 1
			if n < 0 || (c == ')') != (text[open[n]] == '(') {
				continue
			}
			if closings == nil {
				closings = map[int]int{}
			}
			closings[open[n]] = i + 1
			open = open[:n]
		}
	}
	return closings
}
