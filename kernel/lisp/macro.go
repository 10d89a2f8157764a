package lisp

var symMacroexpandHook = CL("*MACROEXPAND-HOOK*")

// macro is a macro of the standard, the kernel or a note.
type macro struct {
	name string
	doc  string
	list string
	// expand returns the expansion of form.
	expand func(cp *Compiler, form *Cons) Value
	// function is the expander of a macro that a note defined.
	function *Function
}

// Macro is one row of a table of macros.
type Macro struct {
	Name       string
	LambdaList string
	Doc        string
	Expand     func(cp *Compiler, form *Cons) Value
}

// macro returns the global macro named by symbol, nil if there is none.
func (e *Environment) macro(symbol *Symbol) *macro {
	if symbol.operator != nil && symbol.operator.macro != nil {
		return symbol.operator.macro
	}
	return e.ownMacro(symbol)
}

// ownMacro returns the macro that the note or the kernel defined, nil if there is none.
func (e *Environment) ownMacro(symbol *Symbol) *macro {
	if symbol.home == standardPackage || symbol.home == keywordPackage {
		return nil
	}
	if g, ok := e.globals[symbol]; ok {
		return g.macro
	}
	return e.config.Interface.offers[symbol].macro
}

// expand expands a macro form once. What it conses has no position and takes that of
// the form.
func (cp *Compiler) expand(m *macro, form *Cons) Value {
	if m.function != nil {
		return Single(cp.apply(m.function, []Value{form}))
	}
	return m.expand(cp, form)
}

// scopeArgument takes an environment as &environment gives it.
func (c *Call) scopeArgument(v Value) *scope {
	switch x := v.(type) {
	case nil:
		return nil
	case *scope:
		return x
	}
	if v != Nil {
		c.TypeError(v, "NULL")
	}
	return nil
}

// expandOnce is macroexpand-1 in a scope.
func (c *Call) expandOnce(form Value, sc *scope) (Value, bool) {
	switch x := form.(type) {
	case *Symbol:
		if v, _, ok := sc.variable(x); ok {
			return orForm(v.expansion, form)
		}
		if g, ok := c.environment.globals[x]; ok && g.expansion != nil {
			return g.expansion, true
		}
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			break
		}
		if local, _, ok := sc.function(head); ok {
			if local.macro == nil {
				return form, false
			}
			return c.newCompiler("").expandIn(local.macro, x, sc), true
		}
		if expansion, ok := conventional(x, head); ok {
			return expansion, true
		}
		if m := c.environment.macro(head); m != nil {
			return c.newCompiler("").expandIn(m, x, sc), true
		}
	}
	return form, false
}

func orForm(expansion, form Value) (Value, bool) {
	if expansion == nil {
		return form, false
	}
	return expansion, true
}

// conventional expands the macros that the compiler takes as special forms, the way
// macroexpand-1 shows them.
func conventional(form *Cons, head *Symbol) (Value, bool) {
	rest, ok := form.Cdr.(*Cons)
	if !ok {
		return nil, false
	}
	switch head {
	case symWhen:
		return Form(symIf, rest.Car, progn(rest.Cdr)), true
	case symUnless:
		return Form(symIf, rest.Car, Nil, progn(rest.Cdr)), true
	}
	return nil, false
}

// progn makes one form of a body.
func progn(body Value) Value {
	if cell, ok := body.(*Cons); ok && cell.Cdr == Nil {
		return cell.Car
	}
	return &Cons{Car: symProgn, Cdr: body}
}

// Form builds (operator args…).
func Form(operator Value, args ...Value) Value {
	return &Cons{Car: operator, Cdr: NewList(args...)}
}

// FormStar builds (operator args… . rest).
func FormStar(operator Value, rest Value, args ...Value) Value {
	return &Cons{Car: operator, Cdr: listStar(args, rest)}
}

// expandIn expands a macro form in a scope, which macros that take places apart look
// into, by way of *macroexpand-hook*.
func (cp *Compiler) expandIn(m *macro, form *Cons, sc *scope) Value {
	outer := cp.around
	cp.around = sc
	hook := cp.touched(symMacroexpandHook)
	if hook == nil || hook == symFuncall {
		expansion := cp.expand(m, form)
		cp.around = outer
		return expansion
	}
	expander := m.function
	if expander == nil {
		expander = &Function{name: m.name, least: 2, most: 2, two: func(c *Call, form, _ Value) Value { return m.expand(cp, c.cell(form)) }}
	}
	environment := Value(Nil)
	if sc != nil {
		environment = sc
	}
	expansion := Single(cp.funcall(hook, []Value{expander, form, environment}))
	cp.around = outer
	return expansion
}
