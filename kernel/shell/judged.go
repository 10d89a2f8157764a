package shell

import (
	"regexp"
	"slices"
	"strings"
)

const (
	unlistedWhy = "it is none of the programs whose options are known, so that its options and its first word have to stand in the rule"
	unknownWhy  = "a word that is not known before could be an option that runs or writes something else"
	operandWhy  = "the word makes it run or write something else"
	namedWhy    = "what it runs stands in files of its own, or is not known"
)

// unlisted is what is known of a program that is not in the table.
var unlisted = entry{why: unlistedWhy, filter: -1, most: -1, named: 1, obeys: &obeyed{}, operands: plainOperand}

// plainOperand matches words that hardly any program takes for more than a name: no setting, no file of
// options, and nothing for a shell.
var plainOperand = regexp.MustCompile(`^[A-Za-z0-9_./,:%-][A-Za-z0-9_./,:%@+-]*$`)

// listed returns the program as the table has it. A program that is not there, and is called by its own path,
// is the person's own and does what they say; any other is taken to do whatever its words tell it.
func listed(name string, standard bool) (program, bool) {
	e := readPrograms()[name]
	if e == nil && !standard {
		return program{}, false
	}
	return program{read: func(c *call) {
		c.judge(e, 0)
	}}, true
}

// judge compares the words of the rest, from i on, with an entry of the table. What the entry does not
// have is to stand in a person's rule.
func (c *call) judge(e *entry, i int) {
	if e == nil {
		e = &unlisted
	}
	command := &c.script.Commands[c.index]
	command.Obeys, command.Reads = command.Obeys || e.obeys != nil, e.reads
	command.Files.add(e.obeys.decides(false))
	r := reading{call: c, entry: e, left: e.named, filters: e.filter >= 0}
	words := c.rest()
	if e.fixed {
		if i >= len(words) {
			c.unknown(-1, stdinWhy)
		}
		r.fix(i, optionWhy)
		return
	}
	if e.bundled && i < len(words) && words[i].Kind == Literal && !strings.HasPrefix(words[i].Text, "-") {
		i = r.bundle(i)
	}
	for ended := false; i < len(words) && !r.done; i++ {
		switch w := words[i]; {
		case w.Kind != Literal:
			r.uncertain(w, ended)
		case w.Text == "--" && !ended:
			ended = true
		case ended || len(w.Text) < 2 || w.Text[0] != '-':
			r.operand(i)
		default:
			i = r.option(i)
		}
	}
	if r.filters && len(command.Opaque) == 0 {
		for _, at := range r.places[:min(len(r.places), e.filter)] {
			c.aside(at)
		}
		if c.filters = r.operands <= e.filter; c.filters {
			readNothing(c)
		}
	}
	if e.named > 0 && r.told == 0 && !r.done && e != &unlisted {
		c.unknown(-1, stdinWhy)
	}
}

// obeys records that a program obeys the files that the table has for the name. scripted is true if its first
// word is a script.
func obeys(c *call, name string, scripted bool) {
	e := readPrograms()[name]
	if e == nil {
		return
	}
	command, files := &c.script.Commands[c.index], e.obeys.decides(scripted)
	command.Obeys = command.Obeys || len(files.Names)+len(files.Above) > 0
	command.Files.add(files)
}

func (f *Files) add(more Files) {
	f.Names = slices.Concat(f.Names, more.Names)
	f.Above = slices.Concat(f.Above, more.Above)
}

// reading is the state of [call.judge].
type reading struct {
	call     *call
	entry    *entry
	left     int // how many operands still have to stand in the rule
	operands int // how many there were
	told     int // how many of them had to
	places   []int
	filters  bool // no option reads or writes more than the input
	done     bool // all that follows is judged already
}

// fix has all words from i on stand in the rule.
func (r *reading) fix(i int, why string) {
	for j, w := range r.call.rest()[min(i, len(r.call.rest())):] {
		if w.Kind != Literal {
			r.call.unknown(-1, why)
		} else {
			r.call.unknown(i+j, why)
		}
	}
	r.done = true
}

// uncertain judges a word that is not known before.
func (r *reading) uncertain(w Word, ended bool) {
	e := r.entry
	r.operands++
	if w.Kind == Many {
		r.operands += 99
	}
	switch {
	case e.group || r.left > 0:
		r.call.unknown(-1, namedWhy)
		r.left--
	case e.any || w.Number:
	case e.most >= 0 && r.operands > e.most:
		r.call.unknown(-1, unknownWhy)
	case e.operands != nil && !w.isOneOf(func(text string) bool { return (ended || !isOption(text)) && e.operands.MatchString(text) }):
		r.call.unknown(-1, unknownWhy)
	case e.operands == nil && !ended && !w.begins(isOperand):
		r.perhapsOption(w)
	}
}

// perhapsOption records that a word could be an option, unless it stands for names of files and none of them
// begins like one.
func (r *reading) perhapsOption(w Word) {
	r.call.unknown(-1, unknownWhy)
	if w.Pattern || len(w.Among) > 0 {
		command := &r.call.script.Commands[r.call.index]
		command.Opaque[len(command.Opaque)-1].Perhaps = &w
	}
}

func isOption(text string) bool { return len(text) > 1 && text[0] == '-' }

func isOperand(text string) bool { return !isOption(text) }

// operand judges word i, which is no option.
func (r *reading) operand(i int) {
	e, text := r.entry, r.call.rest()[i].Text
	r.operands++
	if e.group {
		r.subcommand(i)
		return
	}
	if r.left > 0 {
		r.left--
		r.told++
		r.call.unknown(i, orWhy(e, namedWhy))
		return
	}
	if e.operands != nil && !e.operands.MatchString(text) || e.most >= 0 && r.operands > e.most {
		r.call.unknown(i, operandWhy)
	}
	r.places = append(r.places, i)
}

// orWhy returns what an entry says of why its words are asked about.
func orWhy(e *entry, other string) string {
	if e == &unlisted {
		return e.why
	}
	return other
}

// subcommand goes on with the entry of the subcommand that word i is.
func (r *reading) subcommand(i int) {
	r.done = true
	name := r.entry.name + " " + r.call.rest()[i].Text
	e := readPrograms()[name]
	if e == nil {
		e = &entry{name: name, filter: -1, most: -1, named: 2, obeys: r.entry.obeys, operands: plainOperand}
	}
	r.call.judge(e, i+min(1, 1-min(e.named, 1)))
}

// option judges word i, which begins with a hyphen, and returns the index of its last word.
func (r *reading) option(i int) int {
	e, words := r.entry, r.call.rest()
	text := words[i].Text
	o := e.option(text)
	if slices.ContainsFunc(o.names, func(name string) bool { return slices.Contains(strings.Fields(e.unless), name) }) {
		r.filters = false
	}
	switch {
	case e.any && !o.safe:
		r.filters = false
		return i
	case e.any:
		return r.skipOperand(i, o)
	case !o.safe && (e.group || r.left > 0): // what follows may be its operand, or the subcommand
		r.fix(i, orWhy(e, optionWhy))
		return i
	case !o.safe:
		r.call.unknown(i, orWhy(e, optionWhy))
		if !strings.Contains(text, "=") && i+1 < len(words) {
			r.call.literal(i+1, i+2, orWhy(e, optionWhy))
		}
		return i
	case o.joined && e.values != nil && !e.values.MatchString(o.operand):
		r.call.unknown(i, operandWhy)
	case !o.next || i+1 >= len(words):
	default:
		return r.optionOperand(i + 1)
	}
	return i
}

// skipOperand returns the index of the last word of an option that is safe whatever its operand is.
func (r *reading) skipOperand(i int, o option) int {
	if o.next && i+1 < len(r.call.rest()) && r.call.rest()[i+1].Kind != Many {
		return i + 1
	}
	return i
}

// optionOperand judges word i, the operand of an option before it. One that looks like an option is judged
// as one, too, because versions of a program differ in which options have an operand.
func (r *reading) optionOperand(i int) int {
	e, w := r.entry, r.call.rest()[i]
	switch {
	case w.Kind != Literal:
		if !w.Number && (w.Kind == Many && !w.begins(isOperand) || e.values != nil && !w.isOneOf(e.values.MatchString)) {
			r.call.unknown(-1, unknownWhy)
		}
	case e.values != nil && !e.values.MatchString(w.Text):
		r.call.unknown(i, operandWhy)
	case len(w.Text) > 1 && w.Text[0] == '-' && !numeric.MatchString(w.Text) && w.Text != "--":
		if o := e.option(w.Text); !o.safe || o.next {
			r.call.unknown(i, optionWhy)
		}
	}
	return i
}

var numeric = regexp.MustCompile(`^[-+]?[0-9]+(?:[.,:][0-9]+)*[a-zA-Z%]?$`)

// bundle judges word i, whose letters are options without a hyphen, and returns the index of the first word
// that is no operand of them.
func (r *reading) bundle(i int) int {
	e, next := r.entry, i+1
	for _, c := range r.call.rest()[i].Text {
		letter := string(c)
		switch {
		case strings.Contains(e.takes, letter):
			if next < len(r.call.rest()) {
				r.optionOperand(next)
			}
			next++
		case !strings.Contains(e.flags, letter):
			r.fix(i, optionWhy)
			return next
		}
	}
	return next
}
