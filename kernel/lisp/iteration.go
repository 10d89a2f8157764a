package lisp

// loopForms are the operators that loops are made of.
func loopForms() []standardForm {
	return []standardForm{
		{"%forever", "(&rest steps)", "What loop and do become.", compileForever},
		{"loop", "(&rest clauses)", "Iterate as the clauses say; without clauses, for ever.", compileLoop},
		{"loop-finish", "()", "End the loop around it as if it had come to its end.", compileLoopFinish},
	}
}

// round is one step of a forever form: evaluated for its effect, or a test that ends it.
type round struct {
	run  code
	ends bool
}

// compileForever compiles (forever . steps): the steps are repeated until one of the
// form (until test) is true. Such a loop ends without a non-local exit.
func compileForever(cp *Compiler, form *Cons, sc *scope) expression {
	var rounds []round
	for _, item := range cp.Forms(form.Cdr) {
		if test, ok := marked(item, symUntil); ok {
			rounds = append(rounds, round{run: cp.compile(test, sc).one(), ends: true})
			continue
		}
		rounds = append(rounds, round{run: cp.compile(item, sc).run})
	}
	return simple(func(c *Call, f *frame) Value {
		for {
			c.Step()
			for i := range rounds {
				if v := rounds[i].run(c, f); rounds[i].ends && v != Nil {
					return Nil
				}
			}
		}
	})
}

// iterationMacros repeat a body.
func iterationMacros() []Macro {
	return []Macro{
		{"dolist", "((variable list &optional result) &body body)", "Evaluate body for each element.", expandDolist},
		{"dotimes", "((variable count &optional result) &body body)", "Evaluate body for each integer below count.", expandDotimes},
		{"do", "(variables (test &rest result) &body body)", "Repeat with variables stepped in parallel.", func(cp *Compiler, form *Cons) Value { return cp.expandDo(form, symLet, CL("PSETQ")) }},
		{"do*", "(variables (test &rest result) &body body)", "Repeat with variables stepped in order.", func(cp *Compiler, form *Cons) Value { return cp.expandDo(form, symLetStar, symSetq) }},
		{"prog", "(variables &body body)", "A block with variables and tags.", func(cp *Compiler, form *Cons) Value { return cp.expandProg(form, symLet) }},
		{"prog*", "(variables &body body)", "A block with variables and tags.", func(cp *Compiler, form *Cons) Value { return cp.expandProg(form, symLetStar) }},
		{"with-hash-table-iterator", "((name table) &body body)", "Walk a table by calling name.", expandHashIterator},
	}
}

// specification takes the (variable form [result]) of dolist and dotimes.
func (cp *Compiler) specification(form *Cons, least int) (variable, source, result Value, body Value) {
	parts := cp.Arguments(form, 1, -1)
	spec := cp.Forms(parts[0])
	if len(spec) < least || len(spec) > 3 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	source, result = Nil, Nil
	if len(spec) > 1 {
		source = spec[1]
	}
	if len(spec) > 2 {
		result = spec[2]
	}
	return spec[0], source, result, form.Cdr.(*Cons).Cdr
}

// tagged makes a tagbody of a body if it has tags, else a progn.
func (cp *Compiler) tagged(body Value) Value {
	for _, item := range cp.Forms(body) {
		if cp.checkTag(item); isTag(item) {
			return &Cons{Car: symTagbody, Cdr: body}
		}
	}
	return &Cons{Car: symProgn, Cdr: body}
}

func expandDolist(cp *Compiler, form *Cons) Value {
	variable, source, result, body := cp.specification(form, 2)
	specials, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	tail := cp.Gensym("TAIL")
	each := FormStar(symLet, listStar(append(declared, Form(symSetq, tail, Form(symCdr, tail)), cp.tagged(rest)), Nil), NewList(NewList(variable, Form(symCar, tail))))
	ending := result
	if result != Nil {
		kept := []Value{} // what is said of types does not hold for nil
		if len(specials) > 0 {
			names := NewListBuilder(cp.Call)
			for _, name := range specials {
				names.Add(name)
			}
			kept = append(kept, Form(symDeclare, &Cons{Car: symSpecial, Cdr: names.List()}))
		}
		ending = FormStar(symLet, listStar(append(kept, variable, result), Nil), NewList(NewList(variable, Nil)))
	}
	return Form(symBlock, Nil, Form(symLet, NewList(NewList(tail, source)), Form(symForever, Form(symUntil, Form(symEndp, tail)), each), ending))
}

func expandDotimes(cp *Compiler, form *Cons) Value {
	variable, source, result, body := cp.specification(form, 2)
	_, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	limit := cp.Gensym("LIMIT")
	loop := Form(symForever, Form(symUntil, Form(symGreaterEqual, variable, limit)), cp.tagged(rest), Form(symSetq, variable, Form(symPlus, variable, Integer(1))))
	return Form(symBlock, Nil, FormStar(symLet, listStar(append(declared, loop, result), Nil), NewList(NewList(limit, Form(CL("THE"), CL("INTEGER"), source)), NewList(variable, Integer(0)))))
}

func (cp *Compiler) expandDo(form *Cons, binder, setter *Symbol) Value {
	parts := cp.Arguments(form, 2, -1)
	bindings := NewListBuilder(cp.Call)
	steps := NewListBuilder(cp.Call)
	steps.Add(setter)
	stepped := false
	for _, item := range cp.Forms(parts[0]) {
		spec := []Value{item}
		if IsList(item) {
			spec = cp.Forms(item)
		}
		if len(spec) == 0 || len(spec) > 3 {
			cp.Fail(ProgramError, "malformed variable in %s", Sketch(form, formLength))
		}
		bindings.Add(NewList(spec[:min(len(spec), 2)]...))
		if len(spec) == 3 {
			stepped = true
			steps.Add(spec[0])
			steps.Add(spec[2])
		}
	}
	end := cp.Forms(parts[1])
	if len(end) == 0 {
		end = []Value{Nil}
	}
	body := form.Cdr.(*Cons).Cdr.(*Cons).Cdr
	_, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	loop := []Value{Form(symUntil, end[0]), cp.tagged(rest)}
	if stepped {
		loop = append(loop, steps.List())
	}
	forms := append(declared, &Cons{Car: symForever, Cdr: NewList(loop...)}, &Cons{Car: symProgn, Cdr: NewList(end[1:]...)})
	return Form(symBlock, Nil, FormStar(binder, NewList(forms...), bindings.List()))
}

func (cp *Compiler) expandProg(form *Cons, binder *Symbol) Value {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	_, _, forms := cp.declarations(rest.Cdr, false)
	declared := declarationForms(rest.Cdr, forms)
	return Form(symBlock, Nil, FormStar(binder, listStar(append(declared, &Cons{Car: symTagbody, Cdr: forms}, Nil), Nil), rest.Car))
}

func expandHashIterator(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	spec := cp.Forms(parts[0])
	if len(spec) != 2 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	entries := cp.Gensym("ENTRIES")
	next := cp.Gensym("NEXT")
	step := Form(symIf, entries,
		Form(symLet, NewList(NewList(next, Form(CL("POP"), entries))), Form(symValues, T, Form(symCar, next), Form(symCdr, next))), Nil)
	return Form(symLet, NewList(NewList(entries, Form(symFuncall, Form(symQuote, tablePairs), spec[1]))),
		FormStar(symFlet, form.Cdr.(*Cons).Cdr, NewList(NewList(spec[0], Nil, step))))
}

// tablePairs is the entries of a hash table as a list of pairs.
var tablePairs = &Function{name: "TABLE-PAIRS", least: 1, most: 1, one: func(c *Call, a Value) Value {
	b := NewListBuilder(c)
	for _, e := range c.HashTable(a).pairs(c) {
		b.Add(c.Cons(e.key, e.value))
	}
	return b.List()
}}

// mappingFunctions call a function for each element.
func mappingFunctions() []Builtin {
	return []Builtin{
		{Name: "mapcar", LambdaList: "(function list &rest more)", Doc: "The list of results for each element.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, func(b *ListBuilder, v Value) { b.Add(v) })
		}},
		{Name: "mapcan", LambdaList: "(function list &rest more)", Doc: "The results for each element joined by nconc.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, c.join)
		}},
		{Name: "maplist", LambdaList: "(function list &rest more)", Doc: "The list of results for each tail.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, func(b *ListBuilder, v Value) { b.Add(v) })
		}},
		{Name: "mapcon", LambdaList: "(function list &rest more)", Doc: "The results for each tail joined by nconc.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, c.join)
		}},
		{Name: "mapc", LambdaList: "(function list &rest more)", Doc: "Call for each element; returns the list.", Call: func(c *Call, args []Value) Value {
			c.mapLists(args, true, func(*ListBuilder, Value) {})
			return args[1]
		}},
		{Name: "mapl", LambdaList: "(function list &rest more)", Doc: "Call for each tail; returns the list.", Call: func(c *Call, args []Value) Value {
			c.mapLists(args, false, func(*ListBuilder, Value) {})
			return args[1]
		}},
		{Name: "map", LambdaList: "(type function sequence &rest more)", Doc: "The sequence of results for each element.", Call: func(c *Call, args []Value) Value {
			var items []Value
			var t sequenceType
			keep := args[0] != Nil
			if keep {
				t = c.sequenceType(args[0])
			}
			c.mapSequences(args[1], args[2:], func(v Value) bool {
				if keep {
					items = Append(c, items, v)
				}
				return true
			})
			if !keep {
				return Nil
			}
			return c.makeSequence(t, items)
		}},
		{Name: "map-into", LambdaList: "(target function &rest sequences)", Doc: "Store the results for each element into target.", Call: func(c *Call, args []Value) Value {
			return mapInto(c, args)
		}},
		{Name: "every", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate holds for all elements.", Call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result != Nil)
		}},
		{Name: "some", LambdaList: "(predicate sequence &rest more)", Doc: "The first true result, or nil.", Call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return result
		}},
		{Name: "notany", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate holds for no element.", Call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return Boolean(result == Nil)
		}},
		{Name: "notevery", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate does not hold for all elements.", Call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result == Nil)
		}},
		{Name: "reduce", LambdaList: "(function sequence &key key from-end start end initial-value)", Doc: "Combine the elements by a function of two.", Named: reduce},
	}
}

// mapInto fills a target as far as the sequences go; a fill pointer moves to where they end.
func mapInto(c *Call, args []Value) Value {
	target := args[0]
	var items []Value
	n := c.Length(target)
	if hasFillPointer(target) {
		n = c.dimensions(target)[0]
	}
	if n == 0 {
		return target
	}
	if len(args) == 2 {
		fn := c.Function(args[1])
		for range n {
			items = Append(c, items, Single(c.apply(fn, nil)))
		}
	} else {
		c.mapSequences(args[1], args[2:], func(v Value) bool {
			items = Append(c, items, v)
			return len(items) < n
		})
	}
	if hasFillPointer(target) {
		c.setFillPointer(target, len(items))
	}
	c.store(target, 0, items)
	return target
}

func (c *Call) join(b *ListBuilder, v Value) {
	if v == Nil {
		return
	}
	switch {
	case b.last != nil:
		b.last.Cdr = v
	case b.first != nil: // only the last result may be an atom
		c.TypeError(b.first, "LIST")
	default:
		b.first = v
	}
	for cell := range c.Cells(v) {
		b.last = cell
	}
}

// mapLists calls args[0] with the elements (or tails) of the lists until one ends.
func (c *Call) mapLists(args []Value, elements bool, collect func(*ListBuilder, Value)) Value {
	fn := c.Function(args[0])
	b := NewListBuilder(c)
	finish := func() Value {
		if b.first == nil {
			return Nil
		}
		return b.first
	}
	if len(args) == 2 && elements {
		for cell, ok := c.next(args[1]); ok; cell, ok = c.next(cell.Cdr) {
			collect(&b, c.Call1(fn, cell.Car))
		}
		return finish()
	}
	lists := append([]Value(nil), args[1:]...)
	values := make([]Value, len(lists))
	for {
		for i, list := range lists {
			cell, ok := c.next(list)
			if !ok {
				return finish()
			}
			values[i], lists[i] = list, cell.Cdr
			if elements {
				values[i] = cell.Car
			}
		}
		collect(&b, Single(c.apply(fn, values)))
	}
}

// mapSequences calls a function with the elements of sequences until one ends or keep
// returns false.
func (c *Call) mapSequences(function Value, sequences []Value, keep func(Value) bool) {
	fn := c.Function(function)
	if len(sequences) == 1 && IsList(sequences[0]) {
		for cell, ok := c.next(sequences[0]); ok; cell, ok = c.next(cell.Cdr) {
			if !keep(c.Call1(fn, cell.Car)) {
				return
			}
		}
		return
	}
	parts := make([][]Value, len(sequences))
	shortest := -1
	for i, sequence := range sequences {
		parts[i] = c.Elements(sequence)
		if shortest < 0 || len(parts[i]) < shortest {
			shortest = len(parts[i])
		}
	}
	values := make([]Value, len(parts))
	for i := range max(shortest, 0) {
		for j := range parts {
			if i >= len(parts[j]) { // the function has changed a vector's fill pointer
				return
			}
			values[j] = parts[j][i]
		}
		if !keep(Single(c.apply(fn, values))) {
			return
		}
	}
}

func reduce(c *Call, args Args) Value {
	fromEndArg := args.Get("from-end")
	fn, m := c.Function(args.Get("function")), c.newMatcher(nil, nil, args.Get("key"))
	items := c.Elements(args.Get("sequence"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), len(items))
	fromEnd := fromEndArg != nil && fromEndArg != Nil
	part := func(i int) Value {
		if fromEnd {
			return m.keyed(items[to-1-(i-from)])
		}
		return m.keyed(items[i])
	}
	result := args.Get("initial-value")
	i := from
	if result == nil {
		if from == to {
			return Single(c.apply(fn, nil))
		}
		result = part(from)
		i++
	}
	for ; i < to; i++ {
		if fromEnd {
			result = c.Call2(fn, part(i), result)
		} else {
			result = c.Call2(fn, result, part(i))
		}
	}
	return result
}
