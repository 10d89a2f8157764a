package lisp

import "strconv"

// symbolFunctions are about symbols and what they name.
func symbolFunctions() []builtin {
	return []builtin{
		predicate("symbolp", "True for a symbol.", func(v Value) bool { _, ok := v.(*Symbol); return ok }),
		predicate("keywordp", "True for a keyword.", func(v Value) bool { s, ok := v.(*Symbol); return ok && s.Keyword() }),
		{name: "symbol-name", list: "(symbol)", doc: "The name.", one: func(c *Call, a Value) Value { return c.text(c.symbol(a).name) }},
		{name: "symbol-package", list: "(symbol)", doc: "The home package, or nil.", one: func(c *Call, a Value) Value {
			if p := c.environment.packages[c.symbol(a).home]; p != nil {
				return p
			}
			return Nil
		}},
		{name: "symbol-value", list: "(symbol)", doc: "The value of a global variable.", one: func(c *Call, a Value) Value { return c.symbolValue(c.symbol(a)) }},
		{name: "symbol-function", list: "(symbol)", doc: "The function a symbol names.", one: func(c *Call, a Value) Value { return c.function(c.symbol(a)) }},
		{name: "fdefinition", list: "(name)", doc: "The function a name names.", one: func(c *Call, a Value) Value { return c.function(a) }},
		{name: "boundp", list: "(symbol)", doc: "True if the variable has a value.", one: func(c *Call, a Value) Value {
			return Boolean(c.special(c.environment.global(c.symbol(a))) != nil)
		}},
		{name: "fboundp", list: "(name)", doc: "True if there is a function or macro of that name.", one: func(c *Call, a Value) Value {
			if symbol, ok := setfName(a); ok {
				return Boolean(c.environment.global(symbol).setter != nil)
			}
			symbol := c.symbol(a)
			if fn := c.environment.global(symbol).function; fn != nil {
				return fn
			}
			return Boolean(symbol.operator != nil && symbol.operator.special != nil || c.environment.macro(symbol) != nil)
		}},
		{name: "constantp", list: "(form &optional environment)", doc: "True if a form always has the same value.", call: func(c *Call, args []Value) Value {
			switch x := args[0].(type) {
			case *Symbol:
				return Boolean(c.environment.global(x).constant)
			case *Cons:
				return Boolean(x.Car == symQuote)
			}
			return T
		}},
		{name: "makunbound", list: "(symbol)", doc: "Take the value away.", one: func(c *Call, a Value) Value {
			c.unfrozen(c.symbol(a)).value = nil
			return a
		}},
		{name: "fmakunbound", list: "(name)", doc: "Take the function away.", one: func(c *Call, a Value) Value {
			if symbol, ok := setfName(a); ok {
				c.unfrozen(symbol).setter = nil
				return a
			}
			g := c.definable(c.symbol(a))
			g.function, g.macro = nil, nil
			return a
		}},
		{name: "set", list: "(symbol value)", doc: "Set a global variable.", two: func(c *Call, a, b Value) Value {
			c.setSpecial(c.environment.global(c.symbol(a)), b)
			return b
		}},
		{name: "macro-function", list: "(symbol &optional environment)", doc: "The expander of the macro a symbol names, or nil.", named: macroFunction},
		{name: "compiler-macro-function", list: "(name &optional environment)", doc: "The compiler macro of that name, which is never used, or nil.", call: func(c *Call, args []Value) Value {
			symbol, ok := setfName(args[0])
			if !ok {
				symbol = c.symbol(args[0])
			}
			if g := c.environment.global(symbol); g.compilerMacro != nil && !ok {
				return g.compilerMacro
			}
			return Nil
		}},
		{name: "special-operator-p", list: "(symbol)", doc: "True for a special operator.", one: func(c *Call, a Value) Value {
			return Boolean(c.symbol(a).home == standardPackage && specialOperators[c.symbol(a).name])
		}},
		{name: "gensym", list: "(&optional prefix)", doc: "A new uninterned symbol.", call: gensym},
		{name: "make-symbol", list: "(name)", doc: "A new uninterned symbol of that name.", one: func(c *Call, a Value) Value {
			c.charge(entryBytes + len(c.str(a).chars))
			return &Symbol{name: c.str(a).String()}
		}},
		{name: "copy-symbol", list: "(symbol &optional properties)", doc: "A new uninterned symbol of the same name, with the same value, function and properties if asked.", named: func(c *Call, args Args) Value {
			properties := args.Get("properties")

			c.charge(2 * entryBytes)
			original := c.symbol(args.Get("symbol"))
			made := &Symbol{name: original.name}
			if properties != nil && properties != Nil {
				from, to := c.environment.global(original), c.environment.global(made)
				to.value, to.function, to.macro, to.plist = c.special(from), from.function, from.macro, c.newList(c.slice(from.plist))
			}
			return made
		}},
		{name: "gentemp", list: "(&optional prefix package)", doc: "A new interned symbol.", call: func(c *Call, args []Value) Value {
			prefix := "T"
			if len(args) > 0 {
				prefix = c.str(args[0]).String()
			}
			p := c.changeable(c.packageArgument(args, 1))
			for {
				c.environment.gensyms++
				name := prefix + strconv.FormatInt(c.environment.gensyms, 10)
				c.charge(entryBytes + len(name))
				c.step()
				if symbol, made := p.intern(name, false); made {
					return symbol
				}
			}
		}},
	}
}

func macroFunction(c *Call, args Args) Value {
	symbol, sc := c.symbol(args.Get("symbol")), c.scopeArgument(args.Get("environment"))
	m := c.environment.macro(symbol)
	if local, _, ok := sc.function(symbol); ok {
		m = local.macro
	}
	if m == nil {
		if symbol.operator == nil || symbol.operator.special == nil || specialOperators[symbol.name] {
			return Nil
		}
		return &Function{name: symbol.name, least: 2, most: 2, two: func(c *Call, form, _ Value) Value {
			expansion, _ := conventional(c.cell(form), symbol)
			if expansion == nil {
				return form
			}
			return expansion
		}}
	}
	c.charge(closureBytes)
	return &Function{name: m.name, least: 2, most: 2, two: func(c *Call, form, environment Value) Value {
		return c.newCompiler("").expandIn(m, c.cell(form), c.scopeArgument(environment))
	}}
}

// gensym counts by *gensym-counter*, unless it is given a number.
func gensym(c *Call, args []Value) Value {
	prefix := "G"
	counter := c.environment.global(standardSymbol("*GENSYM-COUNTER*"))
	number := c.special(counter)
	switch x := optional(args, 0).(type) {
	case nil:
	case *String:
		prefix = x.String()
	default:
		if !c.typep(x, standardSymbol("UNSIGNED-BYTE")) {
			c.typeError(x, "STRING")
		}
		c.charge(2*entryBytes + bits(x))
		return &Symbol{name: prefix + c.integer(x).String()}
	}
	if !c.typep(number, standardSymbol("UNSIGNED-BYTE")) {
		c.typeError(number, "UNSIGNED-BYTE")
	}
	c.charge(2*entryBytes + len(prefix) + bits(number))
	c.setSpecial(counter, c.add(number, Integer(1)))
	return &Symbol{name: prefix + c.integer(number).String()}
}

var specialOperators = map[string]bool{
	"BLOCK": true, "CATCH": true, "EVAL-WHEN": true, "FLET": true, "FUNCTION": true, "GO": true, "IF": true, "LABELS": true, "LET": true, "LET*": true,
	"LOAD-TIME-VALUE": true, "LOCALLY": true, "MACROLET": true, "MULTIPLE-VALUE-CALL": true, "MULTIPLE-VALUE-PROG1": true, "PROGN": true, "PROGV": true,
	"QUOTE": true, "RETURN-FROM": true, "SETQ": true, "SYMBOL-MACROLET": true, "TAGBODY": true, "THE": true, "THROW": true, "UNWIND-PROTECT": true,
}

// unfrozen takes a symbol whose definitions a note may change: not one of the standard.
func (c *Call) unfrozen(symbol *Symbol) *global {
	if symbol.home == standardPackage {
		c.fail(packageError, "%s belongs to Common Lisp and cannot be redefined; choose another name", symbol.name)
	}
	return c.environment.global(symbol)
}

// definable takes a symbol whose function or macro a note may change: neither one of the
// standard nor one that the kernel offers.
func (c *Call) definable(symbol *Symbol) *global {
	g := c.unfrozen(symbol)
	if c.kernelOperator(g) {
		c.fail(packageError, "%s belongs to the kernel and cannot be redefined; choose another name", symbol.name)
	}
	return g
}

// kernelOperator reports a function or a macro of the configuration.
func (c *Call) kernelOperator(g *global) bool {
	if g.symbol.home != kernelPackage {
		return false
	}
	if fn := g.function; fn != nil {
		return fn.lambda == nil && fn.generic == nil
	}
	m := c.environment.macro(g.symbol)
	return m != nil && m.function == nil
}
