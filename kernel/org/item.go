package org

import "strings"

// leaveItems closes the list items that end before a line, and opens the item that the line begins.
// An item ends at a line that is not further to the right, or at two blank lines. Keywords within
// an item do not belong to a block behind it.
func (s *scanner) leaveItems(text string) {
	if isBlank(text) {
		if s.blank {
			s.items = nil
		}
		s.blank = true
		return
	}
	s.blank = false
	begins := isItem(text)
	if len(s.items) == 0 && !begins {
		return
	}
	column := columnOf(text)
	remaining := len(s.items)
	for remaining > 0 && column <= s.items[remaining-1] {
		remaining--
	}
	if remaining < len(s.items) {
		s.attached = affiliated{}
		s.items = s.items[:remaining:remaining]
	}
	if begins {
		s.items = append(s.items, column)
	}
}

// isItem reports whether a line begins a list item: a bullet and a blank. A star needs an
// indentation before it.
func isItem(text string) bool {
	start := indentation(text)
	rest := text[start:]
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	bullets := "-+"
	switch {
	case digits > 0:
		bullets = ".)"
	case start > 0:
		bullets = "-+*"
	}
	rest = rest[digits:]
	return rest != "" && strings.IndexByte(bullets, rest[0]) >= 0 && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t')
}
