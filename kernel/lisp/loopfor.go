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
				forms = append(forms, call(symUntil, s.test))
				continue
			}
			p.assign(s.pattern, s.value, &forms)
		}
		return forms
	}
	var bindings builder
	var assignments, after []Value
	for _, clause := range clauses {
		assigned := false
		for _, s := range clause {
			switch {
			case s.test != nil && assigned:
				after = append(after, call(symUntil, s.test))
				continue
			case s.test != nil:
				forms = append(forms, call(symUntil, s.test))
				continue
			}
			assigned = true
			temporary := p.cp.gensym("NEXT")
			bindings.add(NewList(temporary, s.value))
			p.assign(s.pattern, temporary, &assignments)
		}
	}
	forms = append(forms, callStar(symLet, NewList(assignments...), bindings.list()))
	return append(forms, after...)
}

// assign appends forms that store value into the variables of a pattern.
func (p *loopParser) assign(pattern, value Value, forms *[]Value) {
	p.cp.descend(4)
	defer p.cp.ascend(4)
	p.cp.charge(4 * consBytes)
	switch x := pattern.(type) {
	case *Symbol:
		if x != Nil {
			*forms = append(*forms, call(symSetq, x, value))
		}
	case *Cons:
		// The value may be a form: evaluate it once.
		rest := p.cp.gensym("REST")
		var inner []Value
		p.take(x, rest, &inner)
		*forms = append(*forms, callStar(symLet, NewList(inner...), NewList(NewList(rest, value))))
	default:
		p.fail("%s is not a variable", sketch(pattern, formLength))
	}
}

func (p *loopParser) take(pattern *Cons, rest *Symbol, forms *[]Value) {
	p.cp.descend(4)
	defer p.cp.ascend(4)
	p.assign(pattern.Car, call(symCar, rest), forms)
	switch tail := pattern.Cdr.(type) {
	case *Cons:
		*forms = append(*forms, call(symSetq, rest, call(symCdr, rest)))
		p.take(tail, rest, forms)
	case *Symbol:
		p.assign(tail, call(symCdr, rest), forms)
	}
}

func (p *loopParser) patternNames(pattern Value, names *builder) {
	p.cp.descend(4)
	defer p.cp.ascend(4)
	p.cp.charge(consBytes)
	switch x := pattern.(type) {
	case *Symbol:
		if x != Nil {
			names.add(x)
		}
	case *Cons:
		p.patternNames(x.Car, names)
		p.patternNames(x.Cdr, names)
	}
}

// declare binds the variables of a pattern to nil, to be assigned in each round.
func (p *loopParser) declare(pattern Value, initial Value) {
	var names builder
	p.patternNames(pattern, &names)
	for list := names.list(); list != Nil; list = list.(*Cons).Cdr {
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
	tail := p.cp.gensym("TAIL")
	p.bind(tail, p.next(), false)
	next := call(symCdr, tail)
	if p.accept("BY") {
		step := p.cp.gensym("STEP")
		p.bind(step, p.next(), false)
		next = call(symFuncall, step, tail)
	}
	p.declare(pattern, Nil)
	end, value := call(symEndp, tail), call(symCar, tail)
	if !elements {
		end, value = call(symAtom, tail), Value(tail)
	}
	// The tail moves on at once, so that no step depends on an earlier one and clauses
	// can be joined by and.
	round := []loopStep{{test: end}, {pattern: pattern, value: value}, {pattern: tail, value: next}}
	return iterator{first: round, later: round}
}

func (p *loopParser) forAcross(pattern Value) iterator {
	vector, index, length := p.cp.gensym("VECTOR"), p.cp.gensym("INDEX"), p.cp.gensym("LENGTH")
	p.bind(vector, p.next(), false)
	p.bind(index, Integer(0), false)
	p.bind(length, call(standardSymbol("LENGTH"), vector), false)
	p.declare(pattern, Nil)
	round := []loopStep{
		{test: call(symGreaterEqual, index, length)},
		{pattern: pattern, value: call(standardSymbol("AREF"), vector, index)},
		{pattern: index, value: call(symPlus, index, Integer(1))},
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
	entries := p.cp.gensym("ENTRIES")
	key, value := Value(call(symCar, call(symCar, entries))), Value(call(symCdr, call(symCar, entries)))
	var other Value
	switch kind {
	case "HASH-KEY", "HASH-KEYS", "HASH-VALUE", "HASH-VALUES":
		p.bind(entries, call(symFuncall, call(symQuote, tablePairs), source), false)
		if p.accept("USING") {
			parts := p.cp.forms(p.next())
			if len(parts) != 2 {
				p.fail("using needs (hash-value v) or (hash-key k)")
			}
			other = parts[1]
		}
		if kind[5] == 'V' {
			key, value = value, key
		}
	case "SYMBOL", "SYMBOLS", "PRESENT-SYMBOL", "PRESENT-SYMBOLS", "EXTERNAL-SYMBOL", "EXTERNAL-SYMBOLS":
		p.bind(entries, call(symFuncall, call(symQuote, packageSymbols), source, call(symQuote, walkOf(kind))), false)
		key = call(symCar, entries)
	default:
		p.fail("%s cannot be walked", kind)
	}
	p.declare(pattern, Nil)
	round := []loopStep{{test: call(symEndp, entries)}, {pattern: pattern, value: key}}
	if other != nil {
		p.declare(other, Nil)
		round = append(round, loopStep{pattern: other, value: value})
	}
	round = append(round, loopStep{pattern: entries, value: call(symCdr, entries)})
	return iterator{first: round, later: round}
}

// forNumber is for i from a to b by c, in any order of its parts.
func (p *loopParser) forNumber(pattern Value) iterator {
	if pattern == Nil {
		pattern = p.cp.gensym("INDEX")
	}
	start, limit, step := Value(Integer(0)), Value(nil), Value(Integer(1))
	var test *Symbol
	down := false
	hold := func(v Value) Value {
		if _, ok := v.(int64); ok {
			return v
		}
		name := p.cp.gensym("LIMIT")
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
			limit, test = hold(p.next()), standardSymbol(">")
		case p.accept("BELOW"):
			limit, test = hold(p.next()), symGreaterEqual
		case p.accept("DOWNTO"):
			limit, test, down = hold(p.next()), symLess, true
		case p.accept("ABOVE"):
			limit, test, down = hold(p.next()), standardSymbol("<="), true
		case p.accept("BY"):
			step = hold(p.next())
		default:
			if !any {
				p.fail("%s is not a keyword of for", sketch(optional(p.rest, 0), formLength))
			}
			return p.numbers(pattern, start, limit, step, test, down)
		}
	}
}

func (p *loopParser) numbers(pattern, start, limit, step Value, test *Symbol, down bool) iterator {
	operator := symPlus
	if down {
		operator = symMinus
		if test == standardSymbol(">") {
			test = symLess
		}
	}
	p.declare(pattern, start)
	it := iterator{later: []loopStep{{pattern: pattern, value: call(operator, pattern, step)}}}
	if _, ok := pattern.(*Symbol); !ok || pattern == Nil {
		it.first = []loopStep{{pattern: pattern, value: start}}
	}
	if test != nil {
		end := loopStep{test: call(test, pattern, limit)}
		it.first, it.later = append(it.first, end), append(it.later, end)
	}
	return it
}
