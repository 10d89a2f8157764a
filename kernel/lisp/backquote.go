package lisp

// compileQuasiquote compiles a backquoted form into calls that build it.
func compileQuasiquote(cp *Compiler, form *Cons, sc *scope) expression {
	return cp.compile(cp.quasiquote(cp.Arguments(form, 1, 1)[0], 1), sc)
}

func compileUnquote(cp *Compiler, form *Cons, _ *scope) expression {
	cp.Fail(readerError, "a comma is not inside a backquote: %s", Sketch(form, formLength))
	return expression{}
}

// marked returns the operand of (operator operand).
func marked(v Value, operator *Symbol) (Value, bool) {
	cell, ok := v.(*Cons)
	if !ok || cell.Car != operator {
		return nil, false
	}
	rest, ok := cell.Cdr.(*Cons)
	if !ok || rest.Cdr != Nil {
		return nil, false
	}
	return rest.Car, true
}

// operands returns those of (operator operand…): one as it is written, and as many as
// the inner comma spliced in where two were nested, as in `(… `(… ,,@list)).
func (cp *Compiler) operands(v Value, operator *Symbol) ([]Value, bool) {
	cell, ok := v.(*Cons)
	if !ok || cell.Car != operator {
		return nil, false
	}
	return cp.Forms(cell.Cdr), true
}

// laterUnquote builds a comma that belongs to an outer backquote, of operands that this
// one may have something to fill into.
func (cp *Compiler) laterUnquote(operator *Symbol, operands []Value, level int) Value {
	return Form(symAppend, Form(symList, Form(symQuote, operator)), cp.quasiquoteList(NewList(operands...), level-1))
}

// quasiquote returns a form that builds template; level counts backquotes around it.
func (cp *Compiler) quasiquote(template Value, level int) Value {
	cp.Step()
	cp.Descend(4)
	defer cp.Ascend(4)
	if inner, ok := marked(template, symUnquote); ok && level == 1 {
		return inner
	}
	if operands, ok := cp.operands(template, symUnquote); ok && level > 1 {
		return cp.laterUnquote(symUnquote, operands, level)
	}
	if inner, ok := marked(template, symQuasiquote); ok {
		return Form(symList, Form(symQuote, symQuasiquote), cp.quasiquote(inner, level+1))
	}
	switch x := template.(type) {
	case *Cons:
		return cp.quasiquoteList(x, level)
	case *Vector:
		return Form(symCoerce, cp.quasiquote(NewList(x.elements...), level), Form(symQuote, symVector))
	case *Symbol:
		if x == Nil || x == T || x.Keyword() {
			return x
		}
		return Form(symQuote, x)
	}
	return template
}

// quasiquoteList builds a list from its parts: single elements are consed, spliced ones
// appended, and constant parts quoted whole.
func (cp *Compiler) quasiquoteList(list Value, level int) Value {
	if cp.plainData(list) {
		return Form(symQuote, list)
	}
	var parts []Value
	var pending []Value
	flush := func() {
		if len(pending) > 0 {
			parts = append(parts, &Cons{Car: symList, Cdr: NewList(pending...)})
			pending = nil
		}
	}
	rest := list
	for {
		cell, ok := rest.(*Cons)
		if !ok {
			break
		}
		cp.Charge(ConsBytes)
		if _, ok := marked(cell, symUnquote); ok {
			break // `(a . ,b)
		}
		if _, ok := marked(cell, symQuasiquote); ok {
			break
		}
		if operands, ok := cp.operands(cell.Car, symUnquoteSplicing); ok && level == 1 {
			flush()
			parts = append(parts, operands...)
		} else if ok {
			pending = append(pending, cp.laterUnquote(symUnquoteSplicing, operands, level))
		} else if operands, ok := cp.operands(cell.Car, symUnquote); ok && level == 1 {
			pending = append(pending, operands...)
		} else {
			pending = append(pending, cp.quasiquote(cell.Car, level))
		}
		rest = cell.Cdr
	}
	if rest == Nil && len(parts) == 0 {
		return &Cons{Car: symList, Cdr: NewList(pending...)}
	}
	flush()
	if rest != Nil {
		parts = append(parts, cp.quasiquote(rest, level))
	}
	if len(parts) == 1 && rest == Nil {
		// One spliced part: shared as it is.
		return parts[0]
	}
	return &Cons{Car: symAppend, Cdr: NewList(parts...)}
}

// plainData reports that nothing in a template is evaluated.
func (cp *Compiler) plainData(v Value) bool {
	cp.Descend(2)
	defer cp.Ascend(2)
	for {
		cp.Step()
		switch x := v.(type) {
		case *Symbol:
			return x != symUnquote && x != symUnquoteSplicing && x != symQuasiquote
		case *Vector:
			for _, element := range x.elements {
				if !cp.plainData(element) {
					return false
				}
			}
			return true
		case *Cons:
			if !cp.plainData(x.Car) {
				return false
			}
			v = x.Cdr
		default:
			return true
		}
	}
}
