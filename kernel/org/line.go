package org

import "strings"

// A line is one line of a source: its text without the line end, and its place.
type line struct {
	text       string
	number     int // from 1
	start, end int // offsets; end is behind the line end
}

// splitLines cuts source at LF; a CR before the LF is not part of the text.
func splitLines(source string) []line {
	lines := splitUnix(source)
	for i := range lines {
		lines[i].text = strings.TrimSuffix(lines[i].text, "\r")
	}
	return lines
}

// splitUnix cuts source at LF; a CR is text.
func splitUnix(source string) []line {
	lines := make([]line, 0, strings.Count(source, "\n")+1)
	for start := 0; start < len(source); {
		end := len(source)
		text := source[start:]
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			end = start + i + 1
			text = text[:i]
		}
		lines = append(lines, line{text, len(lines) + 1, start, end})
		start = end
	}
	return lines
}

// indentation returns the number of leading blanks and tabs, in bytes.
func indentation(text string) int {
	n := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return n
}

func trimBlanks(text string) string {
	text = text[indentation(text):]
	n := len(text)
	for n > 0 && (text[n-1] == ' ' || text[n-1] == '\t') {
		n--
	}
	return text[:n]
}

func isBlank(text string) bool { return indentation(text) == len(text) }

// headingLevel returns the number of stars of a heading line, 0 if it is none: stars
// at column 0 followed by a blank.
func headingLevel(text string) int {
	n := 0
	for n < len(text) && text[n] == '*' {
		n++
	}
	if n == 0 || n == len(text) || text[n] != ' ' {
		return 0
	}
	return n
}

// keywordLine cuts "#+KEY: value" (indented or not) into key (as written) and value.
func keywordLine(text string) (key, value string, ok bool) {
	text = text[indentation(text):]
	if !strings.HasPrefix(text, "#+") {
		return "", "", false
	}
	text = text[2:]
	// The key is the longest run of non-blanks that ends in a colon, as in Org: the value may
	// follow the colon without a blank.
	word := text
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		word = text[:i]
	}
	colon := strings.IndexByte(word, ':')
	// "#+header-args:lisp: x" is not a keyword of two parts, but "#+attr_x[a:b]: y" is one.
	if strings.IndexByte(word, '[') >= 0 {
		colon = strings.LastIndexByte(word, ':')
	}
	if colon <= 0 {
		return "", "", false
	}
	return text[:colon], trimBlanks(text[colon+1:]), true
}

// blockDelimiter recognises "#+begin_KIND rest" and "#+end_KIND". Kind is in lower case.
func blockDelimiter(text string) (begin bool, kind, rest string, ok bool) {
	text = text[indentation(text):]
	if len(text) < 7 || text[0] != '#' || text[1] != '+' {
		return false, "", "", false
	}
	text = text[2:]
	switch {
	case len(text) > 6 && strings.EqualFold(text[:6], "begin_"):
		begin, text = true, text[6:]
	case len(text) > 4 && strings.EqualFold(text[:4], "end_"):
		text = text[4:]
	default:
		return false, "", "", false
	}
	kind = text
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		kind, rest = text[:i], text[i:]
	}
	if kind == "" || (!begin && !isBlank(rest)) {
		return false, "", "", false
	}
	return begin, strings.ToLower(kind), rest, true
}

// propertyLine cuts ":KEY: value" into its parts.
func propertyLine(text string) (key, value string, ok bool) {
	text = text[indentation(text):]
	if len(text) < 3 || text[0] != ':' {
		return "", "", false
	}
	for i := 2; i < len(text); i++ {
		if text[i] == ' ' || text[i] == '\t' {
			return "", "", false
		}
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return text[1:i], trimBlanks(text[i+1:]), true
		}
	}
	return "", "", false
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
