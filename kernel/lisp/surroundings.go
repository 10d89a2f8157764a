package lisp

// surroundingFunctions tell what a note runs in: this evaluator, and nothing about the
// machine, which is not the note's business.
func surroundingFunctions() []builtin {
	unknown := func(name, what string) builtin {
		return builtin{name: name, list: "()", doc: "Nil: a note is told nothing about " + what + ".", call: func(*Call, []Value) Value { return Nil }}
	}
	return []builtin{
		{name: "lisp-implementation-type", list: "()", doc: "The name of this Lisp.", call: func(c *Call, _ []Value) Value { return c.text("org-agent") }},
		unknown("lisp-implementation-version", "the version"),
		unknown("machine-instance", "the machine"),
		unknown("machine-type", "the machine"),
		unknown("machine-version", "the machine"),
		unknown("software-type", "the system"),
		unknown("software-version", "the system"),
		unknown("short-site-name", "the site"),
		unknown("long-site-name", "the site"),
		{name: "function-lambda-expression", list: "(function)", doc: "Nil for the source, which is not kept; whether variables are closed over; and the name.", many: true, one: func(c *Call, a Value) Value {
			fn, ok := a.(*Function)
			if !ok {
				c.typeError(a, "FUNCTION")
			}
			return c.values(Nil, T, c.functionNameOf(fn))
		}},
	}
}

// functionNameOf is the symbol that a function was defined as, nil for one without a name.
func (c *Call) functionNameOf(fn *Function) Value {
	if fn.name == "" {
		return Nil
	}
	if symbol, ok := c.currentPackage().find(fn.name); ok {
		return symbol
	}
	return c.text(fn.name)
}

// surroundingMacros are about compilation, of which nothing here comes in units.
func surroundingMacros() []standardMacro {
	return []standardMacro{
		{"with-compilation-unit", "((&key override) &body body)", "Evaluate body.", func(cp *compiler, form *Cons) Value {
			cp.forms(cp.arguments(form, 1, -1)[0])
			return progn(form.Cdr.(*Cons).Cdr)
		}},
	}
}
