package lisp

import "strconv"

// symbolFunctions are about symbols and what they name.
func symbolFunctions() []Builtin {
	return []Builtin{
		predicate("symbolp", "True for a symbol.", func(v Value) bool { _, ok := v.(*Symbol); return ok }),
		predicate("keywordp", "True for a keyword.", func(v Value) bool { s, ok := v.(*Symbol); return ok && s.Keyword() }),
		{Name: "symbol-name", LambdaList: "(symbol)", Doc: "The name.", One: func(c *Call, a Value) Value { return c.Text(c.TakeSymbol(a).name) }},
		{Name: "symbol-package", LambdaList: "(symbol)", Doc: "The home package, or nil.", One: func(c *Call, a Value) Value {
			if p := c.environment.packages[c.TakeSymbol(a).home]; p != nil {
				return p
			}
			return Nil
		}},
		{Name: "symbol-value", LambdaList: "(symbol)", Doc: "The value of a global variable.", One: func(c *Call, a Value) Value { return c.Variable(c.TakeSymbol(a)) }},
		{Name: "symbol-function", LambdaList: "(symbol)", Doc: "The function a symbol names.", One: func(c *Call, a Value) Value { return c.Function(c.TakeSymbol(a)) }},
		{Name: "fdefinition", LambdaList: "(name)", Doc: "The function a name names.", One: func(c *Call, a Value) Value { return c.Function(a) }},
		{Name: "boundp", LambdaList: "(symbol)", Doc: "True if the variable has a value.", One: func(c *Call, a Value) Value {
			return Boolean(c.special(c.environment.global(c.TakeSymbol(a))) != nil)
		}},
		{Name: "fboundp", LambdaList: "(name)", Doc: "True if there is a function or macro of that name.", One: func(c *Call, a Value) Value {
			if symbol, ok := setfName(a); ok {
				return Boolean(c.environment.global(symbol).setter != nil)
			}
			symbol := c.TakeSymbol(a)
			if fn := c.environment.global(symbol).function; fn != nil {
				return fn
			}
			return Boolean(symbol.operator != nil && symbol.operator.special != nil || c.environment.macro(symbol) != nil)
		}},
		{Name: "constantp", LambdaList: "(form &optional environment)", Doc: "True if a form always has the same value.", Call: func(c *Call, args []Value) Value {
			switch x := args[0].(type) {
			case *Symbol:
				return Boolean(c.environment.global(x).constant)
			case *Cons:
				return Boolean(x.Car == symQuote)
			}
			return T
		}},
		{Name: "makunbound", LambdaList: "(symbol)", Doc: "Take the value away.", One: func(c *Call, a Value) Value {
			c.unfrozen(c.TakeSymbol(a)).value = nil
			return a
		}},
		{Name: "fmakunbound", LambdaList: "(name)", Doc: "Take the function away.", One: func(c *Call, a Value) Value {
			if symbol, ok := setfName(a); ok {
				c.unfrozen(symbol).setter = nil
				return a
			}
			g := c.definable(c.TakeSymbol(a))
			g.function, g.macro = nil, nil
			return a
		}},
		{Name: "set", LambdaList: "(symbol value)", Doc: "Set a global variable.", Two: func(c *Call, a, b Value) Value {
			c.setSpecial(c.environment.global(c.TakeSymbol(a)), b)
			return b
		}},
		{Name: "macro-function", LambdaList: "(symbol &optional environment)", Doc: "The expander of the macro a symbol names, or nil.", Named: macroFunction},
		{Name: "compiler-macro-function", LambdaList: "(name &optional environment)", Doc: "The compiler macro of that name, which is never used, or nil.", Call: func(c *Call, args []Value) Value {
			symbol, ok := setfName(args[0])
			if !ok {
				symbol = c.TakeSymbol(args[0])
			}
			if g := c.environment.global(symbol); g.compilerMacro != nil && !ok {
				return g.compilerMacro
			}
			return Nil
		}},
		{Name: "special-operator-p", LambdaList: "(symbol)", Doc: "True for a special operator.", One: func(c *Call, a Value) Value {
			return Boolean(c.TakeSymbol(a).home == standardPackage && specialOperators[c.TakeSymbol(a).name])
		}},
		{Name: "gensym", LambdaList: "(&optional prefix)", Doc: "A new uninterned symbol.", Call: gensym},
		{Name: "make-symbol", LambdaList: "(name)", Doc: "A new uninterned symbol of that name.", One: func(c *Call, a Value) Value {
			c.Charge(EntryBytes + len(c.TakeString(a).chars))
			return &Symbol{name: c.TakeString(a).String()}
		}},
		{Name: "copy-symbol", LambdaList: "(symbol &optional properties)", Doc: "A new uninterned symbol of the same name, with the same value, function and properties if asked.", Named: func(c *Call, args Args) Value {
			properties := args.Get("properties")

			c.Charge(2 * EntryBytes)
			original := c.TakeSymbol(args.Get("symbol"))
			made := &Symbol{name: original.name}
			if properties != nil && properties != Nil {
				from, to := c.environment.global(original), c.environment.global(made)
				to.value, to.function, to.macro, to.plist = c.special(from), from.function, from.macro, c.NewList(c.Slice(from.plist))
			}
			return made
		}},
		{Name: "gentemp", LambdaList: "(&optional prefix package)", Doc: "A new interned symbol.", Call: func(c *Call, args []Value) Value {
			prefix := "T"
			if len(args) > 0 {
				prefix = c.TakeString(args[0]).String()
			}
			p := c.changeable(c.packageArgument(args, 1))
			for {
				c.environment.gensyms++
				name := prefix + strconv.FormatInt(c.environment.gensyms, 10)
				c.Charge(EntryBytes + len(name))
				c.Step()
				if symbol, made := p.Intern(name, false); made {
					return symbol
				}
			}
		}},
	}
}

func macroFunction(c *Call, args Args) Value {
	symbol, sc := c.TakeSymbol(args.Get("symbol")), c.scopeArgument(args.Get("environment"))
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
	c.Charge(ObjectBytes)
	return &Function{name: m.name, least: 2, most: 2, two: func(c *Call, form, environment Value) Value {
		return c.newCompiler("").expandIn(m, c.cell(form), c.scopeArgument(environment))
	}}
}

// gensym counts by *gensym-counter*, unless it is given a number.
func gensym(c *Call, args []Value) Value {
	prefix := "G"
	counter := c.environment.global(CL("*GENSYM-COUNTER*"))
	number := c.special(counter)
	switch x := Optional(args, 0).(type) {
	case nil:
	case *String:
		prefix = x.String()
	default:
		if !c.typep(x, CL("UNSIGNED-BYTE")) {
			c.TypeError(x, "STRING")
		}
		c.Charge(2*EntryBytes + bits(x))
		return &Symbol{name: prefix + c.Integer(x).String()}
	}
	if !c.typep(number, CL("UNSIGNED-BYTE")) {
		c.TypeError(number, "UNSIGNED-BYTE")
	}
	c.Charge(2*EntryBytes + len(prefix) + bits(number))
	c.setSpecial(counter, c.add(number, Integer(1)))
	return &Symbol{name: prefix + c.Integer(number).String()}
}

var specialOperators = map[string]bool{
	"BLOCK": true, "CATCH": true, "EVAL-WHEN": true, "FLET": true, "FUNCTION": true, "GO": true, "IF": true, "LABELS": true, "LET": true, "LET*": true,
	"LOAD-TIME-VALUE": true, "LOCALLY": true, "MACROLET": true, "MULTIPLE-VALUE-CALL": true, "MULTIPLE-VALUE-PROG1": true, "PROGN": true, "PROGV": true,
	"QUOTE": true, "RETURN-FROM": true, "SETQ": true, "SYMBOL-MACROLET": true, "TAGBODY": true, "THE": true, "THROW": true, "UNWIND-PROTECT": true,
}

// unfrozen takes a symbol whose definitions a note may change: not one of the standard.
func (c *Call) unfrozen(symbol *Symbol) *global {
	if symbol.home == standardPackage {
		c.Fail(packageError, "%s belongs to Common Lisp and cannot be redefined; choose another name", symbol.name)
	}
	return c.environment.global(symbol)
}

// definable takes a symbol whose function or macro a note may change: neither one of the
// standard nor one that the kernel offers.
func (c *Call) definable(symbol *Symbol) *global {
	g := c.unfrozen(symbol)
	if c.kernelOperator(g) {
		c.Fail(packageError, "%s belongs to the kernel and cannot be redefined; choose another name", symbol.name)
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
