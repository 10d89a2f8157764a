package lisp

// surroundingFunctions tell what a note runs in: this evaluator, and nothing about the
// machine, which is not the note's business.
func surroundingFunctions() []Builtin {
	unknown := func(name, what string) Builtin {
		return Builtin{Name: name, LambdaList: "()", Doc: "Nil: a note is told nothing about " + what + ".", Call: func(*Call, []Value) Value { return Nil }}
	}
	return []Builtin{
		{Name: "lisp-implementation-type", LambdaList: "()", Doc: "The name of this Lisp.", Call: func(c *Call, _ []Value) Value { return c.Text("org-agent") }},
		unknown("lisp-implementation-version", "the version"),
		unknown("machine-instance", "the machine"),
		unknown("machine-type", "the machine"),
		unknown("machine-version", "the machine"),
		unknown("software-type", "the system"),
		unknown("software-version", "the system"),
		unknown("short-site-name", "the site"),
		unknown("long-site-name", "the site"),
		{Name: "function-lambda-expression", LambdaList: "(function)", Doc: "Nil for the source, which is not kept; whether variables are closed over; and the name.", Many: true, One: func(c *Call, a Value) Value {
			fn, ok := a.(*Function)
			if !ok {
				c.TypeError(a, "FUNCTION")
			}
			return c.Values(Nil, T, c.functionNameOf(fn))
		}},
	}
}

// functionNameOf is the symbol that a function was defined as, nil for one without a name.
func (c *Call) functionNameOf(fn *Function) Value {
	if fn.name == "" {
		return Nil
	}
	if symbol, ok := c.CurrentPackage().Find(fn.name); ok {
		return symbol
	}
	return c.Text(fn.name)
}

// surroundingMacros are about compilation, of which nothing here comes in units.
func surroundingMacros() []Macro {
	return []Macro{
		{"with-compilation-unit", "((&key override) &body body)", "Evaluate body.", func(cp *Compiler, form *Cons) Value {
			cp.Forms(cp.Arguments(form, 1, -1)[0])
			return progn(form.Cdr.(*Cons).Cdr)
		}},
	}
}
