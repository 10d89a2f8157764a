package lisp

import (
	"math/big"
	"unicode"

	"org-agent/kernel/plist"
)

// object is ~a and ~s with mincol, colinc, minpad and padchar.
func (f *formatter) object(d *directive) {
	v := f.arg()
	var text []rune
	if d.colon && v == Nil {
		text = []rune("()")
	} else {
		text = f.call.printedRunes(v, d.char == 's')
	}
	if len(d.params) == 0 {
		f.call.Write(f.out, text)
		return
	}
	mincol, colinc, minpad, pad := f.number(d, 0, 0), max(f.number(d, 1, 1), 1), f.number(d, 2, 0), rune(f.number(d, 3, ' '))
	padding := max(minpad, 0)
	if missing := mincol - len(text) - padding; missing > 0 {
		padding += (missing + colinc - 1) / colinc * colinc
	}
	if d.at {
		f.repeat(pad, padding)
	}
	f.call.Write(f.out, text)
	if !d.at {
		f.repeat(pad, padding)
	}
}

// integer is ~d and its like; first is the index of mincol among the parameters.
func (f *formatter) integer(d *directive, base, first int) {
	v := f.arg()
	if k := kindOf(v); k != smallKind && k != bigKind {
		p := printer{call: f.call, printControl: plainControl(base)}
		p.print(v)
		f.call.Write(f.out, p.out) // SBCL lays out integers only
		return
	}
	p := printer{call: f.call, printControl: plainControl(base)}
	p.rational(v)
	text := p.out
	if d.colon {
		text = f.grouped(text, rune(f.number(d, first+2, ',')), f.number(d, first+3, 3))
	}
	if d.at && sign(v) >= 0 {
		text = Append(f.call, []rune{'+'}, text...)
	}
	f.pad(text, f.number(d, first, 0), rune(f.number(d, first+1, ' ')))
}

// pad writes text at the right of a column.
func (f *formatter) pad(text []rune, width int, pad rune) {
	f.repeat(pad, width-len(text))
	f.call.Write(f.out, text)
}

// grouped puts a separator between groups of digits.
func (f *formatter) grouped(digits []rune, separator rune, size int) []rune {
	b := NewStringBuilder(f.call)
	if digits[0] == '-' {
		b.WriteRune('-')
		digits = digits[1:]
	}
	size = max(size, 1)
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%size == 0 {
			b.WriteRune(separator)
		}
		b.WriteRune(r)
	}
	return b.chars
}

// radix is ~r: in a base, in words, or in Roman numerals.
func (f *formatter) radix(d *directive) {
	if len(d.params) > 0 && d.params[0].kind != 0 {
		base := f.number(d, 0, 10)
		if base < 2 || base > 36 {
			f.call.Fail(SimpleError, "~r needs a base from 2 to 36")
		}
		f.integer(d, base, 1)
		return
	}
	n := f.integerArgument("~r")
	limit := int64(4000)
	if d.colon {
		limit = 5000
	}
	text := ""
	switch {
	case d.at && n.IsInt64() && n.Int64() >= 1 && n.Int64() < limit:
		text = roman(int(n.Int64()), d.colon)
	case d.at:
		f.call.Fail(SimpleError, "%s cannot be written in Roman numerals", f.call.Shown(normal(n)))
	case n.BitLen() > 219:
		f.call.Fail(SimpleError, "a number too large to be written in words")
	case d.colon:
		text = ordinal(n)
	default:
		text = cardinal(n)
	}
	f.call.Write(f.out, []rune(text))
}

// integerArgument takes the next argument as an integer.
func (f *formatter) integerArgument(name string) *big.Int {
	v := f.arg()
	if k := kindOf(v); k != smallKind && k != bigKind {
		f.call.Fail(SimpleError, "%s wants an integer, not %s", name, f.call.Shown(v))
	}
	return f.call.Integer(v)
}

func (f *formatter) character(d *directive) {
	v := f.arg()
	ch, ok := v.(Character)
	if !ok {
		f.call.Fail(SimpleError, "~c wants a character, not %s", f.call.Shown(v))
	}
	switch {
	case d.colon:
		f.call.Write(f.out, []rune(characterName(ch)))
	case d.at:
		f.call.Write(f.out, f.call.printedRunes(ch, true))
	default:
		f.call.Write(f.out, []rune{rune(ch)})
	}
}

func (f *formatter) plural(d *directive) {
	if d.colon {
		if f.next == 0 {
			f.call.Fail(SimpleError, "~:p has no argument before it")
		}
		f.next--
	}
	one := eql(f.arg(), Integer(1))
	text := ""
	switch {
	case d.at && one:
		text = "y"
	case d.at:
		text = "ies"
	case !one:
		text = "s"
	}
	f.call.Write(f.out, []rune(text))
}

func (f *formatter) tabulate(d *directive) {
	column, step := f.number(d, 0, 1), f.number(d, 1, 1)
	at := f.call.column(f.out)
	if d.at {
		f.repeat(' ', column)
		at += column
		if step > 0 && at%step != 0 {
			f.repeat(' ', step-at%step)
		}
		return
	}
	switch {
	case at < column:
		f.repeat(' ', column-at)
	case step > 0:
		f.repeat(' ', step-(at-column)%step)
	}
}

func (f *formatter) recursive(d *directive) left {
	given := f.arg()
	if fn, ok := given.(*Function); ok {
		if d.at {
			f.calledWith(fn)
			return ran
		}
		f.call.apply(fn, Append(f.call, []Value{f.out}, f.call.Slice(f.arg())...))
		return ran
	}
	control := f.call.TakeString(given)
	if !d.at {
		f.call.formatInto(f.out, control, f.call.Slice(f.arg()))
		return ran
	}
	directives := f.call.directives(control)
	f.call.Descend(8)
	defer f.call.Ascend(8)
	return f.run(directives)
}

func (f *formatter) caseConversion(d *directive) left {
	text, how := f.sub(d.clauses[0])
	switch {
	case d.colon && d.at:
		MapRunes(text, Upper)
	case d.colon:
		MapRunes(text, Lower)
		Capitalize(text)
	case d.at:
		MapRunes(text, Lower)
		for i, r := range text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				text[i] = Upper(r)
				break
			}
		}
	default:
		MapRunes(text, Lower)
	}
	f.call.Write(f.out, text)
	return how
}

func (f *formatter) conditional(d *directive) left {
	switch {
	case d.colon:
		if len(d.clauses) != 2 {
			f.call.Fail(SimpleError, "~:[ needs two clauses")
		}
		if f.arg() == Nil {
			return f.run(d.clauses[0])
		}
		return f.run(d.clauses[1])
	case d.at:
		if f.next < len(f.args) && f.args[f.next] == Nil {
			f.next++
			return ran
		}
		if f.next >= len(f.args) {
			f.arg()
		}
		return f.run(d.clauses[0])
	}
	n := 0
	if len(d.params) > 0 && d.params[0].kind != 0 {
		n = f.number(d, 0, 0)
	} else {
		n = -1 // a number that no clause has
		if i := f.integerArgument("~["); i.IsInt64() {
			n = int(max(min(i.Int64(), 1<<20), -1))
		}
	}
	switch {
	case n >= 0 && n < len(d.clauses):
		return f.run(d.clauses[n])
	case d.lastColon:
		return f.run(d.clauses[len(d.clauses)-1])
	}
	return ran
}

// iteration is ~{, over a list or the remaining arguments, by elements or by sublists.
func (f *formatter) iteration(d *directive) {
	limit := f.number(d, 0, -1)
	body := d.clauses[0]
	if len(body) == 0 { // the control string is an argument
		given := f.arg()
		if fn, ok := given.(*Function); ok {
			f.iterateFunction(d, fn, limit)
			return
		}
		body = f.call.directives(f.call.TakeString(given))
	}
	f.call.Descend(8)
	defer f.call.Ascend(8)
	inner := f
	if !d.at {
		inner = &formatter{call: f.call, out: f.out, args: f.call.Slice(f.arg())}
	}
	for round := 0; limit < 0 || round < limit; round++ {
		f.call.Step()
		if inner.next >= len(inner.args) && (round > 0 || !d.closeColon) {
			return
		}
		before := inner.next
		if d.colon {
			sublist := &formatter{call: f.call, out: f.out, args: f.call.Slice(inner.arg()), last: inner.next >= len(inner.args)}
			if sublist.run(body) == escapedUp {
				return
			}
			continue
		}
		if inner.run(body) != ran {
			return
		}
		if inner.next == before && limit < 0 && inner.next < len(inner.args) {
			f.call.Work(64) // a body that takes nothing goes on until a limit ends it
		}
	}
}

// justify is ~<: text spread over columns.
func (f *formatter) justify(d *directive) left {
	if d.closeColon {
		return f.logicalBlock(d)
	}
	mincol, colinc, minpad, pad := f.number(d, 0, 0), max(f.number(d, 1, 1), 1), f.number(d, 2, 0), rune(f.number(d, 3, ' '))
	var parts [][]rune
	total := 0
	for i, clause := range d.clauses {
		if i == 0 && d.lastColon && len(d.clauses) > 1 {
			continue // text for a line that is too long, which never is
		}
		text, how := f.sub(clause)
		if how != ran {
			break
		}
		parts = Append(f.call, parts, text)
		total += len(text)
	}
	gaps := len(parts) - 1
	if d.colon {
		gaps++
	}
	if d.at {
		gaps++
	}
	if gaps <= 0 && len(parts) == 1 {
		gaps = 1 // one text alone stands at the right
	}
	width := total + max(gaps, 0)*minpad
	if width < mincol {
		width = mincol
	} else if over := (width - mincol) % colinc; mincol > 0 && over != 0 {
		width += colinc - over
	}
	f.spread(d, parts, width-total, gaps, pad)
	return ran
}

func (f *formatter) spread(d *directive, parts [][]rune, padding, gaps int, pad rune) {
	gap := func() {
		if gaps <= 0 {
			return
		}
		n := padding / gaps
		padding -= n
		gaps--
		f.repeat(pad, n)
	}
	if d.colon || len(parts) == 1 && !d.at {
		gap()
	}
	for i, part := range parts {
		if i > 0 {
			gap()
		}
		f.call.Write(f.out, part)
	}
	if d.at {
		gap()
	}
}

// logicalBlock is ~<prefix~;body~;suffix~:>, on one line: body takes its arguments from
// a list, or with @ from the rest.
func (f *formatter) logicalBlock(d *directive) left {
	prefix, suffix, body := []directive(nil), []directive(nil), d.clauses[0]
	switch len(d.clauses) {
	case 1:
		if d.colon {
			prefix, suffix = []directive{{text: []rune("(")}}, []directive{{text: []rune(")")}}
		}
	case 2, 3:
		prefix, body = d.clauses[0], d.clauses[1]
		if len(d.clauses) == 3 {
			suffix = d.clauses[2]
		}
	default:
		f.call.Fail(SimpleError, "~<…~:> has at most three parts")
	}
	inner := &formatter{call: f.call, out: f.out}
	if d.at {
		inner.args, f.next = f.args[f.next:], len(f.args)
	} else {
		v := f.arg()
		if !IsList(v) {
			f.call.Write(f.out, f.call.printedWith(v, f.call.printControl()))
			return ran
		}
		inner.args = f.call.Slice(v)
	}
	f.call.Descend(8)
	defer f.call.Ascend(8)
	f.run(prefix)
	inner.run(body)
	f.run(suffix)
	return ran
}

// called is ~/name/: a function of the stream, the argument, colon, at and parameters.
func (f *formatter) called(d *directive) {
	c := f.call
	pkg, colons, name := plist.SymbolParts(string(d.text), false)
	symbol, ok := c.CurrentPackage().Find(name)
	if colons > 0 {
		p := c.environment.packages[pkg]
		if p == nil {
			c.Fail(SimpleError, "the package %s of ~/%s/ does not exist", pkg, string(d.text))
		}
		symbol, ok = p.Find(name)
	}
	if !ok {
		c.Fail(undefinedClass, "there is no function %s for ~/%s/", name, string(d.text))
	}
	args := []Value{f.out, f.arg(), Boolean(d.colon), Boolean(d.at)}
	for i, p := range d.params {
		switch p.kind {
		case 0:
			args = Append(c, args, Value(Nil))
		case 'c':
			args = Append(c, args, Value(Character(p.value)))
		default:
			args = Append(c, args, Count(f.number(d, i, 0)))
		}
	}
	c.Descend(24)
	c.apply(c.Function(symbol), args)
	c.Ascend(24)
}

// calledWith calls the function of a formatter with the arguments that are left; what
// it returns is left after it.
func (f *formatter) calledWith(fn *Function) {
	c := f.call
	c.Descend(24)
	rest := c.Slice(Single(c.apply(fn, Append(c, []Value{f.out}, f.args[f.next:]...))))
	c.Ascend(24)
	f.next = max(f.next, len(f.args)-len(rest))
}

// iterateFunction is ~{ with a function as its body.
func (f *formatter) iterateFunction(d *directive, fn *Function, limit int) {
	inner := f
	if !d.at {
		inner = &formatter{call: f.call, out: f.out, args: f.call.Slice(f.arg())}
	}
	for round := 0; (limit < 0 || round < limit) && (inner.next < len(inner.args) || round == 0 && d.closeColon); round++ {
		f.call.Step()
		if d.colon {
			f.call.apply(fn, Append(f.call, []Value{f.out}, f.call.Slice(inner.arg())...))
			continue
		}
		inner.calledWith(fn)
	}
}
