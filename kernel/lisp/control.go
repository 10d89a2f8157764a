package lisp

// controlFunctions call functions and evaluate forms.
func controlFunctions() []Builtin {
	return []Builtin{
		{Name: "funcall", LambdaList: "(function &rest arguments)", Doc: "Call a function.", Many: true, Call: func(c *Call, args []Value) Value { return c.funcall(args[0], args[1:]) }},
		{Name: "apply", LambdaList: "(function argument &rest more)", Doc: "Call a function with the elements of the last argument.", Many: true, Call: applyFunction},
		{Name: "values", LambdaList: "(&rest objects)", Doc: "Return the objects as values.", Many: true, Call: func(c *Call, args []Value) Value { return c.Values(args...) }},
		{Name: "values-list", LambdaList: "(list)", Doc: "Return the elements as values.", Many: true, One: func(c *Call, a Value) Value { return c.Values(c.Slice(a)...) }},
		{Name: "identity", LambdaList: "(object)", Doc: "The object.", One: func(_ *Call, a Value) Value { return a }},
		{Name: "constantly", LambdaList: "(value)", Doc: "A function that always returns value.", One: func(c *Call, a Value) Value {
			c.Charge(ObjectBytes)
			return &Function{name: "CONSTANTLY", most: -1, frame: &frame{slots: []Value{a}}, call: func(*Call, []Value) Value { return a }}
		}},
		{Name: "complement", LambdaList: "(predicate)", Doc: "The function that is true where predicate is not.", One: func(c *Call, a Value) Value {
			fn := c.Function(a)
			c.Charge(ObjectBytes)
			return &Function{name: "COMPLEMENT", most: -1, frame: &frame{slots: []Value{fn}}, call: func(c *Call, args []Value) Value { return Boolean(Single(c.apply(fn, args)) == Nil) }}
		}},
		{Name: "eval", LambdaList: "(form)", Doc: "Evaluate a form.", Many: true, One: func(c *Call, a Value) Value { return c.evaluate(a) }},
		{Name: "compile", LambdaList: "(name &optional definition)", Doc: "The function; everything is compiled already.", Many: true, Call: func(c *Call, args []Value) Value {
			if len(args) == 1 {
				c.Function(args[0])
				return c.Values(args[0], Nil, Nil)
			}
			fn := args[1]
			if list, ok := fn.(*Cons); ok && list.Car == symLambda {
				fn = Single(c.evaluate(Form(symFunction, list)))
			}
			if symbol, ok := args[0].(*Symbol); ok && symbol != Nil {
				c.definable(symbol).function = c.Function(fn)
				return c.Values(symbol, Nil, Nil)
			}
			return c.Values(c.Function(fn), Nil, Nil)
		}},
		{Name: "macroexpand-1", LambdaList: "(form &optional environment)", Doc: "Expand a macro form once; true if it was one.", Many: true, Named: func(c *Call, args Args) Value {
			form, expanded := c.expandOnce(args.Get("form"), c.scopeArgument(args.Get("environment")))
			return c.Values(form, Boolean(expanded))
		}},
		{Name: "macroexpand", LambdaList: "(form &optional environment)", Doc: "Expand until it is no macro form.", Many: true, Named: func(c *Call, args Args) Value {
			form, any := args.Get("form"), false
			sc := c.scopeArgument(args.Get("environment"))
			for {
				c.Step()
				next, expanded := c.expandOnce(form, sc)
				if !expanded {
					return c.Values(form, Boolean(any))
				}
				form, any = next, true
			}
		}},
		{Name: "proclaim", LambdaList: "(declaration)", Doc: "Declare a variable special; other declarations do nothing.", One: func(c *Call, a Value) Value {
			c.proclaim(a)
			return Nil
		}},
		{Name: "documentation", LambdaList: "(object &optional kind)", Doc: "The documentation string, or nil.", Named: documentation},
		{Name: "provide", LambdaList: "(name)", Doc: "Does nothing: a note is one module.", One: func(*Call, Value) Value { return T }},
	}
}

func applyFunction(c *Call, args []Value) Value {
	last := args[len(args)-1]
	all := append([]Value(nil), args[1:len(args)-1]...)
	for cell, ok := c.next(last); ok; cell, ok = c.next(cell.Cdr) {
		all = Append(c, all, cell.Car)
	}
	return c.funcall(args[0], all)
}

func (c *Call) proclaim(declaration Value) {
	parts := c.Slice(declaration)
	if len(parts) > 0 && parts[0] == symSpecial {
		for _, part := range parts[1:] {
			c.environment.global(c.TakeSymbol(part)).special = true
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
	return c.Text(text)
}
