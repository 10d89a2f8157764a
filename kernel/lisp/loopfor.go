package lisp

import "strings"

// iterator is one for clause: what it binds and how a round begins.
type iterator struct {
	first, later []loopStep
}

// loopStep is a test that ends the loop, or an assignment.
type loopStep struct {
	test    Value // non-nil: (until test)
	pattern Value
	value   Value
}

// forClauses parses for clauses joined by and, which step in parallel.
func (p *loopParser) forClauses() {
	iterators := []iterator{p.forClause()}
	for p.accept("AND") {
		p.accept("FOR", "AS")
		iterators = append(iterators, p.forClause())
	}
	var first, later [][]loopStep
	for _, it := range iterators {
		first, later = append(first, it.first), append(later, it.later)
	}
	p.first = append(p.first, p.steps(first)...)
	p.later = append(p.later, p.steps(later)...)
}

// steps turns the steps of clauses into forms. A single clause goes in order; several
// compute all values before they assign any.
func (p *loopParser) steps(clauses [][]loopStep) []Value {
	var forms []Value
	if len(clauses) == 1 {
		for _, s := range clauses[0] {
			if s.test != nil {
				forms = append(forms, Form(symUntil, s.test))
				continue
			}
			p.assign(s.pattern, s.value, &forms)
		}
		return forms
	}
	bindings := NewListBuilder(p.cp.Call)
	var assignments, after []Value
	for _, clause := range clauses {
		assigned := false
		for _, s := range clause {
			switch {
			case s.test != nil && assigned:
				after = append(after, Form(symUntil, s.test))
				continue
			case s.test != nil:
				forms = append(forms, Form(symUntil, s.test))
				continue
			}
			assigned = true
			temporary := p.cp.Gensym("NEXT")
			bindings.Add(NewList(temporary, s.value))
			p.assign(s.pattern, temporary, &assignments)
		}
	}
	forms = append(forms, FormStar(symLet, NewList(assignments...), bindings.List()))
	return append(forms, after...)
}

// assign appends forms that store value into the variables of a pattern.
func (p *loopParser) assign(pattern, value Value, forms *[]Value) {
	p.cp.Descend(4)
	defer p.cp.Ascend(4)
	p.cp.Charge(4 * ConsBytes)
	switch x := pattern.(type) {
	case *Symbol:
		if x != Nil {
			*forms = append(*forms, Form(symSetq, x, value))
		}
	case *Cons:
		// The value may be a form: evaluate it once.
		rest := p.cp.Gensym("REST")
		var inner []Value
		p.take(x, rest, &inner)
		*forms = append(*forms, FormStar(symLet, NewList(inner...), NewList(NewList(rest, value))))
	default:
		p.fail("%s is not a variable", Sketch(pattern, formLength))
	}
}

func (p *loopParser) take(pattern *Cons, rest *Symbol, forms *[]Value) {
	p.cp.Descend(4)
	defer p.cp.Ascend(4)
	p.assign(pattern.Car, Form(symCar, rest), forms)
	switch tail := pattern.Cdr.(type) {
	case *Cons:
		*forms = append(*forms, Form(symSetq, rest, Form(symCdr, rest)))
		p.take(tail, rest, forms)
	case *Symbol:
		p.assign(tail, Form(symCdr, rest), forms)
	}
}

func (p *loopParser) patternNames(pattern Value, names *ListBuilder) {
	p.cp.Descend(4)
	defer p.cp.Ascend(4)
	p.cp.Charge(ConsBytes)
	switch x := pattern.(type) {
	case *Symbol:
		if x != Nil {
			names.Add(x)
		}
	case *Cons:
		p.patternNames(x.Car, names)
		p.patternNames(x.Cdr, names)
	}
}

// declare binds the variables of a pattern to nil, to be assigned in each round.
func (p *loopParser) declare(pattern Value, initial Value) {
	names := NewListBuilder(p.cp.Call)
	p.patternNames(pattern, &names)
	for list := names.List(); list != Nil; list = list.(*Cons).Cdr {
		p.bind(list.(*Cons).Car, initial, false)
	}
}

func (p *loopParser) forClause() iterator {
	pattern := p.next()
	p.typed()
	switch {
	case p.accept("IN"):
		return p.forIn(pattern, true)
	case p.accept("ON"):
		return p.forIn(pattern, false)
	case p.accept("ACROSS"):
		return p.forAcross(pattern)
	case p.accept("="):
		return p.forEquals(pattern)
	case p.accept("BEING"):
		return p.forBeing(pattern)
	}
	return p.forNumber(pattern)
}

// forIn is for x in list [by f], and on, which gives the tails.
func (p *loopParser) forIn(pattern Value, elements bool) iterator {
	tail := p.cp.Gensym("TAIL")
	p.bind(tail, p.next(), false)
	next := Form(symCdr, tail)
	if p.accept("BY") {
		step := p.cp.Gensym("STEP")
		p.bind(step, p.next(), false)
		next = Form(symFuncall, step, tail)
	}
	p.declare(pattern, Nil)
	end, value := Form(symEndp, tail), Form(symCar, tail)
	if !elements {
		end, value = Form(symAtom, tail), Value(tail)
	}
	// The tail moves on at once, so that no step depends on an earlier one and clauses
	// can be joined by and.
	round := []loopStep{{test: end}, {pattern: pattern, value: value}, {pattern: tail, value: next}}
	return iterator{first: round, later: round}
}

func (p *loopParser) forAcross(pattern Value) iterator {
	vector, index, length := p.cp.Gensym("VECTOR"), p.cp.Gensym("INDEX"), p.cp.Gensym("LENGTH")
	p.bind(vector, p.next(), false)
	p.bind(index, Integer(0), false)
	p.bind(length, Form(CL("LENGTH"), vector), false)
	p.declare(pattern, Nil)
	round := []loopStep{
		{test: Form(symGreaterEqual, index, length)},
		{pattern: pattern, value: Form(CL("AREF"), vector, index)},
		{pattern: index, value: Form(symPlus, index, Integer(1))},
	}
	return iterator{first: round, later: round}
}

func (p *loopParser) forEquals(pattern Value) iterator {
	value := p.next()
	p.declare(pattern, Nil)
	later := value
	if p.accept("THEN") {
		later = p.next()
	}
	return iterator{first: []loopStep{{pattern: pattern, value: value}}, later: []loopStep{{pattern: pattern, value: later}}}
}

// forBeing walks a hash table or a package.
func (p *loopParser) forBeing(pattern Value) iterator {
	p.accept("THE", "EACH")
	kind := p.word()
	p.next()
	source := Value(symPackage)
	switch {
	case p.accept("OF", "IN"):
		source = p.next()
	case !strings.Contains(kind, "SYMBOL"):
		p.fail("of is expected after %s", kind)
	}
	entries := p.cp.Gensym("ENTRIES")
	key, value := Value(Form(symCar, Form(symCar, entries))), Value(Form(symCdr, Form(symCar, entries)))
	var other Value
	switch kind {
	case "HASH-KEY", "HASH-KEYS", "HASH-VALUE", "HASH-VALUES":
		p.bind(entries, Form(symFuncall, Form(symQuote, tablePairs), source), false)
		if p.accept("USING") {
			parts := p.cp.Forms(p.next())
			if len(parts) != 2 {
				p.fail("using needs (hash-value v) or (hash-key k)")
			}
			other = parts[1]
		}
		if kind[5] == 'V' {
			key, value = value, key
		}
	case "SYMBOL", "SYMBOLS", "PRESENT-SYMBOL", "PRESENT-SYMBOLS", "EXTERNAL-SYMBOL", "EXTERNAL-SYMBOLS":
		p.bind(entries, Form(symFuncall, Form(symQuote, packageSymbols), source, Form(symQuote, walkOf(kind))), false)
		key = Form(symCar, entries)
	default:
		p.fail("%s cannot be walked", kind)
	}
	p.declare(pattern, Nil)
	round := []loopStep{{test: Form(symEndp, entries)}, {pattern: pattern, value: key}}
	if other != nil {
		p.declare(other, Nil)
		round = append(round, loopStep{pattern: other, value: value})
	}
	round = append(round, loopStep{pattern: entries, value: Form(symCdr, entries)})
	return iterator{first: round, later: round}
}

// forNumber is for i from a to b by c, in any order of its parts.
func (p *loopParser) forNumber(pattern Value) iterator {
	if pattern == Nil {
		pattern = p.cp.Gensym("INDEX")
	}
	start, limit, step := Value(Integer(0)), Value(nil), Value(Integer(1))
	var test *Symbol
	down := false
	hold := func(v Value) Value {
		if _, ok := v.(int64); ok {
			return v
		}
		name := p.cp.Gensym("LIMIT")
		p.bind(name, v, false)
		return name
	}
	any := false
	for ; ; any = true {
		switch {
		case p.accept("FROM", "UPFROM"):
			start = hold(p.next())
		case p.accept("DOWNFROM"):
			start, down = hold(p.next()), true
		case p.accept("TO", "UPTO"):
			limit, test = hold(p.next()), CL(">")
		case p.accept("BELOW"):
			limit, test = hold(p.next()), symGreaterEqual
		case p.accept("DOWNTO"):
			limit, test, down = hold(p.next()), symLess, true
		case p.accept("ABOVE"):
			limit, test, down = hold(p.next()), CL("<="), true
		case p.accept("BY"):
			step = hold(p.next())
		default:
			if !any {
				p.fail("%s is not a keyword of for", Sketch(Optional(p.rest, 0), formLength))
			}
			return p.numbers(pattern, start, limit, step, test, down)
		}
	}
}

func (p *loopParser) numbers(pattern, start, limit, step Value, test *Symbol, down bool) iterator {
	operator := symPlus
	if down {
		operator = symMinus
		if test == CL(">") {
			test = symLess
		}
	}
	p.declare(pattern, start)
	it := iterator{later: []loopStep{{pattern: pattern, value: Form(operator, pattern, step)}}}
	if _, ok := pattern.(*Symbol); !ok || pattern == Nil {
		it.first = []loopStep{{pattern: pattern, value: start}}
	}
	if test != nil {
		end := loopStep{test: Form(test, pattern, limit)}
		it.first, it.later = append(it.first, end), append(it.later, end)
	}
	return it
}
