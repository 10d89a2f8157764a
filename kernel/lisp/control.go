package lisp

// controlFunctions call functions and evaluate forms.
func controlFunctions() []builtin {
	return []builtin{
		{name: "funcall", list: "(function &rest arguments)", doc: "Call a function.", many: true, call: func(c *Call, args []Value) Value { return c.funcall(args[0], args[1:]) }},
		{name: "apply", list: "(function argument &rest more)", doc: "Call a function with the elements of the last argument.", many: true, call: applyFunction},
		{name: "values", list: "(&rest objects)", doc: "Return the objects as values.", many: true, call: func(c *Call, args []Value) Value { return c.values(args...) }},
		{name: "values-list", list: "(list)", doc: "Return the elements as values.", many: true, one: func(c *Call, a Value) Value { return c.values(c.slice(a)...) }},
		{name: "identity", list: "(object)", doc: "The object.", one: func(_ *Call, a Value) Value { return a }},
		{name: "constantly", list: "(value)", doc: "A function that always returns value.", one: func(c *Call, a Value) Value {
			c.charge(closureBytes)
			return &Function{name: "CONSTANTLY", most: -1, frame: &frame{slots: []Value{a}}, call: func(*Call, []Value) Value { return a }}
		}},
		{name: "complement", list: "(predicate)", doc: "The function that is true where predicate is not.", one: func(c *Call, a Value) Value {
			fn := c.function(a)
			c.charge(closureBytes)
			return &Function{name: "COMPLEMENT", most: -1, frame: &frame{slots: []Value{fn}}, call: func(c *Call, args []Value) Value { return Boolean(single(c.apply(fn, args)) == Nil) }}
		}},
		{name: "eval", list: "(form)", doc: "Evaluate a form.", many: true, one: func(c *Call, a Value) Value { return c.evaluate(a) }},
		{name: "compile", list: "(name &optional definition)", doc: "The function; everything is compiled already.", many: true, call: func(c *Call, args []Value) Value {
			if len(args) == 1 {
				c.function(args[0])
				return c.values(args[0], Nil, Nil)
			}
			fn := args[1]
			if list, ok := fn.(*Cons); ok && list.Car == symLambda {
				fn = single(c.evaluate(call(symFunction, list)))
			}
			if symbol, ok := args[0].(*Symbol); ok && symbol != Nil {
				c.definable(symbol).function = c.function(fn)
				return c.values(symbol, Nil, Nil)
			}
			return c.values(c.function(fn), Nil, Nil)
		}},
		{name: "macroexpand-1", list: "(form &optional environment)", doc: "Expand a macro form once; true if it was one.", many: true, named: func(c *Call, args Args) Value {
			form, expanded := c.expandOnce(args.Get("form"), c.scopeArgument(args.Get("environment")))
			return c.values(form, Boolean(expanded))
		}},
		{name: "macroexpand", list: "(form &optional environment)", doc: "Expand until it is no macro form.", many: true, named: func(c *Call, args Args) Value {
			form, any := args.Get("form"), false
			sc := c.scopeArgument(args.Get("environment"))
			for {
				c.step()
				next, expanded := c.expandOnce(form, sc)
				if !expanded {
					return c.values(form, Boolean(any))
				}
				form, any = next, true
			}
		}},
		{name: "proclaim", list: "(declaration)", doc: "Declare a variable special; other declarations do nothing.", one: func(c *Call, a Value) Value {
			c.proclaim(a)
			return Nil
		}},
		{name: "documentation", list: "(object &optional kind)", doc: "The documentation string, or nil.", named: documentation},
		{name: "provide", list: "(name)", doc: "Does nothing: a note is one module.", one: func(*Call, Value) Value { return T }},
	}
}

func applyFunction(c *Call, args []Value) Value {
	last := args[len(args)-1]
	all := append([]Value(nil), args[1:len(args)-1]...)
	for cell, ok := c.next(last); ok; cell, ok = c.next(cell.Cdr) {
		c.charge(valueBytes)
		all = append(all, cell.Car)
	}
	return c.funcall(args[0], all)
}

func (c *Call) proclaim(declaration Value) {
	parts := c.slice(declaration)
	if len(parts) > 0 && parts[0] == symSpecial {
		for _, part := range parts[1:] {
			c.environment.global(c.symbol(part)).special = true
		}
	}
}

func documentation(c *Call, args Args) Value {
	object := args.Get("object")

	switch x := object.(type) {
	case *Function:
		return c.docOf(x.doc)
	case *Package:
		if x.doc == nil {
			return Nil
		}
		return x.doc
	}
	symbol, ok := object.(*Symbol)
	if !ok {
		return Nil
	}
	g := c.environment.global(symbol)
	kind, _ := args.Get("kind").(*Symbol)
	if doc, ok := g.docs[kind]; ok {
		return doc
	}
	if kind == symFunction {
		switch m := c.environment.macro(symbol); {
		case g.function != nil:
			return c.docOf(g.function.doc)
		case m != nil:
			return c.docOf(m.doc)
		}
	}
	return Nil
}

func (c *Call) docOf(text string) Value {
	if text == "" {
		return Nil
	}
	return c.text(text)
}
