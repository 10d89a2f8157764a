package lisp

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
