package ppcre

import (
	"org-agent/kernel/lisp"
)

// textSearch searches one text. It goes through a program step by step and comes back to
// the last choice when something does not fit, as Perl does; unlike Perl it remembers
// where it was in vain, so that the time a search takes grows with the text and no
// faster, whatever the pattern is.
type textSearch struct {
	call    *lisp.Call
	scanner *scanner
	text    []rune
	// from and to bound the text that the pattern sees.
	from, to int
	slots    []int
	choices  []choice
	// searches counts, so that what an earlier search remembered does not count.
	searches uint32
	tried    []triedBlock
	looking  looking
}

// choice is something to come back to: an instruction with a place, or a slot with what
// was in it.
type choice struct {
	next int32 // -1: it restores a slot
	slot int32
	pos  int
	way  int // how long the way was; see looking
}

// triedBlock is the memory of 64 places: which of them each join was tried at, followed, if the pattern
// looks ahead or behind, by those from which it led to success.
type triedBlock struct {
	search uint32
	bits   []uint64
}

// newTextSearch prepares searches of text between two places.
func newTextSearch(c *lisp.Call, s *scanner, text []rune, from, to int) *textSearch {
	m := lisp.Allocate(c, textSearch{call: c, scanner: s, text: text, from: from, to: to, slots: lisp.MakeSlice[int](c, s.slots)})
	if s.remembers && s.joins > 0 {
		m.tried = lisp.MakeSlice[triedBlock](c, (to-from)/64+1)
	}
	return m
}

// search finds the first match that begins at pos or behind it: the bounds of the match
// and of its registers, -1 for those that took no part. ok is false without a match.
func (m *textSearch) search(pos int) (start, limit int, ok bool) {
	s := m.scanner
	m.searches++
	for ; pos <= m.to; pos++ {
		if s.atStart && pos > m.from {
			return 0, 0, false
		}
		if s.firstIs >= 0 || s.firstIn != nil {
			m.call.Step()
			if pos == m.to {
				return 0, 0, false
			}
			if r := m.text[pos]; s.firstIn != nil && !s.firstIn.has(r) || s.firstIs >= 0 && r != s.firstIs {
				continue
			}
		}
		if limit, ok = m.run(pos); ok {
			return pos, limit, true
		}
	}
	return 0, 0, false
}

// pollRounds is the number of instructions between two payments.
const pollRounds = 64

// run matches at one place.
func (m *textSearch) run(pos int) (limit int, ok bool) {
	for i := range m.slots {
		m.slots[i] = -1
	}
	m.choices = m.choices[:0]
	return m.runFrom(0, pos, 0)
}

// runFrom matches from an instruction and a place, with choices of its own above base.
func (m *textSearch) runFrom(pc int32, pos, base int) (limit int, ok bool) {
	for rounds := 1; ; rounds++ {
		if rounds%pollRounds == 0 {
			m.call.Work(pollRounds)
		}
		in := &m.scanner.program[pc]
		if in.join >= 0 && m.tried != nil {
			tried, won := m.again(in.join, pos)
			if won {
				m.call.Work(rounds % pollRounds)
				return pos, true
			}
			if tried {
				if pc, pos, ok = m.back(base); !ok {
					return 0, false
				}
				continue
			}
		}
		switch in.op {
		case opMatch, opSeen:
			m.call.Work(rounds % pollRounds)
			return pos, true
		case opSplit:
			m.push(choice{next: in.other, pos: pos, way: len(m.looking.path)})
			pc = in.next
			continue
		case opJump:
			pc = in.next
			continue
		case opSave, opBegin:
			m.keep(in.slot, pos)
			pc = in.next
			continue
		case opAgain:
			if pc = in.next; m.slots[in.slot] == pos {
				pc = in.other
			}
			continue
		case opLook:
			if m.look(in, pos) {
				pc = in.other
				continue
			}
			if pc, pos, ok = m.back(base); !ok {
				m.call.Work(rounds % pollRounds)
				return 0, false
			}
			continue
		}
		if length := m.step(in, pos); length >= 0 {
			pos += length
			pc = in.next
			continue
		}
		if pc, pos, ok = m.back(base); !ok {
			m.call.Work(rounds % pollRounds)
			return 0, false
		}
	}
}

// step is how many characters an instruction takes at a place, -1 if it does not fit.
func (m *textSearch) step(in *instruction, pos int) int {
	switch in.op {
	case opAssert:
		if m.holds(in.assert, pos) {
			return 0
		}
		return -1
	case opReference:
		return m.repeated(in, pos)
	case opSet:
		if pos < m.to && in.set.has(m.text[pos]) {
			return 1
		}
		return -1
	}
	if len(in.text) > m.to-pos {
		return -1
	}
	m.call.Work(len(in.text) / 64)
	for i, r := range in.text {
		if own := m.text[pos+i]; own != r && (in.op != opFold || lisp.Lower(own) != r) {
			return -1
		}
	}
	return len(in.text)
}

// repeated is the length of what a register matched if it is there again.
func (m *textSearch) repeated(in *instruction, pos int) int {
	start, limit := m.slots[in.slot], m.slots[in.slot+1]
	if start < 0 || limit < start || limit-start > m.to-pos {
		return -1
	}
	m.call.Work((limit - start) / 8)
	for i := range limit - start {
		a, b := m.text[start+i], m.text[pos+i]
		if a != b && !(in.fold && lisp.Lower(a) == lisp.Lower(b)) {
			return -1
		}
	}
	return limit - start
}

func (m *textSearch) holds(a assertion, pos int) bool {
	switch a {
	case textStart:
		return pos == m.from
	case lineStart:
		return pos == m.from || m.text[pos-1] == '\n'
	case lineEnd:
		return pos == m.to || m.text[pos] == '\n'
	case textEnd:
		return pos == m.to || pos == m.to-1 && m.text[pos] == '\n'
	case veryEnd:
		return pos == m.to
	}
	before := pos > m.from && isPatternWord(m.text[pos-1])
	behind := pos < m.to && isPatternWord(m.text[pos])
	return (before != behind) == (a == wordBoundary)
}

func (m *textSearch) push(ch choice) {
	m.choices = lisp.Append(m.call, m.choices, ch)
}

// keep sets a slot until what follows fails.
func (m *textSearch) keep(slot int32, pos int) {
	if len(m.choices) > 0 || m.looking.depth > 0 {
		m.push(choice{next: -1, slot: slot, pos: m.slots[slot]})
	}
	m.slots[slot] = pos
}

// back goes back to the last choice above base.
func (m *textSearch) back(base int) (pc int32, pos int, ok bool) {
	for n := len(m.choices) - 1; n >= base; n-- {
		last := m.choices[n]
		if last.next >= 0 {
			m.choices = m.choices[:n]
			if m.looking.depth > 0 {
				m.looking.path = m.looking.path[:last.way]
			}
			return last.next, last.pos, true
		}
		m.slots[last.slot] = last.pos
	}
	m.choices = m.choices[:base]
	return 0, 0, false
}

// again reports that a join was tried at a place before in vain, or, while looking, that it led to
// success. If neither is so, it remembers that the join is tried now.
func (m *textSearch) again(join int32, pos int) (tried, won bool) {
	place := pos - m.from
	block := &m.tried[place/64]
	if block.bits == nil {
		block.bits = lisp.MakeSlice[uint64](m.call, m.scanner.memory())
	}
	if block.search != m.searches {
		m.call.Work(len(block.bits) / 8)
		block.search = m.searches
		clear(block.bits)
	}
	bit := uint64(1) << (place % 64)
	if block.bits[join]&bit != 0 {
		return true, false
	}
	if m.looking.depth > 0 {
		if block.bits[m.scanner.joins+int(join)]&bit != 0 {
			return false, true
		}
		m.looking.path = lisp.Append(m.call, m.looking.path, joinPlace{join, pos})
	}
	block.bits[join] |= bit
	return false, false
}
