package ppcre

import (
	"fmt"
	"iter"

	"org-agent/kernel/lisp"
)

// Matches are the matches of a pattern in a text, found one after the other.
type Matches struct {
	search *textSearch
	// at is where the next search begins.
	at int
}

// Match is one match.
type Match struct {
	of         *textSearch
	start, end int
}

// Search prepares the search of a target from start to end. A target of nil is empty.
func Search(c *lisp.Call, pattern, target, start, end lisp.Value) *Matches {
	return search(c, scannerOf(c, pattern), target, start, end)
}

func search(c *lisp.Call, s *scanner, target, start, end lisp.Value) *Matches {
	var chars []rune
	if target != lisp.Nil {
		chars = c.TakeString(target).Runes()
	}
	if n, ok := start.(int64); ok && n > int64(len(chars)) {
		n := len(chars) // behind the end nothing is found
		return &Matches{search: newTextSearch(c, s, chars, n, n), at: n + 1}
	}
	from, to := c.Bounds(start, end, len(chars))
	return &Matches{search: newTextSearch(c, s, chars, from, to), at: from}
}

// Next finds the next match. What it returns tells of the match until it is called again.
func (m *Matches) Next() (Match, bool) {
	if m.at > m.search.to {
		return Match{}, false
	}
	start, end, ok := m.search.search(m.at)
	if !ok {
		m.at = m.search.to + 1
		return Match{}, false
	}
	if m.at = end; start == end {
		m.at++
	}
	return Match{m.search, start, end}, true
}

func (m *Matches) all() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		for match, ok := m.Next(); ok; match, ok = m.Next() {
			if !yield(match) {
				return
			}
		}
	}
}

// register returns the bounds of a register, counted from 0; ok is false if it took no
// part.
func (m Match) register(n int) (start, end int, ok bool) {
	start, end = m.of.slots[2*n], m.of.slots[2*n+1]
	return start, end, start >= 0 && end >= start
}

// Bounds are the four values of scan.
func (m Match) Bounds() []lisp.Value {
	n := m.of.scanner.registers
	starts, ends := lisp.MakeSlice[lisp.Value](m.of.call, n), lisp.MakeSlice[lisp.Value](m.of.call, n)
	for i := range n {
		starts[i], ends[i] = lisp.Nil, lisp.Nil
		if start, end, ok := m.register(i); ok {
			starts[i], ends[i] = lisp.Count(start), lisp.Count(end)
		}
	}
	bounds := []lisp.Value{lisp.Count(m.start), lisp.Count(m.end), m.of.call.NewVector(starts), m.of.call.NewVector(ends)}
	return lisp.Clone(m.of.call, bounds)
}

func (m Match) part(start, end int) *lisp.String {
	return m.of.call.CopyRunes(m.of.text[start:end])
}

// Text is what the match matched, as a string.
func (m Match) Text() lisp.Value { return m.part(m.start, m.end) }

// group is a register as a string, or nil.
func (m Match) group(n int) lisp.Value {
	if start, end, ok := m.register(n); ok {
		return m.part(start, end)
	}
	return lisp.Nil
}

func (m Match) groups() []lisp.Value {
	groups := lisp.MakeSlice[lisp.Value](m.of.call, m.of.scanner.registers)
	for i := range groups {
		groups[i] = m.group(i)
	}
	return groups
}

// Splitting is how a string is split; nil for what is as usual.
type Splitting struct{ Start, End, Limit, WithRegisters, OmitUnmatched lisp.Value }

// Split gives the parts between matches. An empty match beside the last one
// parts nothing; without a limit the empty parts at the end go.
func Split(c *lisp.Call, pattern, target lisp.Value, o Splitting) lisp.Value {
	found := Search(c, pattern, target, o.Start, o.End)
	limit, limited := 0, false
	if lisp.Given(o.Limit) {
		n := c.Integer(o.Limit)
		limited = n.Sign() != 0
		if n.IsInt64() && n.Sign() > 0 {
			limit = int(n.Int64())
		}
	}
	text := Match{of: found.search}
	var parts []lisp.Value
	last, pieces := found.search.from, 1
	add := func(v lisp.Value) {
		parts = lisp.Append(c, parts, v)
	}
	for match := range found.all() {
		if match.start == match.end && match.start == last {
			continue
		}
		if limit > 0 && pieces >= limit {
			break
		}
		pieces++
		add(text.part(last, match.start))
		if lisp.Given(o.WithRegisters) {
			for _, group := range match.groups() {
				if group != lisp.Nil || !lisp.Given(o.OmitUnmatched) {
					add(group)
				}
			}
		}
		last = match.end
	}
	add(text.part(last, found.search.to))
	for !limited && len(parts) > 0 {
		if part, ok := parts[len(parts)-1].(*lisp.String); ok && len(part.Runes()) > 0 {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return c.NewList(parts)
}

// patternMessage says what is wrong with a pattern, and where.
func patternMessage(pattern, pos lisp.Value, format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if pos != lisp.Nil {
		text += fmt.Sprintf(", at position %v of the pattern %s", pos, lisp.Sketch(pattern, 60))
	}
	return text
}
