package ppcre

import (
	"math"

	"org-agent/kernel/lisp"
)

// repetition writes (least most part) out: what must be there, then what may.
func (pc *patternCompiler) repetition(args []lisp.Value, greedy bool) {
	c := pc.call
	least, most := c.Index(args[0]), -1
	if args[1] != lisp.Nil {
		most = c.Index(args[1])
	}
	if most >= 0 && most < least {
		most = least
	}
	part := args[2]
	before := pc.out.registers
	again := func() { // the registers of the part are the same ones each time
		pc.out.registers = before
		pc.out.names = pc.out.names[:min(before, len(pc.out.names))]
		pc.emit(part)
	}
	if most == 0 { // what can never be there still counts its registers
		mark := len(pc.out.program)
		again()
		pc.out.program = pc.out.program[:mark]
		return
	}
	for range least {
		again()
	}
	if most < 0 {
		pc.loop(again, greedy, patternWidth(c, part, 0) == 0)
		return
	}
	var ends []int32
	for range most - least {
		split := pc.add(instruction{op: opSplit})
		ends = lisp.Append(pc.call, ends, split)
		again()
	}
	for _, split := range ends {
		in := &pc.out.program[split]
		in.other = pc.here()
		if !greedy {
			in.next, in.other = in.other, in.next
		}
	}
}

// loop repeats a part without end. A round that matched nothing ends it.
func (pc *patternCompiler) loop(emit func(), greedy, mayBeEmpty bool) {
	split := pc.add(instruction{op: opSplit})
	slot := int32(pc.loops)
	if mayBeEmpty {
		pc.loops++
		pc.add(instruction{op: opBegin, slot: slot})
	}
	emit()
	back := instruction{op: opJump}
	if mayBeEmpty {
		back.op, back.slot = opAgain, slot
	}
	last := pc.add(back)
	pc.out.program[last].next = split
	pc.out.program[last].other = pc.here()
	in := &pc.out.program[split]
	in.other = pc.here()
	if !greedy {
		in.next, in.other = in.other, in.next
	}
}

// patternWidth is how many characters a part of a parse tree matches at least. What it
// does not know may be empty.
func patternWidth(c *lisp.Call, tree lisp.Value, depth int) int {
	c.Step()
	switch x := tree.(type) {
	case lisp.Character:
		return 1
	case *lisp.String:
		return len(x.Runes())
	case *lisp.Symbol:
		if x == kwEverything || namedTest(x) != nil {
			return 1
		}
	case *lisp.Cons:
		if depth < 200 {
			return operatorWidth(c, x.Car, c.Slice(x.Cdr), depth+1)
		}
	}
	return 0
}

func operatorWidth(c *lisp.Call, head lisp.Value, args []lisp.Value, depth int) int {
	sum, least, last := 0, math.MaxInt, 0
	for _, arg := range args {
		last = patternWidth(c, arg, depth)
		sum, least = min(sum+last, 1<<40), min(least, last)
	}
	switch head {
	case kwSequence, kwGroup:
		return sum
	case kwAlternation:
		return least
	case kwRegister, kwNamedRegister:
		return last
	case kwGreedy, kwNonGreedy:
		if len(args) > 0 && args[0] != lisp.Integer(0) {
			return last
		}
	case kwCharClass, kwInvertedCharClass, kwProperty, kwInvertedProperty:
		return 1
	}
	return 0
}

// link finds the instructions that more than one leads to, and what every match begins
// with.
func (s *scanner) link() {
	arrivals := make([]int32, len(s.program)+1)
	arrivals[0] = 1
	for i := range s.program {
		switch in := &s.program[i]; in.op {
		case opMatch, opSeen:
		case opLook: // what is looked for is entered again and again
			arrivals[in.next] += 2
			arrivals[in.other]++
		case opSplit, opAgain:
			arrivals[in.next]++
			arrivals[in.other]++
		default:
			arrivals[in.next]++
		}
	}
	for i := range s.program {
		if arrivals[i] > 1 && s.program[i].op != opMatch && s.program[i].op != opSeen {
			s.program[i].join = int32(s.joins)
			s.joins++
		}
	}
	first := 0
	for s.program[first].op == opSave {
		first++
	}
	switch in := &s.program[first]; in.op {
	case opSet:
		s.firstIn = in.set
	case opText:
		s.firstIs = in.text[0]
	case opAssert:
		s.atStart = in.assert == textStart
	}
}
