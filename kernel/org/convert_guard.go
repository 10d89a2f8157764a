package org

import "strings"

// drawerStart reports whether a line, from its colon on, begins like a drawer or a property.
func drawerStart(l string, complete bool) (live, decided bool) {
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
			// After anything but a letter the next character may still turn out to be a blank.
			if !isAlnum(l[i+1]) && l[i+1] != ':' {
				return true, true
			}
		}
	}
	return len(l) >= wordLimit, complete || len(l) >= wordLimit
}

// guard looks at the beginning of a line of text (without its indentation) and returns what to
// write for its first n bytes, so that Org takes the line for a paragraph, or for Org syntax that
// may stay.
func guard(l string, complete, markdown bool) (written string, n int, decided bool) {
	if l == "" {
		return "", 0, complete
	}
	switch b := l[0]; b {
	case '#':
		if len(l) == 1 {
			if markdown {
				return zeroWidthSpace, 0, complete
			}
			return "", 0, complete
		}
		if l[1] == '+' {
			return "#" + zeroWidthSpace, 1, true
		}
		if markdown && (l[1] == ' ' || l[1] == '\t') {
			return zeroWidthSpace, 0, true
		}
	case ':':
		if len(l) == 1 && !complete {
			return "", 0, false
		}
		if len(l) == 1 || l[1] == ' ' || l[1] == '\t' {
			if markdown {
				return zeroWidthSpace, 0, true
			}
			return "", 0, true
		}
		live, decided := drawerStart(l, complete)
		if live && decided {
			return ":" + zeroWidthSpace, 1, true
		}
		return "", 0, decided
	case '|':
		return zeroWidthSpace, 0, true
	case '[':
		if has, decided := hasPrefixFold(l, "[fn:", complete); has || !decided {
			if markdown {
				return zeroWidthSpace, 0, decided
			}
			return "", 0, decided
		}
	case '+', '-', '*':
		return guardMarker(l, complete, markdown)
	}
	if isAlnum(l[0]) || l[0] == '&' {
		return guardWord(l, complete, markdown)
	}
	return "", 0, true
}

// guardMarker guards a line of text that begins with a bullet, with stars, or with the frame of a
// table.el table.
func guardMarker(l string, complete, markdown bool) (written string, n int, decided bool) {
	run := runLength(l, l[0])
	if run == len(l) && !complete {
		return "", 0, false
	}
	blank := run == len(l) || l[run] == ' ' || l[run] == '\t'
	switch {
	case l[0] == '+' && run < len(l) && l[run] == '-':
		return zeroWidthSpace, 0, true
	case l[0] == '*' && blank && (markdown || run > 1):
		return zeroWidthSpace, 0, true
	case markdown && blank && (run == 1 || l[0] == '-' && run >= 5):
		return zeroWidthSpace, 0, true
	}
	return "", 0, true
}

// guardWord guards planning and clock lines and, in Markdown, text that looks like a numbered item.
func guardWord(l string, complete, markdown bool) (written string, n int, decided bool) {
	for _, word := range [...]string{"scheduled:", "deadline:", "closed:", "clock:"} {
		has, decided := hasPrefixFold(l, word, complete)
		if !decided {
			return "", 0, false
		}
		if has {
			return l[:len(word)-1] + zeroWidthSpace, len(word) - 1, true
		}
	}
	if !markdown {
		return "", 0, true
	}
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
	written, consumed, decided := guard(l, complete, c.dialect == Markdown)
	if !decided {
		return 0, false
	}
	if c.dialect != Markdown && len(l) >= 4 && strings.EqualFold(l[:4], "[fn:") {
		c.footnotes = true
	}
	c.beginText(prefix, continues)
	c.text.write(written)
	if written == zeroWidthSpace {
		c.text.prev = 0
	}
	return used + consumed, true
}
