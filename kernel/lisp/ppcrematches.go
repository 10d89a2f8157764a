package lisp

import (
	"fmt"
	"iter"
)

// matches are the matches of a pattern in a text, found one after the other.
type matches struct {
	search *textSearch
	// at is where the next search begins.
	at int
}

// patternMatch is one match.
type patternMatch struct {
	of         *textSearch
	start, end int
}

// matches prepares the search of a target from start to end. A target of nil is empty.
func (c *Call) matches(pattern, target, start, end Value) *matches {
	s := c.scanner(pattern)
	var chars []rune
	if target != Nil {
		chars = c.str(target).chars
	}
	if n, ok := start.(int64); ok && n > int64(len(chars)) {
		n := len(chars) // behind the end nothing is found
		return &matches{search: c.textSearch(s, chars, n, n), at: n + 1}
	}
	from, to := c.bounds(start, end, len(chars))
	return &matches{search: c.textSearch(s, chars, from, to), at: from}
}

// next finds the next match. What it returns tells of the match until it is called again.
func (m *matches) next() (patternMatch, bool) {
	if m.at > m.search.to {
		return patternMatch{}, false
	}
	start, end, ok := m.search.search(m.at)
	if !ok {
		m.at = m.search.to + 1
		return patternMatch{}, false
	}
	if m.at = end; start == end {
		m.at++
	}
	return patternMatch{m.search, start, end}, true
}

func (m *matches) all() iter.Seq[patternMatch] {
	return func(yield func(patternMatch) bool) {
		for match, ok := m.next(); ok; match, ok = m.next() {
			if !yield(match) {
				return
			}
		}
	}
}

// register returns the bounds of a register, counted from 0; ok is false if it took no
// part.
func (m patternMatch) register(n int) (start, end int, ok bool) {
	start, end = m.of.slots[2*n], m.of.slots[2*n+1]
	return start, end, start >= 0 && end >= start
}

// bounds are the four values of scan.
func (m patternMatch) bounds() []Value {
	n := m.of.scanner.registers
	m.of.call.chargeMany(2*n+4, valueBytes)
	starts, ends := make([]Value, n), make([]Value, n)
	for i := range n {
		starts[i], ends[i] = Nil, Nil
		if start, end, ok := m.register(i); ok {
			starts[i], ends[i] = count(start), count(end)
		}
	}
	return []Value{count(m.start), count(m.end), newVector(starts), newVector(ends)}
}

func (m patternMatch) part(start, end int) *String {
	return m.of.call.newString(append([]rune(nil), m.of.text[start:end]...))
}

func (m patternMatch) text() Value { return m.part(m.start, m.end) }

// group is a register as a string, or nil.
func (m patternMatch) group(n int) Value {
	if start, end, ok := m.register(n); ok {
		return m.part(start, end)
	}
	return Nil
}

func (m patternMatch) groups() []Value {
	m.of.call.chargeMany(m.of.scanner.registers, valueBytes)
	groups := make([]Value, m.of.scanner.registers)
	for i := range groups {
		groups[i] = m.group(i)
	}
	return groups
}

// splitting is how a string is split; nil for what is as usual.
type splitting struct{ start, end, limit, withRegisters, omitUnmatched Value }

// splitByPattern gives the parts between matches. An empty match beside the last one
// parts nothing; without a limit the empty parts at the end go.
func (c *Call) splitByPattern(pattern, target Value, o splitting) Value {
	found := c.matches(pattern, target, o.start, o.end)
	limit, limited := 0, false
	if given(o.limit) {
		n := c.integer(o.limit)
		limited = n.Sign() != 0
		if n.IsInt64() && n.Sign() > 0 {
			limit = int(n.Int64())
		}
	}
	text := patternMatch{of: found.search}
	var parts []Value
	last, pieces := found.search.from, 1
	add := func(v Value) {
		c.charge(valueBytes)
		parts = append(parts, v)
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
		if given(o.withRegisters) {
			for _, group := range match.groups() {
				if group != Nil || !given(o.omitUnmatched) {
					add(group)
				}
			}
		}
		last = match.end
	}
	add(text.part(last, found.search.to))
	for !limited && len(parts) > 0 {
		if part, ok := parts[len(parts)-1].(*String); ok && len(part.chars) > 0 {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return c.newList(parts)
}

// patternMessage says what is wrong with a pattern, and where.
func patternMessage(pattern, pos Value, format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if pos != Nil {
		text += fmt.Sprintf(", at position %v of the pattern %s", pos, sketch(pattern, 60))
	}
	return text
}
