package lisp

var (
	symRestartCase = standardSymbol("RESTART-CASE")
	symSimpleType  = standardSymbol(simpleTypeErr)
)

// expandAssert tries the test again when the restart continue is taken.
func expandAssert(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	signal := call(symError, NewString("The assertion ~S failed."), call(symQuote, parts[0]))
	if len(parts) > 2 {
		signal = &Cons{Car: symError, Cdr: NewList(parts[2:]...)}
	}
	return call(symForever, call(symUntil, parts[0]), call(symRestartCase, signal, NewList(symContinue, Nil, kwReport, NewString("Retry assertion."), Nil)))
}

// storing is the restart-case clause that stores a value into a place.
func storing(cp *compiler, place Value) Value {
	value := cp.gensym("VALUE")
	return NewList(symStoreValue, NewList(value), kwReport, NewString("Supply a new value."), call(symSetf, place, value))
}

// storable reports that something can be stored into a place that is only to be checked.
func (cp *compiler) storable(place Value) bool {
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
func expandCheckType(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 2, 3)
	described := Value(NewString("of type " + sketch(parts[1], formLength)))
	if len(parts) == 3 {
		described = parts[2]
	}
	value := cp.gensym("VALUE")
	signal := call(symError, call(symQuote, symSimpleType), kwDatum, value, kwExpectedType, call(symQuote, parts[1]),
		kwFormatControl, NewString("The value of ~S is ~S, which is not ~A."), kwFormatArguments, call(symList, call(symQuote, parts[0]), value, described))
	if !cp.storable(parts[0]) {
		return call(symLet, NewList(NewList(value, parts[0])), call(symUnless, call(symTypep, value, call(symQuote, parts[1])), signal))
	}
	round := call(symLet, NewList(NewList(value, parts[0])),
		call(symUnless, call(symTypep, value, call(symQuote, parts[1])), call(symRestartCase, signal, storing(cp, parts[0]))))
	return call(symForever, call(symUntil, call(symTypep, parts[0], call(symQuote, parts[1]))), round)
}

// retried is ccase or ctypecase: the exhaustive form over the value of a place, again
// and again until no new value is stored.
func (cp *compiler) retried(form *Cons, exhaustive *Symbol) Value {
	parts := cp.arguments(form, 1, -1)
	if !cp.storable(parts[0]) {
		return callStar(exhaustive, form.Cdr.(*Cons).Cdr, parts[0])
	}
	block, value := cp.gensym("BLOCK"), cp.gensym("VALUE")
	var keys, clauses builder
	for _, part := range parts[1:] {
		clause := cp.clause(part)
		clauses.add(NewList(clause.Car, call(symReturnFrom, block, &Cons{Car: symProgn, Cdr: clause.Cdr})))
		keys.add(NewList(clause.Car))
	}
	// The clauses stand outside of the restart: it is for the failure alone.
	tried := cp.gensym("MATCHES")
	matches := call(standardSymbol("IGNORE-ERRORS"), call(symProgn, callStar(exhaustive, keys.list(), value), T))
	round := call(symLet, NewList(NewList(value, parts[0])),
		call(symLet, NewList(NewList(tried, matches)),
			call(symIf, tried, callStar(exhaustive, clauses.list(), value),
				call(symRestartCase, callStar(exhaustive, keys.list(), value), storing(cp, parts[0])))))
	return call(symBlock, block, call(symForever, round))
}
