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
func placeFunctions() []builtin {
	return []builtin{
		{name: "get-setf-expansion", list: "(place &optional environment)", doc: "Temporaries, their values, store variables, the form that stores, the form that reads.", many: true, named: func(c *Call, args Args) Value {
			p := c.newCompiler("").expandPlace(args.Get("place"), c.scopeArgument(args.Get("environment")))
			var temporaries, stores builder
			for _, temporary := range p.temporaries {
				temporaries.add(temporary)
			}
			for _, store := range p.stores {
				stores.add(store)
			}
			return c.values(temporaries.list(), c.newList(p.values), stores.list(), p.write, p.read)
		}},
	}
}

// compileDefsetf handles the short form, which names a function, and the long one,
// whose body makes the storing form.
func compileDefsetf(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	g := cp.unfrozen(cp.symbol(parts[0]))
	if updater, ok := parts[1].(*Symbol); ok && updater != Nil {
		cp.arguments(form, 2, 3)
		return simple(func(*Call, *frame) Value {
			if len(parts) > 2 {
				g.document(symSetf, parts[2])
			}
			g.place = func(cp *compiler, form *Cons, args []Value, _ *scope) *place {
				p := &place{}
				stand := p.temporize(cp, args)
				store := cp.gensym("NEW")
				p.stores = []*Symbol{store}
				p.write = callStar(updater, NewList(append(stand[:len(stand):len(stand)], store)...))
				p.read = &Cons{Car: form.Car, Cdr: NewList(stand...)}
				return p
			}
			return g.symbol
		})
	}
	cp.arguments(form, 3, -1)
	stores := cp.forms(parts[2])
	// The expander takes a list of the store variables first, then the arguments.
	rest := form.Cdr.(*Cons).Cdr.(*Cons)
	list := &Cons{Car: NewList(stores...), Cdr: rest.Car}
	if len(stores) == 0 {
		list.Car = cp.gensym("NONE")
	}
	function := cp.compileLambda(g.symbol.name, &Cons{Car: list, Cdr: rest.Cdr.(*Cons).Cdr}, sc, lambdaKind{block: g.symbol, macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.document(symSetf, c.docOf(fn.doc))
		g.place = func(cp *compiler, form *Cons, args []Value, sc *scope) *place {
			p := &place{}
			stand := p.temporize(cp, args)
			var news builder
			for range stores {
				store := cp.gensym("NEW")
				p.stores = append(p.stores, store)
				news.add(store)
			}
			p.write = cp.expandIn(&macro{function: fn}, callStar(form.Car, NewList(stand...), news.list()).(*Cons), sc)
			p.read = &Cons{Car: form.Car, Cdr: NewList(stand...)}
			return p
		}
		return g.symbol
	})
}

// compileDefineSetfExpander compiles a function of the place's arguments that returns
// the five parts of a setf expansion.
func compileDefineSetfExpander(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	g := cp.unfrozen(cp.symbol(parts[0]))
	function := cp.compileLambda(g.symbol.name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: g.symbol, macro: true, values: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.place = func(cp *compiler, form *Cons, _ []Value, sc *scope) *place {
			outer := cp.around
			cp.around = sc
			results := every(cp.apply(fn, []Value{form}))
			cp.around = outer
			if len(results) < 5 {
				cp.fail(programError, "the setf expander of %s returned %d values instead of five", g.symbol.name, len(results))
			}
			p := &place{values: cp.slice(results[1]), write: results[3], read: results[4]}
			for _, temporary := range cp.slice(results[0]) {
				p.temporaries = append(p.temporaries, cp.symbol(temporary))
			}
			for _, store := range cp.slice(results[2]) {
				p.stores = append(p.stores, cp.symbol(store))
			}
			if len(p.values) != len(p.temporaries) {
				cp.fail(programError, "the setf expander of %s returned temporaries without values", g.symbol.name)
			}
			return p
		}
		return g.symbol
	})
}

// compileModify compiles (modify place function argument…), what macros of
// define-modify-macro stand for: the place is evaluated once.
func compileModify(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	p := cp.expandPlace(parts[0], sc)
	return cp.compile(p.storing(callStar(parts[1], NewList(parts[2:]...), p.read)), sc)
}
