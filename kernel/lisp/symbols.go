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
			_, special := c.environment.language.specials[symbol]
			if fn := c.environment.global(symbol).function; fn != nil {
				return fn
			}
			return Boolean(special || c.environment.macro(symbol) != nil)
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
			g := c.unfrozen(c.symbol(a))
			g.function, g.macro = nil, nil
			return a
		}},
		{name: "set", list: "(symbol value)", doc: "Set a global variable.", two: func(c *Call, a, b Value) Value {
			c.setSpecial(c.environment.global(c.symbol(a)), b)
			return b
		}},
		{name: "macro-function", list: "(symbol &optional environment)", doc: "The expander of the macro a symbol names, or nil.", call: macroFunction},
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
		predicate("special-operator-p", "True for a special operator.", func(v Value) bool {
			s, ok := v.(*Symbol)
			return ok && specialOperators[s.name]
		}),
		{name: "gensym", list: "(&optional prefix)", doc: "A new uninterned symbol.", call: func(c *Call, args []Value) Value {
			prefix := "G"
			if s, ok := optional(args, 0).(*String); ok {
				prefix = s.String()
			}
			c.environment.gensyms++
			c.charge(entryBytes + len(prefix))
			return &Symbol{name: prefix + strconv.FormatInt(c.environment.gensyms, 10)}
		}},
		{name: "make-symbol", list: "(name)", doc: "A new uninterned symbol of that name.", one: func(c *Call, a Value) Value {
			c.charge(entryBytes + len(c.str(a).chars))
			return &Symbol{name: c.str(a).String()}
		}},
		{name: "copy-symbol", list: "(symbol &optional properties)", doc: "A new uninterned symbol of the same name.", call: func(c *Call, args []Value) Value {
			c.charge(entryBytes)
			return &Symbol{name: c.symbol(args[0]).name}
		}},
		{name: "gentemp", list: "(&optional prefix package)", doc: "A new interned symbol.", call: func(c *Call, args []Value) Value {
			for {
				c.environment.gensyms++
				name := "T" + strconv.FormatInt(c.environment.gensyms, 10)
				c.charge(entryBytes)
				if symbol, made := c.currentPackage().intern(name, false); made {
					return symbol
				}
			}
		}},
	}
}

func macroFunction(c *Call, args []Value) Value {
	symbol, sc := c.symbol(args[0]), c.scopeArgument(optional(args, 1))
	m := c.environment.macro(symbol)
	if local, _, ok := sc.function(symbol); ok {
		m = local.macro
	}
	if m == nil {
		if form := c.environment.language.specials[symbol]; form == nil || specialOperators[symbol.name] {
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

// packageFunctions are about packages.
func packageFunctions() []builtin {
	return []builtin{
		{name: "intern", list: "(name &optional package)", doc: "The symbol of that name, made if there is none; and its status.", many: true, call: func(c *Call, args []Value) Value {
			p, name := c.packageArgument(args, 1), c.str(args[0]).String()
			if symbol, ok := p.find(name); ok {
				return c.values(symbol, p.status(symbol, c))
			}
			if p.name == standardPackage {
				c.fail(packageError, "COMMON-LISP is locked: no symbol can be added to it")
			}
			c.charge(entryBytes + len(name))
			symbol, _ := p.intern(name, false)
			return c.values(symbol, Nil)
		}},
		{name: "find-symbol", list: "(name &optional package)", doc: "The symbol of that name, or nil; and its status.", many: true, call: func(c *Call, args []Value) Value {
			p := c.packageArgument(args, 1)
			if symbol, ok := p.find(c.str(args[0]).String()); ok {
				return c.values(symbol, p.status(symbol, c))
			}
			return c.values(Nil, Nil)
		}},
		{name: "unintern", list: "(symbol &optional package)", doc: "Remove a symbol from a package.", call: func(c *Call, args []Value) Value {
			p := c.packageArgument(args, 1)
			if p.name == standardPackage || p.name == keywordPackage {
				c.fail(packageError, "%s is locked", p.name)
			}
			return Boolean(p.unintern(c.symbol(args[0]).name))
		}},
		{name: "find-package", list: "(name)", doc: "The package of that name, or nil.", one: func(c *Call, a Value) Value {
			if p, ok := a.(*Package); ok {
				return p
			}
			if p := c.environment.packages[c.name(a)]; p != nil {
				return p
			}
			return Nil
		}},
		{name: "package-name", list: "(package)", doc: "The name of a package.", one: func(c *Call, a Value) Value { return c.text(c.pkg(a).name) }},
		{name: "package-nicknames", list: "(package)", doc: "The other names of a package.", one: func(c *Call, a Value) Value {
			var b builder
			for _, nickname := range c.pkg(a).nicknames {
				b.add(c.text(nickname))
			}
			return b.list()
		}},
		{name: "package-use-list", list: "(package)", doc: "The packages it uses.", one: func(c *Call, a Value) Value {
			var b builder
			for _, used := range c.pkg(a).uses {
				b.add(used)
			}
			return b.list()
		}},
		{name: "list-all-packages", list: "()", doc: "All packages of this note.", call: func(c *Call, _ []Value) Value {
			var b builder
			for name, p := range c.environment.packages {
				if name == p.name {
					b.add(p)
				}
			}
			return b.list()
		}},
		{name: "make-package", list: "(name &key use nicknames)", doc: "A new package.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwUse, kwNicknames)
			if k[0] == nil {
				k[0] = Nil
			}
			return c.makePackage(c.name(args[0]), c.slice(k[0]))
		}},
		{name: "export", list: "(symbols &optional package)", doc: "Make symbols visible to packages that use theirs.", call: func(c *Call, args []Value) Value {
			p := c.packageArgument(args, 1)
			symbols := []Value{args[0]}
			if isList(args[0]) {
				symbols = c.slice(args[0])
			}
			for _, symbol := range symbols {
				p.export(c.symbol(symbol))
			}
			return T
		}},
		{name: "import", list: "(symbols &optional package)", doc: "Make symbols present in a package.", call: func(c *Call, args []Value) Value {
			p := c.packageArgument(args, 1)
			symbols := []Value{args[0]}
			if isList(args[0]) && args[0] != Nil {
				symbols = c.slice(args[0])
			}
			for _, symbol := range symbols {
				p.bring(c.symbol(symbol))
			}
			return T
		}},
		{name: "use-package", list: "(packages &optional package)", doc: "Use the exported symbols of packages.", call: func(c *Call, args []Value) Value {
			p := c.packageArgument(args, 1)
			used := []Value{args[0]}
			if isList(args[0]) {
				used = c.slice(args[0])
			}
			for _, name := range used {
				p.uses = append(p.uses, c.pkg(name))
			}
			return T
		}},
		predicate("packagep", "True for a package.", func(v Value) bool { _, ok := v.(*Package); return ok }),
	}
}

// bring makes a symbol of another package present.
func (p *Package) bring(symbol *Symbol) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.symbols[symbol.name] = symbol
}

// pkg takes a package designator.
func (c *Call) pkg(v Value) *Package {
	if p, ok := v.(*Package); ok {
		return p
	}
	p := c.environment.packages[c.name(v)]
	if p == nil {
		c.signalError(c.newCondition(packageError, "The name "+c.shown(v)+" does not designate any package.", "PACKAGE", v))
	}
	return p
}

func (c *Call) packageArgument(args []Value, i int) *Package {
	if v := optional(args, i); v != nil {
		return c.pkg(v)
	}
	return c.currentPackage()
}

// status is the second value of intern and find-symbol.
func (p *Package) status(symbol *Symbol, c *Call) Value {
	if own, ok := p.own(symbol.name); !ok || own != symbol {
		return kwInherited
	}
	if found, ok := p.exported(symbol.name); ok && found == symbol {
		return kwExternal
	}
	return kwInternal
}

func (c *Call) makePackage(name string, uses []Value) *Package {
	e := c.environment
	if p := e.packages[name]; p != nil {
		return p
	}
	c.charge(1024 + len(name))
	p := e.addPackage(newPackage(name))
	p.madeByNote = true
	for _, used := range uses {
		p.uses = append(p.uses, c.pkg(used))
	}
	return p
}
