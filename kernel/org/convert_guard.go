package org

import "strings"

// startsDrawer reports whether a line begins like a drawer or a property of Org.
func startsDrawer(l string, complete bool) (is, decided bool) {
	for i := 1; i < min(len(l), wordLimit); i++ {
		switch l[i] {
		case ' ', '\t', '\r':
			return false, true
		case ':':
			if i == 1 {
				continue
			}
			if i+1 == len(l) {
				return true, complete
			}
			if !isAlnum(l[i+1]) && l[i+1] != ':' {
				return true, true
			}
		}
	}
	return len(l) >= wordLimit, complete || len(l) >= wordLimit
}

// guard looks at the beginning of a line of text in Markdown (without its indentation) and returns
// what to write for its first n bytes, so that Org takes the line for text too.
func guard(l string, complete bool) (written string, n int, decided bool) {
	if l == "" {
		return "", 0, complete
	}
	switch l[0] {
	case '#', ':':
		if len(l) == 1 {
			return zeroWidthSpace, 0, complete
		}
		if l[1] == ' ' || l[1] == '\t' {
			return zeroWidthSpace, 0, true
		}
		if strings.HasPrefix(l, "#+") {
			return "#" + zeroWidthSpace, 1, true // in a quote, whose end it might be
		}
	case '|':
		return zeroWidthSpace, 0, true
	case '+', '-', '*':
		return guardMarker(l, complete)
	}
	if isAlnum(l[0]) {
		return guardNumber(l, complete)
	}
	return "", 0, true
}

// guardMarker guards a line of text that begins with a bullet or with stars.
func guardMarker(l string, complete bool) (written string, n int, decided bool) {
	run := runLength(l, l[0])
	if run == len(l) && !complete {
		return "", 0, false
	}
	blank := run == len(l) || l[run] == ' ' || l[run] == '\t'
	if blank && (l[0] == '*' || run == 1 || l[0] == '-' && run >= 5) {
		return zeroWidthSpace, 0, true
	}
	return "", 0, true
}

// guardNumber guards text that looks like a numbered item.
func guardNumber(l string, complete bool) (written string, n int, decided bool) {
	digits := 0
	for digits < len(l) && digits < wordLimit && l[digits] >= '0' && l[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits == wordLimit {
		return "", 0, true
	}
	if digits == len(l) || digits+1 == len(l) && (l[digits] == '.' || l[digits] == ')') {
		if !complete {
			return "", 0, false
		}
		if digits == len(l) {
			return "", 0, true
		}
	}
	if (l[digits] == '.' || l[digits] == ')') && (digits+1 == len(l) || l[digits+1] == ' ' || l[digits+1] == '\t') {
		return l[:digits] + zeroWidthSpace, digits, true
	}
	return "", 0, true
}

// textLine opens a line of text with its guard. l is the rest of the line, and used is how many
// bytes of the line were read before it.
func (c *Converter) textLine(prefix, l string, used int, complete, continues bool) (n int, ok bool) {
	written, consumed, decided := "", 0, true
	if c.dialect == Markdown {
		written, consumed, decided = guard(l, complete)
	}
	if !decided {
		return 0, false
	}
	c.beginText(prefix, continues)
	c.text.write(written)
	if written == zeroWidthSpace {
		c.text.prev = 0
	}
	return used + consumed, true
}
