package org

import "strings"

// An enclosure holds elements: a quote, center or special block, a drawer, a dynamic block or a
// footnote definition. All elements in it end with it.
type enclosure struct {
	limit int   // index of the line at which its content ends
	next  int   // index of the first line behind it
	items []int // the list items it stands in
}

// maxNesting bounds the enclosures that are open at once.
const maxNesting = 64

// leaveEnclosures leaves the enclosures that end at the next line.
func (s *scanner) leaveEnclosures() {
	for n := len(s.inside); n > 0 && s.inside[n-1].limit <= s.next; n = len(s.inside) {
		s.next = max(s.next, s.inside[n-1].next)
		s.items = s.inside[n-1].items
		s.inside = s.inside[:n-1]
		s.attached = affiliated{}
	}
}

// beginEnclosure enters a drawer, a dynamic block or a footnote definition that begins at a line,
// and skips a LaTeX environment. Without an end the line is text.
func (s *scanner) beginEnclosure(l line) {
	text := l.text[indentation(l.text):]
	switch {
	case strings.HasPrefix(text, ":") && isDrawer(text):
		s.enter(s.findEnd(drawerEnd))
	case strings.HasPrefix(text, "#+") && isDynamic(text):
		s.enter(s.findEnd(dynamicEnd))
	case strings.HasPrefix(l.text, "[fn:") && isFootnote(l.text):
		s.enterFootnote()
	case strings.HasPrefix(text, `\begin{`):
		name, _, ok := strings.Cut(text[len(`\begin{`):], "}")
		if !ok || !isWord(name, "*") {
			return
		}
		if strings.HasSuffix(strings.TrimRight(text, " \t"), `\end{`+name+"}") {
			return
		}
		if end := s.findEnd(environmentEnd + strings.ToLower(name)); end >= 0 {
			s.next = end + 1
		}
	}
}

// enter opens an enclosure that ends with the line of that index.
func (s *scanner) enter(end int) {
	if end >= 0 {
		s.enterLines(end, end+1)
	}
}

// enterLines opens an enclosure that ends before the line limit and goes on at next.
func (s *scanner) enterLines(limit, next int) {
	if len(s.inside) < maxNesting {
		s.inside = append(s.inside, enclosure{limit, next, s.items})
		s.items = nil
	}
}

// enterFootnote opens a footnote definition. It ends at the next definition or at two blank lines.
func (s *scanner) enterFootnote() {
	end := s.limit()
	if found := s.ends.next(footnoteEnd, s.next); found >= 0 && found < end {
		end = found
	}
	s.enterLines(end, end)
}

// isDrawer reports whether a line that begins with a colon begins a drawer.
func isDrawer(text string) bool {
	name, ok := strings.CutSuffix(strings.TrimRight(text[1:], " \t"), ":")
	return ok && isWord(name, "-_")
}

// isDynamic reports whether a line that begins with "#+" begins a dynamic block.
func isDynamic(text string) bool {
	if len(text) < len("#+begin ") || !strings.EqualFold(text[:len("#+begin")], "#+begin") {
		return false
	}
	return text[len("#+begin")] == ' ' || strings.HasPrefix(text[len("#+begin"):], ": ")
}

// isFootnote reports whether a line that begins with "[fn:" defines a footnote.
func isFootnote(text string) bool {
	label, _, ok := strings.Cut(text[len("[fn:"):], "]")
	return ok && isWord(label, "-_")
}

// isWord reports whether a name consists of letters, digits and the further characters.
func isWord(name, further string) bool {
	for _, r := range name {
		if !isWordRune(r) && !strings.ContainsRune(further, r) {
			return false
		}
	}
	return name != ""
}

// Kinds of ends besides those of blocks.
const (
	drawerEnd      = ":"
	dynamicEnd     = "#"
	footnoteEnd    = "[fn:"
	environmentEnd = `\` // followed by the environment's name
	headingEnd     = "*"
)

// ends are the indexes of the lines that may end an element, by its kind, in order.
type ends map[string][]int

// findEnds collects in one pass the lines that may end an element. Looking for an end is then quick
// however many elements have none.
func findEnds(lines []line) ends {
	found := ends{}
	add := func(kind string, i int) { found[kind] = append(found[kind], i) }
	for i, l := range lines {
		text := l.text[indentation(l.text):]
		if text == "" {
			if i > 0 && isBlank(lines[i-1].text) {
				add(footnoteEnd, i-1)
			}
			continue
		}
		switch text[0] {
		case '*':
			if headingLevel(l.text) > 0 {
				add(headingEnd, i)
			}
		case '#':
			if begin, kind, _, ok := blockDelimiter(text); ok && !begin {
				add(kind, i)
			}
			if word := strings.TrimSuffix(trimBlanks(text), ":"); strings.EqualFold(word, "#+end") {
				add(dynamicEnd, i)
			}
		case ':':
			if strings.EqualFold(trimBlanks(text), ":END:") {
				add(drawerEnd, i)
			}
		case '[':
			if strings.HasPrefix(l.text, "[fn:") && isFootnote(l.text) {
				add(footnoteEnd, i)
			}
		}
		if trimmed := strings.TrimRight(text, " \t"); strings.HasSuffix(trimmed, "}") {
			if at := strings.LastIndex(trimmed, `\end{`); at >= 0 {
				add(environmentEnd+strings.ToLower(trimmed[at+len(`\end{`):len(trimmed)-1]), i)
			}
		}
	}
	return found
}

// next returns the first end of a kind at an index or behind it, or -1. Ends before it are dropped,
// because the scanner never goes back.
func (e ends) next(kind string, from int) int {
	left := e[kind]
	for len(left) > 0 && left[0] < from {
		left = left[1:]
	}
	e[kind] = left
	if len(left) == 0 {
		return -1
	}
	return left[0]
}

// limit returns the index of the line before which every open element must end.
func (s *scanner) limit() int {
	end := len(s.lines)
	if heading := s.ends.next(headingEnd, s.next); heading >= 0 {
		end = heading
	}
	if n := len(s.inside); n > 0 && s.inside[n-1].limit < end {
		end = s.inside[n-1].limit
	}
	return end
}

// findEnd returns the index of the line that ends the element that begins above the next line, or
// -1. As in Org a heading, and the end of the enclosure around it, end the search.
func (s *scanner) findEnd(kind string) int {
	if end := s.ends.next(kind, s.next); end >= 0 && end < s.limit() {
		return end
	}
	return -1
}
