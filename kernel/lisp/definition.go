package lisp

// definitionForms are the operators that define global names, and backquote.
func definitionForms() []standardForm {
	return []standardForm{
		{"defun", "(name lambda-list &body body)", "Define a function.", compileDefun},
		{"defmacro", "(name lambda-list &body body)", "Define a macro.", compileDefmacro},
		{"defvar", "(name &optional value doc)", "Define a special variable; a value it has stays.", compileDefvar},
		{"defparameter", "(name value &optional doc)", "Define a special variable and give it a value.", compileDefparameter},
		{"defconstant", "(name value &optional doc)", "Define a constant.", compileDefconstant},
		{"deftype", "(name lambda-list &body body)", "Define a type by the type that stands for it.", compileDeftype},
		{"define-compiler-macro", "(name lambda-list &body body)", "Accepted, and never used.", compileDefineCompilerMacro},
		{"define-symbol-macro", "(symbol expansion)", "Make a symbol stand for a form.", compileDefineSymbolMacro},
		{"in-package", "(name)", "Nothing: a note is its own package.", compileInPackage},
		{"declaim", "(&rest declarations)", "Proclaim; special is what has an effect.", compileDeclaim},
		{"declare", "(&rest declarations)", "Declarations stand at the beginning of a body.", func(cp *Compiler, form *Cons, _ *scope) expression {
			cp.Fail(ProgramError, "declare stands where a form is expected: %s", Sketch(form, formLength))
			return expression{}
		}},
	}
}

// functionName takes the name in a defun: a symbol that is free to define, or
// (setf symbol).
func (cp *Compiler) definedName(name Value) (g *global, setter bool, text string) {
	if symbol, ok := setfName(name); ok {
		return cp.environment.global(symbol), true, "(SETF " + symbol.name + ")"
	}
	symbol, ok := name.(*Symbol)
	if !ok || symbol.Keyword() {
		cp.Fail(ProgramError, "%s cannot name a function", Sketch(name, formLength))
	}
	return cp.definable(symbol), false, symbol.name
}

func (cp *Compiler) blockName(name Value) *Symbol {
	if symbol, ok := setfName(name); ok {
		return symbol
	}
	return name.(*Symbol)
}

func compileDefun(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0])})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		if setter {
			g.setter = fn
		} else {
			g.function, g.macro = fn, nil
		}
		return parts[0]
	})
}

func compileDefmacro(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	if setter {
		cp.Fail(ProgramError, "a macro's name must be a symbol")
	}
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0]), macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.macro = &macro{name: name, doc: fn.doc, function: fn}
		g.function = nil
		return parts[0]
	})
}

// definedVariable takes (operator name [value [doc]]).
func (cp *Compiler) definedVariable(form *Cons, sc *scope, least int) (g *global, value code, doc Value) {
	parts := cp.Arguments(form, least, 3)
	symbol := cp.checkBindable(parts[0])
	g = cp.unfrozen(symbol)
	if len(parts) > 1 {
		value = cp.compile(parts[1], sc).one()
	}
	if len(parts) > 2 {
		doc = parts[2]
	}
	return g, value, doc
}

func (g *global) document(kind *Symbol, doc Value) {
	if doc == nil {
		return
	}
	if g.docs == nil {
		g.docs = map[*Symbol]Value{}
	}
	g.docs[kind] = doc
}

var symVariable = CL("VARIABLE")

func compileDefvar(cp *Compiler, form *Cons, sc *scope) expression {
	g, value, doc := cp.definedVariable(form, sc, 1)
	g.special = true
	return simple(func(c *Call, f *frame) Value {
		g.special = true
		g.document(symVariable, doc)
		if value != nil && g.value == nil {
			g.value = value(c, f)
		}
		return g.symbol
	})
}

func compileDefparameter(cp *Compiler, form *Cons, sc *scope) expression {
	g, value, doc := cp.definedVariable(form, sc, 2)
	g.special = true
	return simple(func(c *Call, f *frame) Value {
		g.special = true
		g.document(symVariable, doc)
		c.setSpecial(g, value(c, f))
		return g.symbol
	})
}

func compileDefconstant(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 3)
	symbol, ok := parts[0].(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "%s cannot name a constant", Sketch(parts[0], formLength))
	}
	g := cp.unfrozen(symbol)
	value := cp.compile(parts[1], sc).one()
	return simple(func(c *Call, f *frame) Value {
		v := value(c, f)
		if len(parts) > 2 {
			g.document(symVariable, parts[2])
		}
		if g.constant && !eql(g.value, v) {
			c.Fail(ProgramError, "the constant %s is being redefined", symbol.name)
		}
		g.value, g.special, g.constant = v, true, true
		return symbol
	})
}

func compileDeftype(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	symbol := cp.unfrozen(cp.TakeSymbol(parts[0])).symbol
	function := cp.compileLambda(symbol.name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: symbol, macro: true, star: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		c.environment.types[symbol] = fn
		if fn.doc != "" {
			c.environment.global(symbol).document(symTypeWord, c.Text(fn.doc))
		}
		return symbol
	})
}

// compileDefineCompilerMacro keeps a compiler macro to be asked for. Calls are compiled
// as if there were none, which is always right.
func compileDefineCompilerMacro(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0]), macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		if !setter {
			g.compilerMacro = &Function{name: name, doc: fn.doc, least: 2, most: 2, two: func(c *Call, form, environment Value) Value {
				return c.newCompiler("").expandIn(&macro{function: fn}, c.cell(form), c.scopeArgument(environment))
			}}
			g.document(CL("COMPILER-MACRO"), c.docOf(fn.doc))
		}
		return parts[0]
	})
}

func compileDefineSymbolMacro(cp *Compiler, form *Cons, _ *scope) expression {
	parts := cp.Arguments(form, 2, 2)
	g := cp.unfrozen(cp.checkBindable(parts[0]))
	if g.special {
		cp.Fail(ProgramError, "%s is a special variable and cannot be a symbol macro", g.symbol.name)
	}
	return simple(func(*Call, *frame) Value {
		g.expansion = parts[1]
		return g.symbol
	})
}

func compileDeclaim(cp *Compiler, form *Cons, _ *scope) expression {
	for _, declaration := range cp.Forms(form.Cdr) {
		cp.proclaim(declaration)
	}
	return constant(Nil)
}

// compileInPackage enters a package the note made itself; every other name leads back
// to the note's own package, which is where notes written for the upstream system
// expect to be.
func compileInPackage(cp *Compiler, form *Cons, _ *scope) expression {
	name := cp.Arguments(form, 1, 1)[0]
	return simple(func(c *Call, _ *frame) Value {
		target := c.environment.user
		if p := c.environment.packages[c.Name(name)]; p != nil && p.madeByNote {
			target = p
		}
		c.setSpecial(c.environment.global(symPackage), target)
		return target
	})
}
