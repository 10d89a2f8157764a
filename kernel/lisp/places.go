package lisp

import (
	"strings"
)

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

// Gensym makes a symbol for an expansion, which nothing else can name.
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

// placeForms are the operators that store into places and say how it is done.
func placeForms() []standardForm {
	return []standardForm{
		{"setf", "(&rest pairs)", "Store values into places, in order.", compileSetf},
		{"defsetf", "(access update-or-lambda-list &body body)", "Say how setf stores into (access …).", compileDefsetf},
		{"define-setf-expander", "(access lambda-list &body body)", "Say how setf takes (access …) apart.", compileDefineSetfExpander},
		{"%modify", "(place function &rest arguments)", "Store what a function makes of a place.", compileModify},
	}
}

// placeFunctions look into places.
func placeFunctions() []Builtin {
	return []Builtin{
		{Name: "get-setf-expansion", LambdaList: "(place &optional environment)", Doc: "Temporaries, their values, store variables, the form that stores, the form that reads.", Many: true, Named: func(c *Call, args Args) Value {
			p := c.newCompiler("").expandPlace(args.Get("place"), c.scopeArgument(args.Get("environment")))
			temporaries := NewListBuilder(c)
			stores := NewListBuilder(c)
			for _, temporary := range p.temporaries {
				temporaries.Add(temporary)
			}
			for _, store := range p.stores {
				stores.Add(store)
			}
			return c.Values(temporaries.List(), c.NewList(p.values), stores.List(), p.write, p.read)
		}},
	}
}

// compileDefsetf handles the short form, which names a function, and the long one,
// whose body makes the storing form.
func compileDefsetf(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g := cp.unfrozen(cp.TakeSymbol(parts[0]))
	if updater, ok := parts[1].(*Symbol); ok && updater != Nil {
		cp.Arguments(form, 2, 3)
		return simple(func(*Call, *frame) Value {
			if len(parts) > 2 {
				g.document(symSetf, parts[2])
			}
			g.place = func(cp *Compiler, form *Cons, args []Value, _ *scope) *place {
				p := &place{}
				stand := p.temporize(cp, args)
				store := cp.Gensym("NEW")
				p.stores = []*Symbol{store}
				p.write = FormStar(updater, NewList(append(stand[:len(stand):len(stand)], store)...))
				p.read = &Cons{Car: form.Car, Cdr: NewList(stand...)}
				return p
			}
			return g.symbol
		})
	}
	cp.Arguments(form, 3, -1)
	stores := cp.Forms(parts[2])
	// The expander takes a list of the store variables first, then the arguments.
	rest := form.Cdr.(*Cons).Cdr.(*Cons)
	list := &Cons{Car: NewList(stores...), Cdr: rest.Car}
	if len(stores) == 0 {
		list.Car = cp.Gensym("NONE")
	}
	function := cp.compileLambda(g.symbol.name, &Cons{Car: list, Cdr: rest.Cdr.(*Cons).Cdr}, sc, lambdaKind{block: g.symbol, macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.document(symSetf, c.docOf(fn.doc))
		g.place = func(cp *Compiler, form *Cons, args []Value, sc *scope) *place {
			p := &place{}
			stand := p.temporize(cp, args)
			news := NewListBuilder(cp.Call)
			for range stores {
				store := cp.Gensym("NEW")
				p.stores = append(p.stores, store)
				news.Add(store)
			}
			p.write = cp.expandIn(&macro{function: fn}, FormStar(form.Car, NewList(stand...), news.List()).(*Cons), sc)
			p.read = &Cons{Car: form.Car, Cdr: NewList(stand...)}
			return p
		}
		return g.symbol
	})
}

// compileDefineSetfExpander compiles a function of the place's arguments that returns
// the five parts of a setf expansion.
func compileDefineSetfExpander(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g := cp.unfrozen(cp.TakeSymbol(parts[0]))
	function := cp.compileLambda(g.symbol.name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: g.symbol, macro: true, values: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.place = func(cp *Compiler, form *Cons, _ []Value, sc *scope) *place {
			outer := cp.around
			cp.around = sc
			results := every(cp.apply(fn, []Value{form}))
			cp.around = outer
			if len(results) < 5 {
				cp.Fail(ProgramError, "the setf expander of %s returned %d values instead of five", g.symbol.name, len(results))
			}
			p := &place{values: cp.Slice(results[1]), write: results[3], read: results[4]}
			for _, temporary := range cp.Slice(results[0]) {
				p.temporaries = append(p.temporaries, cp.TakeSymbol(temporary))
			}
			for _, store := range cp.Slice(results[2]) {
				p.stores = append(p.stores, cp.TakeSymbol(store))
			}
			if len(p.values) != len(p.temporaries) {
				cp.Fail(ProgramError, "the setf expander of %s returned temporaries without values", g.symbol.name)
			}
			return p
		}
		return g.symbol
	})
}

// compileModify compiles (modify place function argument…), what macros of
// define-modify-macro stand for: the place is evaluated once.
func compileModify(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	p := cp.expandPlace(parts[0], sc)
	return cp.compile(p.storing(FormStar(parts[1], NewList(parts[2:]...), p.read)), sc)
}

// standardSetters are the functions behind setf: they take the new value first, then
// what the function of the same name takes.
func standardSetters() map[string]*Function {
	setters := map[string]func(c *Call, args []Value) Value{
		"car":     func(c *Call, args []Value) Value { c.cell(args[1]).Car = args[0]; return args[0] },
		"cdr":     func(c *Call, args []Value) Value { c.cell(args[1]).Cdr = args[0]; return args[0] },
		"rest":    func(c *Call, args []Value) Value { c.cell(args[1]).Cdr = args[0]; return args[0] },
		"nth":     func(c *Call, args []Value) Value { c.cell(c.nthcdr(args[1], args[2])).Car = args[0]; return args[0] },
		"elt":     func(c *Call, args []Value) Value { c.setElement(args[1], c.Index(args[2]), args[0]); return args[0] },
		"gethash": func(c *Call, args []Value) Value { c.HashTable(args[2]).put(c, args[1], args[0]); return args[0] },
		"symbol-value": func(c *Call, args []Value) Value {
			c.setSpecial(c.environment.global(c.TakeSymbol(args[1])), args[0])
			return args[0]
		},
		"symbol-function": setFunctionOf,
		"fdefinition":     setFunctionOf,
		"macro-function":  setMacroFunction,
		"compiler-macro-function": func(c *Call, args []Value) Value {
			g := c.unfrozen(c.TakeSymbol(args[1]))
			if g.compilerMacro = nil; args[0] != Nil {
				g.compilerMacro = c.Function(args[0])
			}
			return args[0]
		},
		"symbol-plist": func(c *Call, args []Value) Value {
			c.environment.global(c.TakeSymbol(args[1])).plist = args[0]
			return args[0]
		},
		"fill-pointer": func(c *Call, args []Value) Value { c.setFillPointer(args[1], c.Index(args[0])); return args[0] },
		"slot-value":   setSlotValue,
		"class-name": func(c *Call, args []Value) Value {
			class := c.namedClass(args[1])
			if c.environment.language.classes[class.name] == class {
				c.Fail(packageError, "%s belongs to Common Lisp and cannot be renamed", class.name.name)
			}
			class.name = c.TakeSymbol(args[0])
			return class.name
		},
		"find-class": func(c *Call, args []Value) Value {
			name := c.unfrozen(c.TakeSymbol(args[1])).symbol
			if args[0] == Nil {
				delete(c.environment.classes, name)
			} else {
				c.environment.classes[name] = c.namedClass(args[0])
			}
			return args[0]
		},
		"readtable-case": setReadtableCase,
		"subseq":         setSubseq,
		"documentation": func(c *Call, args []Value) Value {
			if p, ok := args[1].(*Package); ok {
				c.changeable(p).doc = args[0]
				return args[0]
			}
			c.environment.global(c.TakeSymbol(args[1])).document(c.TakeSymbol(Optional(args, 2)), args[0])
			return args[0]
		},
		"row-major-aref": func(c *Call, args []Value) Value {
			c.setArrayElement(args[1], c.Index(args[2]), args[0])
			return args[0]
		},
		"aref":  setAref,
		"svref": setAref,
		"char":  setAref,
		"schar": setAref,
		"bit":   setBit,
		"sbit":  setBit,
		"get": func(c *Call, args []Value) Value {
			g := c.environment.global(c.TakeSymbol(args[1]))
			g.plist = putf(c, []Value{g.plist, args[2], args[0]})
			return args[0]
		},
	}
	for i, name := range ordinals {
		setters[name] = setNth(i)
	}
	for _, steps := range paths {
		follow := path(steps[1:])
		car := steps[0] == 'a'
		setters["c"+steps+"r"] = func(c *Call, args []Value) Value {
			cell := c.cell(follow(c, args[1]))
			if car {
				cell.Car = args[0]
			} else {
				cell.Cdr = args[0]
			}
			return args[0]
		}
	}
	table := map[string]*Function{}
	for name, call := range setters {
		table[name] = &Function{name: "(SETF " + strings.ToUpper(name) + ")", call: call}
	}
	return table
}

func setNth(n int) func(c *Call, args []Value) Value {
	return func(c *Call, args []Value) Value {
		c.cell(c.nthcdr(Count(n), args[1])).Car = args[0]
		return args[0]
	}
}

func setFunctionOf(c *Call, args []Value) Value {
	fn := c.Function(args[0])
	if name, ok := setfName(args[1]); ok {
		c.environment.global(name).setter = fn
		return fn
	}
	c.definable(c.TakeSymbol(args[1])).function = fn
	return fn
}

func setMacroFunction(c *Call, args []Value) Value {
	fn, g := c.Function(args[0]), c.definable(c.TakeSymbol(args[1]))
	g.macro = &macro{name: g.symbol.name, expand: func(cp *Compiler, form *Cons) Value {
		return Single(cp.apply(fn, []Value{form, Nil}))
	}}
	return fn
}

func setAref(c *Call, args []Value) Value {
	c.setArrayElement(args[1], c.rowMajor(args[1], args[2:]), args[0])
	return args[0]
}

func setBit(c *Call, args []Value) Value {
	c.element(bitElements, args[0])
	return setAref(c, args)
}

func setSubseq(c *Call, args []Value) Value {
	replacement := append([]Value(nil), c.Elements(args[0])...)
	from, to := c.Bounds(args[2], Optional(args, 3), c.Length(args[1]))
	c.store(args[1], from, replacement[:min(len(replacement), to-from)])
	return args[0]
}
