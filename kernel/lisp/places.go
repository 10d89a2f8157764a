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
func (cp *Compiler) Gensym(prefix string) *Symbol { return Allocate(cp.Call, Symbol{name: prefix}) }

// expandPlace is get-setf-expansion.
func (cp *Compiler) expandPlace(form Value, sc *scope) *place {
	cp.Descend(8)
	defer cp.Ascend(8)
	switch x := form.(type) {
	case *Symbol:
		if cp.symbolMacro(x, sc) {
			if v, _, ok := sc.variable(x); ok {
				return cp.expandPlace(v.expansion, sc)
			}
			return cp.expandPlace(cp.global(x).expansion, sc)
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
		if expander := cp.global(head).place; expander != nil {
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
		if _, _, local := sc.function(NewList(symSetf, name)); !local && cp.global(name).setter == nil {
			cp.environment.refer(reference{symbol: name, setter: true, arguments: -1, at: cp.site(NewList(symSetf, name)), function: cp.functionName()})
		}
	} else {
		setter = NewList(symQuote, cp.language.setters[name])
	}
	p.write = cp.Cons(symFuncall, cp.Cons(setter, cp.Cons(store, cp.NewList(temporaries))))
	p.read = cp.Cons(name, cp.NewList(temporaries))
	return p
}

// temporize binds each argument to a temporary, constants excepted, and returns what
// stands for the arguments now.
func (p *place) temporize(cp *Compiler, args []Value) []Value {
	stand := MakeSlice[Value](cp.Call, len(args))
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
		p.temporaries = Append(cp.Call, p.temporaries, temporary)
		p.values = Append(cp.Call, p.values, arg)
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
	return cp.global(symbol).expansion != nil
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

// standardSetters are the functions behind setf. Their parameters are value and those of the
// function of the same name.
func standardSetters() []Builtin {
	set := func(name string, set func(c *Call, args Args, v Value)) Builtin {
		return Builtin{Name: name, Named: func(c *Call, args Args) Value {
			v := args.Get("value")
			set(c, args, v)
			return v
		}}
	}
	cdr := func(c *Call, args Args, v Value) { c.cell(args.Get("list")).Cdr = v }
	rows := []Builtin{
		set("car", func(c *Call, args Args, v Value) { c.cell(args.Get("list")).Car = v }), set("cdr", cdr), set("rest", cdr),
		set("nth", func(c *Call, args Args, v Value) { c.cell(c.nthcdr(args.Get("n"), args.Get("list"))).Car = v }),
		set("elt", func(c *Call, args Args, v Value) { c.setElement(args.Get("sequence"), c.Index(args.Get("index")), v) }),
		set("gethash", func(c *Call, args Args, v Value) { c.HashTable(args.Get("table")).put(c, args.Get("key"), v) }),
		set("symbol-value", func(c *Call, args Args, v Value) { c.setSpecial(c.global(c.TakeSymbol(args.Get("symbol"))), v) }),
		set("symbol-function", func(c *Call, args Args, v Value) { c.setFunction(args.Get("symbol"), v) }),
		set("fdefinition", func(c *Call, args Args, v Value) { c.setFunction(args.Get("name"), v) }),
		set("macro-function", setMacroFunction),
		set("compiler-macro-function", func(c *Call, args Args, v Value) {
			g := c.unfrozen(c.TakeSymbol(args.Get("name")))
			if g.compilerMacro = nil; v != Nil {
				g.compilerMacro = c.Function(v)
			}
		}),
		set("symbol-plist", func(c *Call, args Args, v Value) { c.global(c.TakeSymbol(args.Get("symbol"))).plist = v }),
		set("fill-pointer", func(c *Call, args Args, v Value) { c.setFillPointer(args.Get("vector"), c.Index(v)) }),
		set("slot-value", func(c *Call, args Args, v Value) { c.setSlot(args.Get("object"), c.TakeSymbol(args.Get("name")), v) }),
		set("class-name", func(c *Call, args Args, v Value) {
			class := c.namedClass(args.Get("class"))
			if c.environment.language.classes[class.name] == class {
				c.Fail(packageError, "%s belongs to Common Lisp and cannot be renamed", class.name.name)
			}
			class.name = c.TakeSymbol(v)
		}),
		set("find-class", func(c *Call, args Args, v Value) {
			name := c.unfrozen(c.TakeSymbol(args.Get("name"))).symbol
			if v == Nil {
				delete(c.environment.classes, name)
			} else {
				c.environment.classes[name] = c.namedClass(v)
			}
		}),
		set("readtable-case", setReadtableCase),
		set("subseq", func(c *Call, args Args, v Value) {
			replacement, sequence := c.ownElements(v), args.Get("sequence")
			from, to := c.Bounds(args.Get("start"), args.Get("end"), c.Length(sequence))
			c.store(sequence, from, replacement[:min(len(replacement), to-from)])
		}),
		set("documentation", func(c *Call, args Args, v Value) {
			object := args.Get("object")
			if p, ok := object.(*Package); ok {
				c.changeable(p).doc = v
				return
			}
			c.global(c.TakeSymbol(object)).document(c.TakeSymbol(args.Get("kind")), v)
		}),
		set("row-major-aref", func(c *Call, args Args, v Value) { c.setArrayElement(args.Get("array"), c.Index(args.Get("index")), v) }),
		set("svref", func(c *Call, args Args, v Value) { c.setAref(args.Get("vector"), v, args.Get("index")) }),
		set("char", func(c *Call, args Args, v Value) { c.setAref(args.Get("string"), v, args.Get("index")) }),
		set("schar", func(c *Call, args Args, v Value) { c.setAref(args.Get("string"), v, args.Get("index")) }),
		{Name: "aref", Call: setSubscripted}, {Name: "bit", Call: setBit}, {Name: "sbit", Call: setBit},
		set("get", func(c *Call, args Args, v Value) {
			g := c.global(c.TakeSymbol(args.Get("symbol")))
			g.plist = putf(c, []Value{g.plist, args.Get("indicator"), v})
		}),
	}
	for i, name := range ordinals {
		rows = append(rows, set(name, func(c *Call, args Args, v Value) { c.cell(c.nthcdr(Count(i), args.Get("list"))).Car = v }))
	}
	for _, steps := range paths {
		follow, first := path(steps[1:]), steps[0] == 'a'
		rows = append(rows, set("c"+steps+"r", func(c *Call, args Args, v Value) {
			cell := c.cell(follow(c, args.Get("list")))
			if first {
				cell.Car = v
			} else {
				cell.Cdr = v
			}
		}))
	}
	return rows
}

// setter is the function of a row, whose other parameters are those of the function that reads.
func (l *Language) setter(b *Builtin) *Function {
	reader := l.functions[CL(strings.ToUpper(b.Name))]
	parameters, err := parseParameters("(value " + strings.TrimPrefix(reader.list, "("))
	if err != nil {
		panic("lisp: " + err.Error()) // the reader has the same list
	}
	return b.function("(SETF "+reader.name+")", parameters)
}

// setFunction makes a function what a name or (setf name) means.
func (c *Call) setFunction(name, v Value) {
	fn := c.Function(v)
	if name, ok := setfName(name); ok {
		c.global(name).setter = fn
		return
	}
	c.definable(c.TakeSymbol(name)).function = fn
}

func setMacroFunction(c *Call, args Args, v Value) {
	fn, g := c.Function(v), c.definable(c.TakeSymbol(args.Get("symbol")))
	g.macro = Allocate(c, macro{name: g.symbol.name, expand: func(cp *Compiler, form *Cons) Value {
		return Single(cp.apply(fn, []Value{form, Nil}))
	}})
}

// setAref stores into the element of an array that subscripts name.
func (c *Call) setAref(array, v Value, subscripts ...Value) {
	c.setArrayElement(array, c.rowMajor(array, subscripts), v)
}

func setSubscripted(c *Call, args []Value) Value {
	c.setAref(args[1], args[0], args[2:]...)
	return args[0]
}

func setBit(c *Call, args []Value) Value {
	c.element(bitElements, args[0])
	return setSubscripted(c, args)
}
