package lisp

// place is a setf place, taken apart so that its subforms are evaluated once.
type place struct {
	// temporaries are bound to values, in order, by let*.
	temporaries []*Symbol
	values      []Value
	// stores are the variables the new values are in.
	stores []*Symbol
	// write is the form that stores, read the form that gives the present value.
	write, read Value
}

// placeExpander takes a place form apart; args are its arguments.
type placeExpander func(cp *Compiler, form *Cons, args []Value, sc *scope) *place

func (cp *Compiler) Gensym(prefix string) *Symbol { return &Symbol{name: prefix} }

// expandPlace is get-setf-expansion.
func (cp *Compiler) expandPlace(form Value, sc *scope) *place {
	cp.Step()
	cp.Descend(8)
	defer cp.Ascend(8)
	switch x := form.(type) {
	case *Symbol:
		if cp.symbolMacro(x, sc) {
			if v, _, ok := sc.variable(x); ok {
				return cp.expandPlace(v.expansion, sc)
			}
			return cp.expandPlace(cp.environment.global(x).expansion, sc)
		}
		store := cp.Gensym("NEW")
		return &place{stores: []*Symbol{store}, write: NewList(symSetq, x, store), read: x}
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			break
		}
		if local, _, ok := sc.function(head); ok {
			if local.macro == nil {
				return cp.functionPlace(head, cp.Forms(x.Cdr), sc)
			}
			return cp.expandPlace(cp.expandIn(local.macro, x, sc), sc)
		}
		if expander, ok := cp.language.places[head]; ok {
			return expander(cp, x, cp.Forms(x.Cdr), sc)
		}
		if expander := cp.environment.global(head).place; expander != nil {
			return expander(cp, x, cp.Forms(x.Cdr), sc)
		}
		if m := cp.environment.macro(head); m != nil {
			return cp.expandPlace(cp.expandIn(m, x, sc), sc)
		}
		return cp.functionPlace(head, cp.Forms(x.Cdr), sc)
	}
	cp.Fail(ProgramError, "%s is not a place that setf can store into", Sketch(form, formLength))
	return nil
}

// functionPlace stores by calling (setf name).
func (cp *Compiler) functionPlace(name *Symbol, args []Value, sc *scope) *place {
	p := &place{}
	temporaries := p.temporize(cp, args)
	store := cp.Gensym("NEW")
	p.stores = []*Symbol{store}
	setter := NewList(symFunction, NewList(symSetf, name))
	if _, _, hidden := sc.function(NewList(symSetf, name)); hidden || cp.language.setters[name] == nil {
		if _, _, local := sc.function(NewList(symSetf, name)); !local && cp.environment.global(name).setter == nil {
			cp.environment.refer(reference{symbol: name, setter: true, arguments: -1, at: cp.site(NewList(symSetf, name)), function: cp.functionName()})
		}
	} else {
		setter = NewList(symQuote, cp.language.setters[name])
	}
	p.write = &Cons{Car: symFuncall, Cdr: &Cons{Car: setter, Cdr: &Cons{Car: store, Cdr: NewList(temporaries...)}}}
	p.read = &Cons{Car: name, Cdr: NewList(temporaries...)}
	return p
}

// temporize binds each argument to a temporary, constants excepted, and returns what
// stands for the arguments now.
func (p *place) temporize(cp *Compiler, args []Value) []Value {
	stand := make([]Value, len(args))
	for i, arg := range args {
		switch x := arg.(type) {
		case *Symbol:
			if x.Keyword() || x == Nil || x == T {
				stand[i] = x
				continue
			}
		case *Cons:
			if x.Car == symQuote || x.Car == symFunction {
				stand[i] = x
				continue
			}
		default:
			stand[i] = arg
			continue
		}
		temporary := cp.Gensym("ARG")
		p.temporaries = append(p.temporaries, temporary)
		p.values = append(p.values, arg)
		stand[i] = temporary
	}
	return stand
}

// around wraps form in the bindings of the temporaries.
func (p *place) around(form Value) Value {
	var bindings []Value
	for i, temporary := range p.temporaries {
		bindings = append(bindings, NewList(temporary, p.values[i]))
	}
	if len(bindings) == 0 {
		return form
	}
	return NewList(symLetStar, NewList(bindings...), form)
}

// storing binds the store variables to the values of a form and writes.
func (p *place) storing(value Value) Value { return p.around(p.bound(value, p.write)) }

// bound evaluates forms with the store variables bound to the values of a form.
func (p *place) bound(value Value, forms ...Value) Value {
	return bindValues(p.stores, value, forms...)
}

func bindValues(variables []*Symbol, value Value, forms ...Value) Value {
	if len(variables) == 1 {
		return FormStar(symLet, NewList(forms...), NewList(NewList(variables[0], value)))
	}
	var names ListBuilder
	for _, variable := range variables {
		names.Add(variable)
	}
	return FormStar(symMVBind, NewList(forms...), names.List(), value)
}

// compileSetf compiles the pairs of a setf.
func compileSetf(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Forms(form.Cdr)
	if len(parts)%2 != 0 {
		cp.Fail(ProgramError, "setf needs pairs of a place and a value: %s", Sketch(form, formLength))
	}
	result := constant(Nil)
	var steps []code
	for i := 0; i < len(parts); i += 2 {
		result = cp.compileStore(parts[i], parts[i+1], sc)
		steps = append(steps, result.run)
	}
	if len(steps) <= 1 {
		return result
	}
	return expression{many: result.many, run: func(c *Call, f *frame) Value {
		v := Value(Nil)
		for _, step := range steps {
			v = step(c, f)
		}
		return v
	}}
}

// symbolMacro reports that a symbol stands for a form.
func (cp *Compiler) symbolMacro(symbol *Symbol, sc *scope) bool {
	if v, _, ok := sc.variable(symbol); ok {
		return v.expansion != nil
	}
	return cp.environment.global(symbol).expansion != nil
}

func (cp *Compiler) compileStore(target, value Value, sc *scope) expression {
	if symbol, ok := target.(*Symbol); ok && !cp.symbolMacro(symbol, sc) {
		return compileSetq(cp, NewList(symSetq, symbol, value).(*Cons), sc)
	}
	return cp.compile(cp.expandPlace(target, sc).storing(value), sc)
}

// standardPlaces are the places that need more than a setter function.
func standardPlaces() map[string]placeExpander {
	return map[string]placeExpander{
		"GETF":   getfPlace,
		"VALUES": valuesPlace,
		"THE": func(cp *Compiler, _ *Cons, args []Value, sc *scope) *place {
			if len(args) != 2 {
				cp.Fail(ProgramError, "the needs a type and a form")
			}
			return cp.expandPlace(args[1], sc)
		},
		"APPLY":      applyPlace,
		"LDB":        bytePlace(CL("DPB")),
		"MASK-FIELD": bytePlace(CL("DEPOSIT-FIELD")),
	}
}

// getfPlace reads the list from an inner place and writes the changed list back.
func getfPlace(cp *Compiler, _ *Cons, args []Value, sc *scope) *place {
	if len(args) < 2 || len(args) > 3 {
		cp.Fail(ProgramError, "getf needs a place and an indicator")
	}
	inner := cp.expandPlace(args[0], sc)
	p := &place{temporaries: inner.temporaries, values: inner.values}
	rest := p.temporize(cp, args[1:])
	store := cp.Gensym("NEW")
	p.stores = []*Symbol{store}
	changed := NewList(symFuncall, NewList(symQuote, cp.language.putf), inner.read, rest[0], store)
	p.write = NewList(symLet, NewList(NewList(inner.stores[0], changed)), inner.write, store)
	p.read = &Cons{Car: symGetf, Cdr: &Cons{Car: inner.read, Cdr: NewList(rest...)}}
	return p
}

// bytePlace stores into bits of the integer in an inner place.
func bytePlace(deposit *Symbol) placeExpander {
	return func(cp *Compiler, form *Cons, args []Value, sc *scope) *place {
		if len(args) != 2 {
			cp.Fail(ProgramError, "malformed place %s", Sketch(form, formLength))
		}
		p := &place{}
		bits := p.temporize(cp, args[:1])
		inner := cp.expandPlace(args[1], sc)
		p.temporaries, p.values = append(p.temporaries, inner.temporaries...), append(p.values, inner.values...)
		store := cp.Gensym("NEW")
		p.stores = []*Symbol{store}
		p.write = inner.bound(Form(deposit, store, bits[0], inner.read), inner.write, store)
		p.read = Form(form.Car, bits[0], inner.read)
		return p
	}
}

func valuesPlace(cp *Compiler, _ *Cons, args []Value, sc *scope) *place {
	p := &place{}
	writes, reads := NewListBuilder(cp.Call), NewListBuilder(cp.Call)
	writes.Add(symValues)
	reads.Add(symValues)
	for _, arg := range args {
		inner := cp.expandPlace(arg, sc)
		p.temporaries = append(p.temporaries, inner.temporaries...)
		p.values = append(p.values, inner.values...)
		p.stores = append(p.stores, inner.stores[0])
		write := inner.write
		if len(inner.stores) > 1 {
			rest := &place{stores: inner.stores[1:]}
			write = rest.bound(Form(symValues), inner.write)
		}
		writes.Add(write)
		reads.Add(inner.read)
	}
	p.write, p.read = writes.List(), reads.List()
	return p
}

// applyPlace is (apply #'name … list), which stores by applying #'(setf name).
func applyPlace(cp *Compiler, _ *Cons, args []Value, sc *scope) *place {
	parts, ok := Slice(Optional(args, 0), 3)
	if !ok || len(parts) != 2 || parts[0] != symFunction {
		cp.Fail(ProgramError, "setf of apply needs #'name")
	}
	name := cp.TakeSymbol(parts[1])
	p := cp.functionPlace(name, nil, sc)
	rest := p.temporize(cp, args[1:])
	setter := p.write.(*Cons).Cdr.(*Cons).Car
	p.write = &Cons{Car: symApply, Cdr: &Cons{Car: setter, Cdr: &Cons{Car: p.stores[0], Cdr: NewList(rest...)}}}
	p.read = &Cons{Car: symApply, Cdr: &Cons{Car: args[0], Cdr: NewList(rest...)}}
	return p
}
