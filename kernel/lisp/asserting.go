package lisp

var (
	symRestartCase = CL("RESTART-CASE")
	symSimpleType  = CL(simpleTypeErr)
)

// expandAssert tries the test again when the restart continue is taken.
func expandAssert(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	signal := Form(symError, NewString("The assertion ~S failed."), Form(symQuote, parts[0]))
	if len(parts) > 2 {
		signal = &Cons{Car: symError, Cdr: NewList(parts[2:]...)}
	}
	return Form(symForever, Form(symUntil, parts[0]), Form(symRestartCase, signal, NewList(symContinue, Nil, kwReport, NewString("Retry assertion."), Nil)))
}

// storing is the restart-case clause that stores a value into a place.
func storing(cp *Compiler, place Value) Value {
	value := cp.Gensym("VALUE")
	return NewList(symStoreValue, NewList(value), kwReport, NewString("Supply a new value."), Form(symSetf, place, value))
}

// storable reports that something can be stored into a place that is only to be checked.
func (cp *Compiler) storable(place Value) bool {
	switch x := place.(type) {
	case *Symbol:
		return x != Nil && x != T && !x.Keyword()
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			return false
		}
		return head.fixedFunction() == nil || cp.language.setters[head] != nil || cp.language.places[head] != nil
	}
	return false
}

// expandCheckType tests the place again when the restart store-value is taken, which is
// there for a place that can be stored into.
func expandCheckType(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 2, 3)
	described := Value(NewString("of type " + Sketch(parts[1], formLength)))
	if len(parts) == 3 {
		described = parts[2]
	}
	value := cp.Gensym("VALUE")
	signal := Form(symError, Form(symQuote, symSimpleType), kwDatum, value, kwExpectedType, Form(symQuote, parts[1]),
		kwFormatControl, NewString("The value of ~S is ~S, which is not ~A."), kwFormatArguments, Form(symList, Form(symQuote, parts[0]), value, described))
	if !cp.storable(parts[0]) {
		return Form(symLet, NewList(NewList(value, parts[0])), Form(symUnless, Form(symTypep, value, Form(symQuote, parts[1])), signal))
	}
	round := Form(symLet, NewList(NewList(value, parts[0])),
		Form(symUnless, Form(symTypep, value, Form(symQuote, parts[1])), Form(symRestartCase, signal, storing(cp, parts[0]))))
	return Form(symForever, Form(symUntil, Form(symTypep, parts[0], Form(symQuote, parts[1]))), round)
}

// retried is ccase or ctypecase: the exhaustive form over the value of a place, again
// and again until no new value is stored.
func (cp *Compiler) retried(form *Cons, exhaustive *Symbol) Value {
	parts := cp.Arguments(form, 1, -1)
	if !cp.storable(parts[0]) {
		return FormStar(exhaustive, form.Cdr.(*Cons).Cdr, parts[0])
	}
	block, value := cp.Gensym("BLOCK"), cp.Gensym("VALUE")
	keys := NewListBuilder(cp.Call)
	clauses := NewListBuilder(cp.Call)
	for _, part := range parts[1:] {
		clause := cp.Clause(part)
		clauses.Add(NewList(clause.Car, Form(symReturnFrom, block, &Cons{Car: symProgn, Cdr: clause.Cdr})))
		keys.Add(NewList(clause.Car))
	}
	// The clauses stand outside of the restart: it is for the failure alone.
	tried := cp.Gensym("MATCHES")
	matches := Form(CL("IGNORE-ERRORS"), Form(symProgn, FormStar(exhaustive, keys.List(), value), T))
	round := Form(symLet, NewList(NewList(value, parts[0])),
		Form(symLet, NewList(NewList(tried, matches)),
			Form(symIf, tried, FormStar(exhaustive, clauses.List(), value),
				Form(symRestartCase, FormStar(exhaustive, keys.List(), value), storing(cp, parts[0])))))
	return Form(symBlock, block, Form(symForever, round))
}
