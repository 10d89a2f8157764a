package lisp

import (
	"errors"
	"fmt"
	"strings"
)

// directive is a part of a parsed control string: plain text, or ~ with parameters.
type directive struct {
	text       []rune // of plain text, when char is 0; the name of ~/
	char       rune
	params     []formatParam
	colon, at  bool
	clauses    [][]directive // of ~( ~[ ~{ ~<
	lastColon  bool          // the last separator of ~[ or ~< was ~:;
	closeColon bool          // the closing directive had a colon
}

// formatParam is a parameter: a number, a character, v, # or left out.
type formatParam struct {
	kind  rune // 0 left out, 'n', 'c', 'v', '#'
	value int
}

// formatParser reads a control string.
type formatParser struct {
	call  *Call
	chars []rune
	pos   int
	depth int
}

// maximumFormatDepth bounds nested directives.
const maximumFormatDepth = 64

func parseFormat(c *Call, chars []rune) ([]directive, error) {
	p := &formatParser{call: c, chars: chars}
	directives, end, err := p.sequence("")
	if err == nil && end != nil {
		err = fmt.Errorf("~%c without its opening directive", end.char)
	}
	return directives, err
}

// sequence reads directives up to one of the closing characters.
func (p *formatParser) sequence(closers string) (directives []directive, end *directive, err error) {
	if p.depth++; p.depth > maximumFormatDepth {
		return nil, nil, fmt.Errorf("directives are nested more than %d deep", maximumFormatDepth)
	}
	defer func() { p.depth-- }()
	start := p.pos
	for p.pos < len(p.chars) {
		if p.chars[p.pos] != '~' {
			p.pos++
			continue
		}
		if p.pos > start {
			directives = Append(p.call, directives, directive{text: p.chars[start:p.pos]})
		}
		d, err := p.directive()
		if err != nil {
			return nil, nil, err
		}
		if strings.ContainsRune(")]}>;", d.char) {
			if !strings.ContainsRune(closers, d.char) {
				return nil, nil, fmt.Errorf("~%c is not expected here", d.char)
			}
			closing := d
			return directives, &closing, nil
		}
		if d.char != '\n' {
			directives = Append(p.call, directives, d)
		} else if d.at {
			directives = Append(p.call, directives, directive{text: []rune{'\n'}})
		}
		start = p.pos
	}
	if closers != "" {
		return nil, nil, errors.New("a directive is not closed: one of ~" + closers[len(closers)-1:] + " is missing")
	}
	if p.pos > start {
		directives = Append(p.call, directives, directive{text: p.chars[start:p.pos]})
	}
	return directives, nil, nil
}

func (p *formatParser) directive() (d directive, err error) {
	p.pos++
	if err := p.parameters(&d); err != nil {
		return d, err
	}
	for p.pos < len(p.chars) && (p.chars[p.pos] == ':' || p.chars[p.pos] == '@') {
		if p.chars[p.pos] == ':' {
			d.colon = true
		} else {
			d.at = true
		}
		p.pos++
	}
	if p.pos >= len(p.chars) {
		return d, errors.New("the string ends inside a directive")
	}
	d.char = Lower(p.chars[p.pos])
	p.pos++
	switch d.char {
	case '(':
		err = p.clausesOf(&d, ")")
	case '[':
		err = p.clausesOf(&d, ";]")
	case '{':
		err = p.clausesOf(&d, "}")
	case '<':
		err = p.clausesOf(&d, ";>")
	case '/':
		end := p.pos
		for end < len(p.chars) && p.chars[end] != '/' {
			end++
		}
		if end == len(p.chars) {
			return d, errors.New("the name of ~/ has no slash at its end")
		}
		d.text = p.chars[p.pos:end]
		p.pos = end + 1
	case '\n':
		for !d.colon && p.pos < len(p.chars) && strings.ContainsRune(" \t\n", p.chars[p.pos]) {
			p.pos++
		}
	}
	return d, err
}

func (p *formatParser) parameters(d *directive) error {
	for p.pos < len(p.chars) {
		r := p.chars[p.pos]
		switch {
		case r == '\'' && p.pos+1 < len(p.chars):
			d.params = Append(p.call, d.params, formatParam{'c', int(p.chars[p.pos+1])})
			p.pos += 2
		case r == 'v' || r == 'V':
			d.params = Append(p.call, d.params, formatParam{kind: 'v'})
			p.pos++
		case r == '#':
			d.params = Append(p.call, d.params, formatParam{kind: '#'})
			p.pos++
		case r >= '0' && r <= '9' || (r == '-' || r == '+') && p.pos+1 < len(p.chars) && p.chars[p.pos+1] >= '0' && p.chars[p.pos+1] <= '9':
			n, negative := 0, r == '-'
			if r == '-' || r == '+' {
				p.pos++
			}
			for p.pos < len(p.chars) && p.chars[p.pos] >= '0' && p.chars[p.pos] <= '9' {
				n = min(n*10+int(p.chars[p.pos]-'0'), 1<<40)
				p.pos++
			}
			if negative {
				n = -n
			}
			d.params = Append(p.call, d.params, formatParam{'n', n})
		case r == ',':
			d.params = Append(p.call, d.params, formatParam{})
		default:
			return nil
		}
		if p.pos < len(p.chars) && p.chars[p.pos] == ',' {
			p.pos++
			if p.pos < len(p.chars) && strings.ContainsRune(":@", p.chars[p.pos]) {
				return nil
			}
			continue
		}
		return nil
	}
	return errors.New("the string ends inside a directive")
}

func (p *formatParser) clausesOf(d *directive, closers string) error {
	for {
		clause, end, err := p.sequence(closers)
		if err != nil {
			return err
		}
		d.clauses = Append(p.call, d.clauses, clause)
		if end.char != ';' {
			d.closeColon = end.colon
			return nil
		}
		d.lastColon = end.colon
	}
}

// checkFormat finds faults of a control string that is written in the call.
func checkFormat(cp *Compiler, form *Cons) {
	parts := cp.Forms(form.Cdr)
	if len(parts) < 2 {
		return
	}
	control, ok := parts[1].(*String)
	if !ok {
		return
	}
	directives, err := parseFormat(cp.Call, control.chars)
	if err == nil {
		err = checkDirectives(directives)
	}
	if err != nil {
		cp.environment.refer(reference{at: cp.site(form), function: cp.functionName(), problem: "in the format string: " + err.Error()})
	}
}

// formatDirectives are the characters of all directives.
const formatDirectives = "asdboxrcfeg$p%&~|\nt*?([{<^/wi_;"

// checkDirectives finds a directive that does not exist.
func checkDirectives(directives []directive) error {
	for i := range directives {
		d := &directives[i]
		if d.char != 0 && !strings.ContainsRune(formatDirectives, d.char) {
			return fmt.Errorf("unknown format directive ~%c", d.char)
		}
		for _, clause := range d.clauses {
			if err := checkDirectives(clause); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatter runs a control string.
type formatter struct {
	call *Call
	out  *Stream
	// args is all arguments of this level, next the index of the next one.
	args []Value
	next int
	// last tells for ~:^ that the sublists of an enclosing ~:{ are used up.
	last bool
}

func formatFunction(c *Call, args []Value) Value {
	rest := args[2:]
	if fn, ok := args[1].(*Function); ok {
		return c.formatTo(args[0], func(s *Stream) { c.apply(fn, Append(c, []Value{s}, rest...)) })
	}
	control := c.TakeString(args[1])
	return c.formatTo(args[0], func(s *Stream) { c.formatInto(s, control, rest) })
}

// formatTo runs write with the stream that a destination stands for.
func (c *Call) formatTo(destination Value, write func(*Stream)) Value {
	switch x := destination.(type) {
	case *Symbol:
		if x == Nil {
			s := c.NewOutput()
			write(s)
			return c.StringOf(s.out)
		}
		if x != T {
			c.TypeError(x, "STREAM")
		}
		write(c.stream(symStandardOutput))
	case *Stream:
		write(x)
	case *String:
		if x.capacity < 0 {
			c.Fail(SimpleError, "format writes into a string only if it has a fill pointer; give nil to get a new string: %s", c.Shown(x))
		}
		write(Allocate(c, Stream{target: x}))
	default:
		c.TypeError(destination, "STREAM")
	}
	return Nil
}

// Format is the string that a control string makes.
func (c *Call) Format(control *String, args []Value) string {
	s := c.NewOutput()
	c.formatInto(s, control, args)
	return c.Collected(s)
}

// directives are those of a control string, which must be well formed.
func (c *Call) directives(control *String) []directive {
	c.Work(len(control.chars) / 4)
	directives, err := parseFormat(c, control.chars)
	if err != nil {
		c.Fail(SimpleError, "in the format string %s: %v", c.Shown(control), err)
	}
	return directives
}

// formatInto writes to a stream as a control string says.
func (c *Call) formatInto(s *Stream, control *String, args []Value) {
	directives := c.directives(control)
	// The arguments lie on the call's stack, which calls made from here may move.
	f := &formatter{call: c, out: s, args: Clone(c, args)}
	c.Descend(8)
	f.run(directives)
	c.Ascend(8)
}

// left says how a sequence of directives ended.
type left int

const (
	ran       left = iota
	escaped        // ~^
	escapedUp      // ~:^
)

func (f *formatter) run(directives []directive) left {
	for i := range directives {
		d := &directives[i]
		if d.char == 0 {
			f.call.Write(f.out, d.text)
			continue
		}
		f.call.Step()
		if how := f.directive(d); how != ran {
			return how
		}
	}
	return ran
}

// arg takes the next argument.
func (f *formatter) arg() Value {
	if f.next >= len(f.args) {
		f.call.Fail(SimpleError, "there are not enough arguments for the format string")
	}
	f.next++
	return f.args[f.next-1]
}

// number takes the i-th parameter as a number.
func (f *formatter) number(d *directive, i, fallback int) int {
	if i >= len(d.params) {
		return fallback
	}
	switch p := d.params[i]; p.kind {
	case 'n':
		return p.value
	case '#':
		return len(f.args) - f.next
	case 'v':
		switch v := f.arg().(type) {
		case int64:
			return int(max(min(v, 1<<40), -1<<40))
		case Character:
			return int(v)
		case *Symbol:
			if v == Nil {
				return fallback
			}
		}
		f.call.Fail(SimpleError, "a parameter of a format directive is not a number")
	case 'c':
		return p.value
	}
	return fallback
}

// resolve replaces v and # parameters by their values, so that each is taken once.
func (f *formatter) resolve(d *directive) *directive {
	for _, p := range d.params {
		if p.kind == 'v' || p.kind == '#' {
			fixed := *d
			fixed.params = MakeSlice[formatParam](f.call, len(d.params))
			for i, p := range d.params {
				fixed.params[i] = p
				if p.kind == 'v' || p.kind == '#' {
					if n := f.number(d, i, -1<<41); n != -1<<41 {
						fixed.params[i] = formatParam{'n', n}
					} else {
						fixed.params[i] = formatParam{}
					}
				}
			}
			return &fixed
		}
	}
	return d
}

func (f *formatter) directive(d *directive) left {
	d = f.resolve(d)
	switch d.char {
	case 'a', 's':
		f.object(d)
	case 'w':
		f.call.Write(f.out, f.call.printedWith(f.arg(), f.call.printControl()))
	case 'd':
		f.integer(d, 10, 0)
	case 'b':
		f.integer(d, 2, 0)
	case 'o':
		f.integer(d, 8, 0)
	case 'x':
		f.integer(d, 16, 0)
	case 'r':
		f.radix(d)
	case 'c':
		f.character(d)
	case 'f':
		f.fixed(d)
	case 'e':
		f.exponential(d)
	case 'g':
		f.general(d)
	case '$':
		f.money(d)
	case 'p':
		f.plural(d)
	case '%':
		f.repeat('\n', f.number(d, 0, 1))
	case '&':
		if n := f.number(d, 0, 1); n > 0 {
			if f.call.column(f.out) > 0 {
				f.repeat('\n', 1)
			}
			f.repeat('\n', n-1)
		}
	case '~':
		f.repeat('~', f.number(d, 0, 1))
	case '|':
		f.repeat('\f', f.number(d, 0, 1))
	case 't':
		f.tabulate(d)
	case '*':
		f.jump(d)
	case '?':
		return f.recursive(d)
	case '(':
		return f.caseConversion(d)
	case '[':
		return f.conditional(d)
	case '{':
		f.iteration(d)
	case '<':
		return f.justify(d)
	case '^':
		return f.escape(d)
	case '/':
		f.called(d)
	case '_', 'i':
	default:
		f.call.Fail(SimpleError, "unknown format directive ~%c", d.char)
	}
	return ran
}

func (f *formatter) repeat(r rune, n int) {
	if n <= 0 {
		return
	}
	text := MakeSlice[rune](f.call, n)
	for i := range text {
		text[i] = r
	}
	f.call.Write(f.out, text)
}

// sub runs directives into a stream of their own and returns the text.
func (f *formatter) sub(directives []directive) ([]rune, left) {
	inner := f.call.NewOutput()
	inner.column = f.call.column(f.out)
	outer := f.out
	f.out = inner
	how := f.run(directives)
	f.out = outer
	return inner.out, how
}

func (f *formatter) jump(d *directive) {
	n := f.number(d, 0, 1)
	switch {
	case d.at:
		f.next = f.number(d, 0, 0)
	case d.colon:
		f.next -= n
	default:
		f.next += n
	}
	if f.next < 0 || f.next > len(f.args) {
		f.call.Fail(SimpleError, "~* goes beyond the arguments of the format string")
	}
}

func (f *formatter) escape(d *directive) left {
	end := f.next >= len(f.args)
	if d.colon {
		end = f.last
	}
	switch len(d.params) {
	case 1:
		end = f.number(d, 0, 0) == 0
	case 2:
		end = f.number(d, 0, 0) == f.number(d, 1, 0)
	case 3:
		a, b, c := f.number(d, 0, 0), f.number(d, 1, 0), f.number(d, 2, 0)
		end = a <= b && b <= c
	}
	if !end {
		return ran
	}
	if d.colon {
		return escapedUp
	}
	return escaped
}
