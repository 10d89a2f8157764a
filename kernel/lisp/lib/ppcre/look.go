package ppcre

import (
	"org-agent/kernel/lisp"
)

// lookKinds are the operators of looking ahead and behind, and what each does.
var lookKinds = map[*lisp.Symbol]struct{ behind, negative bool }{
	kwLookAhead: {}, kwNegativeLookAhead: {negative: true}, kwLookBehind: {behind: true}, kwNegativeLookBehind: {behind: true, negative: true},
}

// look writes a part that must match, or must not, ahead of a place or behind it, and takes no characters.
// What is looked for behind has one length.
func (pc *patternCompiler) look(head *lisp.Symbol, tree lisp.Value) {
	kind := lookKinds[head]
	in := instruction{op: opLook, negative: kind.negative}
	if kind.behind {
		width, fixed := fixedWidth(pc.call, tree, 0)
		if !fixed {
			patternError(pc.call, lisp.Nil, lisp.Nil, "what is looked for behind a place must have one length")
		}
		in.slot = int32(width)
	}
	before := pc.out.registers
	look := pc.add(in)
	pc.local(func() { pc.emit(tree) })
	pc.add(instruction{op: opSeen})
	pc.out.program[look].other = pc.here()
	pc.out.program[look].captures = pc.out.registers > before
}

// fixedWidth returns how many characters a part of a parse tree matches, if that is always the same.
func fixedWidth(c *lisp.Call, tree lisp.Value, depth int) (width int, fixed bool) {
	c.Step()
	switch x := tree.(type) {
	case lisp.Character:
		return 1, true
	case *lisp.String:
		return len(x.Runes()), true
	case *lisp.Symbol:
		switch {
		case x == kwEverything || namedTest(x) != nil:
			return 1, true
		case x == kwVoid || x == kwStartAnchor || x == kwEndAnchor || x == kwTextStart || x == kwTextEnd || x == kwVeryEnd || x == kwWordBoundary || x == kwNoWordBoundary:
			return 0, true
		}
	case *lisp.Cons:
		if head, ok := x.Car.(*lisp.Symbol); ok && depth < 200 {
			return fixedOperatorWidth(c, head, c.Slice(x.Cdr), depth+1)
		}
	}
	return 0, false
}

func fixedOperatorWidth(c *lisp.Call, head *lisp.Symbol, args []lisp.Value, depth int) (width int, fixed bool) {
	switch head {
	case kwCharClass, kwInvertedCharClass, kwProperty, kwInvertedProperty:
		return 1, true
	case kwFlags, kwLookAhead, kwNegativeLookAhead, kwLookBehind, kwNegativeLookBehind:
		return 0, true
	case kwRegister, kwNamedRegister:
		return fixedWidth(c, args[len(args)-1], depth)
	case kwGreedy, kwNonGreedy:
		if len(args) != 3 || args[0] != args[1] {
			return 0, false
		}
		one, fixed := fixedWidth(c, args[2], depth)
		return min(one*c.Index(args[0]), maximumPattern), fixed
	case kwSequence, kwGroup:
		for _, arg := range args {
			if flag, ok := arg.(*lisp.Symbol); ok && head == kwGroup && namedTest(flag) == nil && flag != kwEverything {
				continue // a modifier or an assertion
			}
			one, fixed := fixedWidth(c, arg, depth)
			if !fixed {
				return 0, false
			}
			width = min(width+one, maximumPattern)
		}
		return width, true
	case kwAlternation:
		for i, arg := range args {
			one, fixed := fixedWidth(c, arg, depth)
			if !fixed || i > 0 && one != width {
				return 0, false
			}
			width = one
		}
		return width, true
	}
	return 0, false
}

// looking is how a search looks ahead or behind: a run of its own, which keeps nothing of its choices.
// path is the joins on the way to where it is, so that those can be remembered as leading to success.
type looking struct {
	depth int
	path  []joinPlace
}

type joinPlace struct {
	join int32
	pos  int
}

// look reports whether what an instruction looks for is there. The registers of what was found stay set.
//
// Each join inside is tried at most once at each place in a search, whatever came of it: what failed is
// remembered as everywhere, and what led to success as well, unless it sets registers.
func (m *textSearch) look(in *instruction, pos int) bool {
	if pos -= int(in.slot); pos < m.from {
		return in.negative
	}
	base, way := len(m.choices), len(m.looking.path)
	m.looking.depth++
	_, found := m.runFrom(in.next, pos, base)
	m.looking.depth--
	if found {
		m.rememberWay(in.captures, way)
	}
	m.looking.path = m.looking.path[:way]
	if found {
		m.settle(base, in.negative)
	}
	return found != in.negative
}

// rememberWay marks the joins on the way to success.
func (m *textSearch) rememberWay(captures bool, from int) {
	for _, p := range m.looking.path[from:] {
		block := &m.tried[(p.pos-m.from)/64]
		bit := uint64(1) << ((p.pos - m.from) % 64)
		block.bits[p.join] &^= bit
		if !captures {
			block.bits[m.scanner.joins+int(p.join)] |= bit
		}
	}
}

// settle drops the choices of a look that succeeded. What restores registers stays for those who go back
// behind the look, or is done at once.
func (m *textSearch) settle(base int, restore bool) {
	kept := m.choices[:base]
	for n := len(m.choices) - 1; restore && n >= base; n-- {
		if last := m.choices[n]; last.next < 0 {
			m.slots[last.slot] = last.pos
		}
	}
	if !restore {
		for _, ch := range m.choices[base:] {
			if ch.next < 0 {
				kept = append(kept, ch)
			}
		}
	}
	m.choices = kept
}
