package lisp

// localForms bind functions and macros lexically; backquote is compiled here, too.
func localForms() []standardForm {
	return []standardForm{
		{"flet", "(functions &body body)", "Define local functions that do not see each other.", compileFlet},
		{"labels", "(functions &body body)", "Define local functions that may call each other.", compileLabels},
		{"macrolet", "(macros &body body)", "Define local macros.", compileMacrolet},
		{"symbol-macrolet", "(bindings &body body)", "Make symbols stand for forms in body.", compileSymbolMacrolet},
	}
}

// localDefinition is (name lambda-list . body).
type localDefinition struct {
	name Value
	rest Value
}

func (cp *Compiler) localDefinitions(list Value) []localDefinition {
	var definitions []localDefinition
	for _, item := range cp.Forms(list) {
		cell, ok := item.(*Cons)
		if !ok {
			cp.Fail(ProgramError, "malformed local function: %s", Sketch(item, formLength))
		}
		if symbol, ok := cell.Car.(*Symbol); ok && symbol.home == standardPackage {
			cp.Fail(ProgramError, "%s belongs to Common Lisp and cannot be rebound; choose another name", symbol.name)
		} else if _, setter := setfName(cell.Car); !ok && !setter {
			cp.Fail(ProgramError, "%s cannot name a function", Sketch(cell.Car, formLength))
		}
		definitions = append(definitions, localDefinition{cell.Car, cell.Cdr})
	}
	return definitions
}

func definitionName(name Value) string {
	if symbol, ok := name.(*Symbol); ok {
		return symbol.name
	}
	return Sketch(name, formLength)
}

func compileFlet(cp *Compiler, form *Cons, sc *scope) expression {
	return compileLocalFunctions(cp, form, sc, false)
}

func compileLabels(cp *Compiler, form *Cons, sc *scope) expression {
	return compileLocalFunctions(cp, form, sc, true)
}

func compileLocalFunctions(cp *Compiler, form *Cons, sc *scope, recursive bool) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	definitions := cp.localDefinitions(rest.Car)
	inner := sc.withFrame()
	around := sc
	slots := make([]int, len(definitions))
	for i := range definitions {
		slots[i] = inner.slot()
	}
	bind := func() {
		for i, d := range definitions {
			inner.functions = append(inner.functions, localFunction{name: d.name, slot: slots[i]})
		}
	}
	if recursive {
		around = inner
		bind()
	}
	functions := make([]code, len(definitions))
	for i, d := range definitions {
		functions[i] = cp.compileLambda(definitionName(d.name), d.rest, around, lambdaKind{block: cp.blockName(d.name)})
	}
	if !recursive {
		bind()
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	cp.declareSpecial(specials, nil, inner)
	body := cp.body(forms, inner)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		g := c.newFrame(f, inner.layout.slots)
		outer := f
		if recursive {
			outer = g
		}
		for i, function := range functions {
			g.slots[slots[i]] = function(c, outer)
		}
		return body.run(c, g)
	}}
}

// macros is the scope that expanders of local macros are compiled in: the local macros
// and symbol macros around them. Variables and functions do not exist yet when they run.
func (s *scope) macros() *scope {
	inner := (*scope)(nil).withFrame()
	seen := map[*Symbol]bool{}
	for s := range s.outward {
		for i := len(s.functions) - 1; i >= 0; i-- {
			f := s.functions[i]
			if _, _, hidden := inner.function(f.name); !hidden {
				inner.functions = append(inner.functions, f)
			}
		}
		for i := len(s.variables) - 1; i >= 0; i-- {
			if v := s.variables[i]; !seen[v.symbol] {
				seen[v.symbol] = true
				if v.expansion != nil {
					inner.variables = append(inner.variables, v)
				}
			}
		}
	}
	kept := inner.functions[:0]
	for _, f := range inner.functions {
		if f.macro != nil {
			kept = append(kept, f)
		}
	}
	inner.functions = kept
	return inner
}

func compileMacrolet(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	inner := sc.nested()
	for _, d := range cp.localDefinitions(rest.Car) {
		cp.Charge(ObjectBytes)
		top := sc.macros()
		function := cp.compileLambda(definitionName(d.name), d.rest, top, lambdaKind{block: cp.blockName(d.name), macro: true})
		fn := function(cp.Call, newFrame(nil, top.layout.slots)).(*Function)
		inner.functions = append(inner.functions, localFunction{name: d.name, macro: &macro{name: definitionName(d.name), function: fn}})
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	cp.declareSpecial(specials, nil, inner)
	return cp.body(forms, inner)
}

func compileSymbolMacrolet(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	inner := sc.nested()
	for _, item := range cp.Forms(rest.Car) {
		parts := cp.Forms(item)
		if len(parts) != 2 {
			cp.Fail(ProgramError, "malformed symbol macro: %s", Sketch(item, formLength))
		}
		symbol := cp.checkBindable(parts[0])
		if cp.isSpecial(symbol) {
			cp.Fail(ProgramError, "%s is a special variable and cannot be a symbol macro", symbol.name)
		}
		inner.variables = append(inner.variables, variable{symbol: symbol, expansion: parts[1]})
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	for _, symbol := range specials {
		if v, depth, ok := inner.variable(symbol); ok && depth == 0 && v.expansion != nil {
			cp.Fail(ProgramError, "%s is a symbol macro and cannot be declared special", symbol.name)
		}
	}
	cp.declareSpecial(specials, nil, inner)
	return cp.body(forms, inner)
}
