package ppcre

import (
	"slices"

	"org-agent/kernel/lisp"
)

// scanner is a compiled regular expression, what cl-ppcre:create-scanner returns. It
// does not change and is shared by calls.
type scanner struct {
	program   []instruction
	registers int
	// names are those of the registers, Nil where one has none; nil without any.
	names []lisp.Value
	// slots counts the positions a match keeps: two for each register, and those at
	// which rounds of loops began.
	slots int
	// joins counts the instructions that are reached from more than one. What was tried
	// at one of them in vain is not tried again, unless the pattern has back-references.
	joins     int
	remembers bool
	looks     bool     // it looks ahead or behind
	atStart   bool     // it matches at the beginning of the text only
	firstIn   *charSet // what a match begins with, nil if that is not known
	firstIs   rune     // the same for one character, -1 if that is not known
}

// memory returns how many words of marks a block of places has.
func (s *scanner) memory() int {
	if s.looks {
		return 2 * s.joins
	}
	return s.joins
}

// operation is what an instruction does.
type operation uint8

const (
	opMatch     operation = iota
	opText                // characters
	opFold                // characters in either case
	opSet                 // one character of a set
	opSplit               // go on at next, and later, if that fails, at other
	opJump                // go on at next
	opSave                // remember the position in a slot
	opBegin               // remember where a round of a loop begins
	opAgain               // end a round: at other if it was empty, else at next
	opReference           // what a register matched
	opAssert
	opLook // go on at other if what begins at next is there, slot characters before
	opSeen // what was looked for is there
)

// instruction is one step of a program.
type instruction struct {
	op          operation
	assert      assertion
	fold        bool
	negative    bool // what is looked for must not be there
	captures    bool // what is looked for sets registers
	text        []rune
	set         *charSet
	slot        int32
	next, other int32
	join        int32 // its number among the joins, -1 if it is none
}

// assertion is a condition on a place between characters.
type assertion uint8

const (
	textStart assertion = iota
	textEnd             // or before a newline that ends it
	veryEnd
	lineStart
	lineEnd
	wordBoundary
	noWordBoundary
)

// What patterns may take. Repetitions with large bounds are written out, so that it is
// the program that is bounded.
const (
	maximumPattern    = 50_000
	maximumProgram    = 20_000
	maximumProperties = 50 // of a class, beside characters and ranges
)

// missingFeature says what an operator of parse trees would need that there is not.
func missingFeature(kind *lisp.Symbol) string {
	what := map[*lisp.Symbol]string{
		kwStandalone: "atomic groups", kwBranch: "conditional groups", kwFilter: "filters",
	}[kind]
	if what == "" {
		return ""
	}
	return "regular expressions here have no " + what
}

// modes are the modifiers that hold for a part of a pattern.
type modes struct{ fold, manyLines, oneLine bool }

// patternCompiler turns a parse tree into a program.
type patternCompiler struct {
	call  *lisp.Call
	out   *scanner
	modes *modes
	// loops counts those that need to know where a round began.
	loops int
	// references are the registers that are referred to.
	references []int
}

// compilePattern makes a scanner of a parse tree.
func compilePattern(c *lisp.Call, tree lisp.Value, m modes) *scanner {
	pc := &patternCompiler{call: c, out: lisp.Allocate(c, scanner{remembers: true, firstIs: -1}), modes: &m}
	pc.emit(tree)
	pc.add(instruction{op: opMatch})
	s := pc.out
	for _, n := range pc.references {
		if n > s.registers {
			patternError(c, lisp.Nil, lisp.Nil, "the pattern refers to register %d, which it does not have", n)
		}
		s.remembers = false
	}
	s.slots = 2*s.registers + pc.loops
	for i := range s.program {
		if in := &s.program[i]; in.op == opBegin || in.op == opAgain {
			in.slot += int32(2 * s.registers)
		}
	}
	s.link()
	return s
}

// add appends an instruction that goes on at the one behind it.
func (pc *patternCompiler) add(in instruction) int32 {
	n := len(pc.out.program)
	if n >= maximumProgram {
		patternError(pc.call, lisp.Nil, lisp.Nil, "the pattern is too large: its repetitions come to more than %d steps", maximumProgram)
	}
	pc.call.Step()
	in.join, in.next = -1, int32(n+1)
	pc.out.program = lisp.Append(pc.call, pc.out.program, in)
	return int32(n)
}

func (pc *patternCompiler) here() int32 { return int32(len(pc.out.program)) }

// emit appends what a parse tree means.
func (pc *patternCompiler) emit(tree lisp.Value) {
	c := pc.call
	c.Descend(4)
	defer c.Ascend(4)
	switch x := tree.(type) {
	case lisp.Character:
		pc.text([]rune{rune(x)})
	case *lisp.String:
		if len(x.Runes()) > 0 {
			pc.text(lisp.Clone(c, x.Runes()))
		}
	case *lisp.Symbol:
		pc.word(x)
	case *lisp.Cons:
		head, ok := x.Car.(*lisp.Symbol)
		if !ok {
			patternError(c, lisp.Nil, lisp.Nil, "%s is no operator of a parse tree", c.Shown(x.Car))
		}
		pc.operator(head, c.Slice(x.Cdr))
	default:
		patternError(c, lisp.Nil, lisp.Nil, "%s is no part of a parse tree", c.Shown(tree))
	}
}

// text appends characters that are matched one after the other.
func (pc *patternCompiler) text(text []rune) {
	if !pc.modes.fold {
		pc.add(instruction{op: opText, text: text})
		return
	}
	lisp.MapRunes(text, lisp.Lower)
	pc.add(instruction{op: opFold, text: text})
}

// word handles the parts that are one word.
func (pc *patternCompiler) word(word *lisp.Symbol) {
	assert := func(a assertion) { pc.add(instruction{op: opAssert, assert: a}) }
	if test := namedTest(word); test != nil {
		pc.set(charSet{tests: []func(rune) bool{test}})
		return
	}
	switch word {
	case kwVoid:
	case kwEverything:
		if pc.modes.oneLine {
			pc.set(charSet{tests: []func(rune) bool{func(rune) bool { return true }}})
			return
		}
		pc.set(charSet{tests: []func(rune) bool{func(r rune) bool { return r != '\n' }}})
	case kwStartAnchor:
		assert(map[bool]assertion{true: lineStart, false: textStart}[pc.modes.manyLines])
	case kwEndAnchor:
		assert(map[bool]assertion{true: lineEnd, false: textEnd}[pc.modes.manyLines])
	case kwTextStart:
		assert(textStart)
	case kwTextEnd:
		assert(textEnd)
	case kwVeryEnd:
		assert(veryEnd)
	case kwWordBoundary:
		assert(wordBoundary)
	case kwNoWordBoundary:
		assert(noWordBoundary)
	default:
		if pc.flag(word) {
			return
		}
		synonym := patternSynonym(pc.call, word)
		if synonym == lisp.Nil {
			patternError(pc.call, lisp.Nil, lisp.Nil, "%s is no part of a parse tree", pc.call.Shown(word))
		}
		pc.emit(synonym)
	}
}

// flag sets a modifier for what follows.
func (pc *patternCompiler) flag(word *lisp.Symbol) bool {
	switch word {
	case kwFoldCase, kwKeepCase:
		pc.modes.fold = word == kwFoldCase
	case kwManyLines, kwNotManyLines:
		pc.modes.manyLines = word == kwManyLines
	case kwOneLine, kwNotOneLine:
		pc.modes.oneLine = word == kwOneLine
	default:
		return false
	}
	return true
}

func (pc *patternCompiler) set(s charSet) {
	pc.add(instruction{op: opSet, set: lisp.Allocate(pc.call, s).ready()})
}

// operator handles the parts that are lists.
func (pc *patternCompiler) operator(head *lisp.Symbol, args []lisp.Value) {
	c := pc.call
	need := func(n int) {
		if len(args) != n {
			patternError(c, lisp.Nil, lisp.Nil, "%s takes %d parts in a parse tree, not %d", c.Shown(head), n, len(args))
		}
	}
	switch head {
	case kwSequence:
		pc.all(args)
	case kwGroup:
		pc.local(func() { pc.all(args) })
	case kwAlternation:
		pc.alternation(args)
	case kwRegister:
		need(1)
		pc.register(args[0], lisp.Nil)
	case kwNamedRegister:
		need(2)
		pc.register(args[1], c.TakeString(args[0]))
	case kwGreedy, kwNonGreedy:
		need(3)
		pc.repetition(args, head == kwGreedy)
	case kwBackReference:
		need(1)
		pc.reference(args[0])
	case kwCharClass, kwInvertedCharClass:
		pc.class(args, head == kwInvertedCharClass)
	case kwProperty, kwInvertedProperty:
		need(1)
		pc.set(charSet{tests: []func(rune) bool{pc.property(args[0])}, inverted: head == kwInvertedProperty})
	case kwFlags:
		for _, arg := range args {
			if word, ok := arg.(*lisp.Symbol); !ok || !pc.flag(word) {
				patternError(c, lisp.Nil, lisp.Nil, "%s is no flag of a parse tree", c.Shown(arg))
			}
		}
	case kwLookAhead, kwNegativeLookAhead, kwLookBehind, kwNegativeLookBehind:
		need(1)
		pc.out.looks = true
		pc.look(head, args[0])
	case kwRegex:
		need(1)
		pc.emit(parsePattern(c, c.TakeString(args[0]), false))
	default:
		if missing := missingFeature(head); missing != "" {
			patternError(c, lisp.Nil, lisp.Nil, "%s", missing)
		}
		patternError(c, lisp.Nil, lisp.Nil, "%s is no operator of a parse tree", c.Shown(head))
	}
}

func (pc *patternCompiler) all(parts []lisp.Value) {
	for _, part := range parts {
		pc.emit(part)
	}
}

// local keeps the modifiers that are set inside from what follows.
func (pc *patternCompiler) local(emit func()) {
	outer := pc.modes
	inner := *outer
	pc.modes = &inner
	emit()
	pc.modes = outer
}

func (pc *patternCompiler) alternation(choices []lisp.Value) {
	var ends []int32
	for i, choice := range choices {
		if i == len(choices)-1 {
			pc.emit(choice)
			break
		}
		split := pc.add(instruction{op: opSplit})
		pc.emit(choice)
		ends = lisp.Append(pc.call, ends, pc.add(instruction{op: opJump}))
		pc.out.program[split].other = pc.here()
	}
	for _, jump := range ends {
		pc.out.program[jump].next = pc.here()
	}
}

func (pc *patternCompiler) register(tree, name lisp.Value) {
	s := pc.out
	slot := int32(2 * s.registers)
	s.registers++
	if name != lisp.Nil && s.names == nil {
		s.names = make([]lisp.Value, s.registers-1)
		for i := range s.names {
			s.names[i] = lisp.Nil
		}
	}
	if s.names != nil {
		s.names = lisp.Append(pc.call, s.names, name)
	}
	pc.add(instruction{op: opSave, slot: slot})
	pc.local(func() { pc.emit(tree) })
	pc.add(instruction{op: opSave, slot: slot + 1})
}

// reference refers to a register by its number, or to those of a name, the latest first.
func (pc *patternCompiler) reference(v lisp.Value) {
	var numbers []int
	if name, ok := v.(*lisp.String); ok {
		for i := len(pc.out.names) - 1; i >= 0; i-- {
			if own, ok := pc.out.names[i].(*lisp.String); ok && slices.Equal(own.Runes(), name.Runes()) {
				numbers = lisp.Append(pc.call, numbers, i+1)
			}
		}
	} else if n, ok := v.(int64); ok && n > 0 && n <= maximumProgram {
		numbers = []int{int(n)}
	}
	if numbers == nil {
		patternError(pc.call, lisp.Nil, lisp.Nil, "there is no register %s to refer to", pc.call.Shown(v))
	}
	var ends []int32
	for i, n := range numbers {
		pc.references = lisp.Append(pc.call, pc.references, n)
		split := int32(-1)
		if i < len(numbers)-1 {
			split = pc.add(instruction{op: opSplit})
		}
		pc.add(instruction{op: opReference, slot: int32(2 * (n - 1)), fold: pc.modes.fold})
		if split >= 0 {
			ends = lisp.Append(pc.call, ends, pc.add(instruction{op: opJump}))
			pc.out.program[split].other = pc.here()
		}
	}
	for _, jump := range ends {
		pc.out.program[jump].next = pc.here()
	}
}

func (pc *patternCompiler) property(v lisp.Value) func(rune) bool {
	switch x := v.(type) {
	case *lisp.String:
		pc.call.Work(500)
		if test := propertyTest(pc.call.GoText(x.Runes())); test != nil {
			return test
		}
		patternError(pc.call, lisp.Nil, lisp.Nil, "there is no property called %s", pc.call.Shown(v))
	}
	patternError(pc.call, lisp.Nil, lisp.Nil, "a property is named by a string here, not by %s", pc.call.Shown(v))
	return nil
}

// class makes a set of the items of a class.
func (pc *patternCompiler) class(items []lisp.Value, inverted bool) {
	c := pc.call
	if len(items) == 0 {
		patternError(c, lisp.Nil, lisp.Nil, "a class of characters is empty")
	}
	s := charSet{inverted: inverted, fold: pc.modes.fold}
	var ranges []runeRange
	named := map[lisp.Value]bool{}
	for _, item := range items {
		c.Step()
		if ch, ok := item.(lisp.Character); ok {
			ranges = lisp.Append(c, ranges, runeRange{rune(ch), rune(ch)})
			continue
		}
		if test := namedTest(item); test != nil {
			if !named[item] {
				s.tests = append(s.tests, test)
			}
			named[item] = true
			continue
		}
		if len(s.tests) > maximumProperties {
			patternError(c, lisp.Nil, lisp.Nil, "a class of characters has more than %d properties", maximumProperties)
		}
		parts, head := []lisp.Value(nil), lisp.Value(lisp.Nil)
		if cell, ok := item.(*lisp.Cons); ok {
			head, parts = cell.Car, c.Slice(cell.Cdr)
		}
		switch {
		case head == kwRange && len(parts) == 2:
			from, to := rune(c.Character(parts[0])), rune(c.Character(parts[1]))
			if from > to {
				patternError(c, lisp.Nil, lisp.Nil, "the range from %s to %s in a class of characters is empty", c.Shown(parts[0]), c.Shown(parts[1]))
			}
			ranges = lisp.Append(c, ranges, runeRange{from, to})
		case head == kwProperty && len(parts) == 1:
			s.tests = append(s.tests, pc.property(parts[0]))
		case head == kwInvertedProperty && len(parts) == 1:
			s.tests = append(s.tests, not(pc.property(parts[0])))
		default:
			patternError(c, lisp.Nil, lisp.Nil, "%s cannot be in a class of characters", c.Shown(item))
		}
	}
	if len(ranges) > 0 {
		s.tests = append(s.tests, inRanges(ranges))
	}
	pc.set(s)
}
