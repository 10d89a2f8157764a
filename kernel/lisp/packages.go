package lisp

import (
	"slices"
	"strconv"
	"strings"
)

// packageFunctions ask about packages and find symbols in them.
func packageFunctions() []Builtin {
	return []Builtin{
		predicate("packagep", "True for a package.", func(v Value) bool { _, ok := v.(*Package); return ok }),
		{Name: "find-package", LambdaList: "(name)", Doc: "The package of that name, or nil.", One: func(c *Call, a Value) Value {
			if p, ok := a.(*Package); ok {
				return p
			}
			if p := c.environment.packages[c.Name(a)]; p != nil {
				return p
			}
			return Nil
		}},
		{Name: "find-symbol", LambdaList: "(name &optional package)", Doc: "The symbol of that name, or nil; and its status.", Many: true, Named: func(c *Call, args Args) Value {
			p, name := c.packageArgument(args), c.TakeText(args.Get("name"))
			if symbol, ok := p.Find(name); ok {
				return c.Values(symbol, p.status(symbol))
			}
			return c.Values(Nil, Nil)
		}},
		{Name: "find-all-symbols", LambdaList: "(name)", Doc: "The symbols of that name in any package.", One: func(c *Call, a Value) Value {
			name := c.Name(a)
			var found []Value
			for _, p := range c.allPackages() {
				if symbol, ok := p.own(name); ok && !slices.Contains(found, Value(symbol)) {
					found = Append(c, found, Value(symbol))
				}
			}
			return c.NewList(found)
		}},
		{Name: "apropos-list", LambdaList: "(text &optional package)", Doc: "The symbols with text in their names, of a package or of all.", Named: func(c *Call, args Args) Value {
			return c.NewList(c.apropos(args))
		}},
		{Name: "apropos", LambdaList: "(text &optional package)", Doc: "Print the symbols with text in their names.", Named: func(c *Call, args Args) Value {
			for _, symbol := range c.apropos(args) {
				out := c.stream(symStandardOutput)
				c.Write(out, c.printedRunes(symbol, true))
				c.Write(out, []rune{'\n'})
			}
			return noValues
		}, Many: true},
		{Name: "package-name", LambdaList: "(package)", Doc: "The name of a package.", One: func(c *Call, a Value) Value {
			if p, ok := a.(*Package); ok && p.deleted {
				return Nil
			}
			return c.Text(c.Package(a).name)
		}},
		{Name: "package-nicknames", LambdaList: "(package)", Doc: "The other names of a package.", One: func(c *Call, a Value) Value {
			b := NewListBuilder(c)
			for _, nickname := range c.Package(a).nicknames {
				b.Add(c.Text(nickname))
			}
			return b.List()
		}},
		{Name: "package-use-list", LambdaList: "(package)", Doc: "The packages it uses.", One: func(c *Call, a Value) Value { return c.packageList(c.Package(a).uses) }},
		{Name: "package-used-by-list", LambdaList: "(package)", Doc: "The packages that use it.", One: func(c *Call, a Value) Value { return c.packageList(c.users(c.Package(a))) }},
		{Name: "package-shadowing-symbols", LambdaList: "(package)", Doc: "The symbols that hide what used packages export.", One: func(c *Call, a Value) Value {
			p := c.Package(a)
			names := MakeSlice[string](c, len(p.shadowing))[:0]
			for name := range p.shadowing {
				names = append(names, name)
			}
			slices.Sort(names)
			b := NewListBuilder(c)
			for _, name := range names {
				if symbol, ok := p.own(name); ok {
					b.Add(symbol)
				}
			}
			return b.List()
		}},
		{Name: "list-all-packages", LambdaList: "()", Doc: "All packages of this note.", Call: func(c *Call, _ []Value) Value { return c.packageList(c.allPackages()) }},
	}
}

// apropos finds the symbols whose names contain the text, in any case.
func (c *Call) apropos(args Args) []Value {
	text := c.upper(c.Name(args.Get("text")))
	packages := c.allPackages()
	if pkg := args.Get("package"); Given(pkg) {
		packages = []*Package{c.Package(pkg)}
	}
	var found []Value
	for _, p := range packages {
		for _, symbol := range c.listed(p, false) {
			if strings.Contains(c.upper(symbol.name), text) && (p.fixed != nil || symbol.home == p.name || symbol.home == "") {
				found = Append(c, found, Value(symbol))
			}
		}
	}
	return found
}

// upper is a text in upper case.
func (c *Call) upper(text string) string {
	c.Work(1 + len(text)/8)
	upper := strings.ToUpper(text)
	if upper != text {
		c.Charge(len(upper))
	}
	return upper
}

func (c *Call) packageList(packages []*Package) Value {
	b := NewListBuilder(c)
	for _, p := range packages {
		b.Add(p)
	}
	return b.List()
}

// allPackages are the packages of the note, by name.
func (c *Call) allPackages() []*Package {
	all := MakeSlice[*Package](c, len(c.environment.packages))[:0]
	for name, p := range c.environment.packages {
		if name == p.name {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.name, b.name) })
	return all
}

// users are the packages that use p.
func (c *Call) users(p *Package) []*Package {
	var users []*Package
	for _, other := range c.allPackages() {
		if slices.Contains(other.uses, p) {
			users = Append(c, users, other)
		}
	}
	return users
}

// Package takes a package designator.
func (c *Call) Package(v Value) *Package {
	p, ok := v.(*Package)
	if !ok {
		p = c.environment.packages[c.Name(v)]
	}
	if p == nil || p.deleted {
		c.signalError(c.newCondition(packageError, "The name "+c.Shown(v)+" does not designate any package.", "PACKAGE", v))
	}
	return p
}

// packageArgument takes the parameter package, which is the current one if it is not given.
func (c *Call) packageArgument(args Args) *Package {
	if v := args.Get("package"); v != nil {
		return c.Package(v)
	}
	return c.CurrentPackage()
}

// status is the second value of intern and find-symbol.
func (p *Package) status(symbol *Symbol) Value {
	if own, ok := p.own(symbol.name); !ok || own != symbol {
		return kwInherited
	}
	if found, ok := p.exported(symbol.name); ok && found == symbol {
		return kwExternal
	}
	return kwInternal
}

// listed lists the symbols that are in a package itself, by name.
func (c *Call) listed(p *Package, externalOnly bool) []*Symbol {
	symbols := MakeSlice[*Symbol](c, p.size())[:0]
	p.mu.Lock()
	for name, symbol := range p.symbols {
		if !externalOnly || p.open || p.external[name] {
			symbols = append(symbols, symbol)
		}
	}
	if !externalOnly || p.open {
		for _, pointer := range p.transient {
			if symbol := pointer.Value(); symbol != nil {
				symbols = append(symbols, symbol)
			}
		}
	}
	p.mu.Unlock()
	for _, symbol := range p.fixed {
		symbols = append(symbols, symbol)
	}
	slices.SortFunc(symbols, func(a, b *Symbol) int { return strings.Compare(a.name, b.name) })
	return symbols
}

// What can be walked of a package.
var (
	kwPresent = Keyword("PRESENT")
	kwAll     = Keyword("ALL")
)

// walkOf says what the words of loop walk.
func walkOf(word string) *Symbol {
	switch word[0] {
	case 'E':
		return kwExternal
	case 'P':
		return kwPresent
	}
	return kwAll
}

// packageSymbols lists the symbols of a package: its external ones, those present in it,
// or all that are accessible.
var packageSymbols = &Function{name: "PACKAGE-SYMBOLS", least: 2, most: 2, two: func(c *Call, pkg, walk Value) Value {
	p := c.CurrentPackage()
	if pkg != Nil {
		p = c.Package(pkg)
	}
	items := c.symbolsOf(p, walk == kwExternal)
	if walk == kwAll {
		for _, used := range p.uses {
			for _, v := range c.symbolsOf(used, true) {
				if symbol := v.(*Symbol); !p.shadowing[symbol.name] && p.status(symbol) == Value(kwInherited) {
					items = Append(c, items, Value(symbol))
				}
			}
		}
	}
	return c.NewList(items)
}}

func (c *Call) symbolsOf(p *Package, externalOnly bool) []Value {
	symbols := c.listed(p, externalOnly)
	items := MakeSlice[Value](c, len(symbols))
	for i, symbol := range symbols {
		items[i] = symbol
	}
	return items
}

// packageMacros walk packages and define them.
func packageMacros() []Macro {
	walk := func(kind *Symbol) func(cp *Compiler, form *Cons) Value {
		return func(cp *Compiler, form *Cons) Value {
			variable, source, result, body := cp.specification(form, 1)
			list := Form(symFuncall, Form(symQuote, packageSymbols), source, kind)
			return FormStar(CL("DOLIST"), body, NewList(variable, list, result))
		}
	}
	return []Macro{
		{"do-symbols", "((variable &optional package result) &body body)", "Evaluate body for each symbol accessible in a package.", walk(kwAll)},
		{"do-external-symbols", "((variable &optional package result) &body body)", "Evaluate body for each exported symbol of a package.", walk(kwExternal)},
		{"do-all-symbols", "((variable &optional result) &body body)", "Evaluate body for each symbol of any package.", expandDoAllSymbols},
		{"with-package-iterator", "((name packages &rest kinds) &body body)", "Walk packages by calling name.", expandPackageIterator},
		{"defpackage", "(name &rest options)", "Define a package.", expandDefpackage},
	}
}

func expandDoAllSymbols(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	spec := cp.Forms(parts[0])
	if len(spec) < 1 || len(spec) > 2 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	pkg := cp.Gensym("PACKAGE")
	list := Form(CL("MAPCAN"), Form(symLambda, NewList(pkg), Form(symFuncall, Form(symQuote, packageSymbols), pkg, kwPresent)),
		Form(CL("LIST-ALL-PACKAGES")))
	return FormStar(CL("DOLIST"), form.Cdr.(*Cons).Cdr, NewList(append([]Value{spec[0], list}, spec[1:]...)...))
}

// packageEntries lists what a package iterator gives: symbol, status and package.
var packageEntries = &Function{name: "PACKAGE-ENTRIES", least: 2, most: 2, two: func(c *Call, packages, kinds Value) Value {
	list := []Value{packages}
	if IsList(packages) {
		list = c.Slice(packages)
	}
	wanted := c.Slice(kinds)
	var entries []Value
	for _, v := range list {
		p := c.Package(v)
		for _, symbol := range c.Slice(packageSymbols.two(c, p, kwAll)) {
			status := p.status(symbol.(*Symbol))
			if slices.Contains(wanted, status) {
				entries = Append(c, entries, c.NewList([]Value{T, symbol, status, p}))
			}
		}
	}
	return c.NewList(entries)
}}

func expandPackageIterator(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	spec := cp.Forms(parts[0])
	if len(spec) < 3 {
		cp.Fail(ProgramError, "with-package-iterator needs a name, packages and kinds of symbols: %s", Sketch(form, formLength))
	}
	for _, kind := range spec[2:] {
		if kind != kwInternal && kind != kwExternal && kind != kwInherited {
			cp.Fail(ProgramError, "%s is no kind of symbols", Sketch(kind, formLength))
		}
	}
	entries := cp.Gensym("ENTRIES")
	list := Form(symFuncall, Form(symQuote, packageEntries), spec[1], Form(symQuote, NewList(spec[2:]...)))
	step := Form(CL("VALUES-LIST"), Form(CL("POP"), entries))
	next := Form(symIf, entries, step, Nil)
	return Form(symLet, NewList(NewList(entries, list)), FormStar(CL("MACROLET"), form.Cdr.(*Cons).Cdr,
		NewList(NewList(spec[0], Nil, Form(symQuote, next)))))
}

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
		{Name: "symbol-function", LambdaList: "(symbol)", Doc: "The function a symbol names, for a macro its expander.", One: func(c *Call, a Value) Value { return functionOrExpander(c, c.TakeSymbol(a)) }},
		{Name: "fdefinition", LambdaList: "(name)", Doc: "The function a name names, for a macro its expander.", One: functionOrExpander},
		{Name: "boundp", LambdaList: "(symbol)", Doc: "True if the variable has a value.", One: func(c *Call, a Value) Value {
			return Boolean(c.special(c.global(c.TakeSymbol(a))) != nil)
		}},
		{Name: "fboundp", LambdaList: "(name)", Doc: "True if there is a function or macro of that name.", One: func(c *Call, a Value) Value {
			if symbol, ok := setfName(a); ok {
				return Boolean(c.global(symbol).setter != nil)
			}
			symbol := c.TakeSymbol(a)
			if fn := c.global(symbol).function; fn != nil {
				return fn
			}
			return Boolean(symbol.operator != nil && symbol.operator.special != nil || c.environment.macro(symbol) != nil)
		}},
		{Name: "constantp", LambdaList: "(form &optional environment)", Doc: "True if a form always has the same value.", Named: func(c *Call, args Args) Value {
			switch x := args.Get("form").(type) {
			case *Symbol:
				return Boolean(c.global(x).constant)
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
			c.setSpecial(c.global(c.TakeSymbol(a)), b)
			return b
		}},
		{Name: "macro-function", LambdaList: "(symbol &optional environment)", Doc: "The expander of the macro a symbol names, or nil.", Named: macroFunction},
		{Name: "compiler-macro-function", LambdaList: "(name &optional environment)", Doc: "The compiler macro of that name, which is never used, or nil.", Named: func(c *Call, args Args) Value {
			name := args.Get("name")
			symbol, ok := setfName(name)
			if !ok {
				symbol = c.TakeSymbol(name)
			}
			if g := c.global(symbol); g.compilerMacro != nil && !ok {
				return g.compilerMacro
			}
			return Nil
		}},
		{Name: "special-operator-p", LambdaList: "(symbol)", Doc: "True for a special operator.", One: func(c *Call, a Value) Value {
			return Boolean(c.TakeSymbol(a).home == standardPackage && specialOperators[c.TakeSymbol(a).name])
		}},
		{Name: "gensym", LambdaList: "(&optional prefix)", Doc: "A new uninterned symbol.", Named: gensym},
		{Name: "make-symbol", LambdaList: "(name)", Doc: "A new uninterned symbol of that name.", One: func(c *Call, a Value) Value {
			return c.newSymbol(c.TakeText(a))
		}},
		{Name: "copy-symbol", LambdaList: "(symbol &optional properties)", Doc: "A new uninterned symbol of the same name, with the same value, function and properties if asked.", Named: func(c *Call, args Args) Value {
			properties := args.Get("properties")
			original := c.TakeSymbol(args.Get("symbol"))
			made := c.newSymbol(original.name)
			if properties != nil && properties != Nil {
				from, to := c.global(original), c.global(made)
				to.value, to.function, to.macro, to.plist = c.special(from), from.function, from.macro, c.NewList(c.Slice(from.plist))
			}
			return made
		}},
		{Name: "gentemp", LambdaList: "(&optional prefix package)", Doc: "A new interned symbol.", Named: func(c *Call, args Args) Value {
			prefix := "T"
			if given := args.Get("prefix"); given != nil {
				prefix = c.TakeText(given)
			}
			p := c.changeable(c.packageArgument(args))
			for {
				c.environment.gensyms++
				name := prefix + strconv.FormatInt(c.environment.gensyms, 10)
				c.Work(1 + len(name)/8)
				if symbol, made := c.Intern(p, name, false); made {
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
	return expander(c, symbol, m)
}

// functionOrExpander returns the function that a name names, or else the expander of the macro.
func functionOrExpander(c *Call, name Value) Value {
	if symbol, ok := name.(*Symbol); ok && c.global(symbol).function == nil {
		if found := expander(c, symbol, c.environment.macro(symbol)); found != Nil {
			return found
		}
	}
	return c.Function(name)
}

// expander returns the function that expands forms of a macro, or of an operator of the standard that is
// one there. m is the macro, or nil. It returns Nil for all else.
func expander(c *Call, symbol *Symbol, m *macro) Value {
	if m == nil {
		if symbol.operator == nil || symbol.operator.special == nil || specialOperators[symbol.name] {
			return Nil
		}
		return Allocate(c, Function{name: symbol.name, least: 2, most: 2, two: func(c *Call, form, _ Value) Value {
			expansion, _ := conventional(c.cell(form), symbol)
			if expansion == nil {
				return form
			}
			return expansion
		}})
	}
	return Allocate(c, Function{name: m.name, least: 2, most: 2, two: func(c *Call, form, environment Value) Value {
		return c.newCompiler("").expandIn(m, c.cell(form), c.scopeArgument(environment))
	}})
}

// gensym counts by *gensym-counter*, unless it is given a number.
func gensym(c *Call, args Args) Value {
	prefix := "G"
	counter := c.global(CL("*GENSYM-COUNTER*"))
	number := c.special(counter)
	switch x := args.Get("prefix").(type) {
	case nil:
	case *String:
		prefix = c.GoText(x.chars)
	default:
		if !c.typep(x, CL("UNSIGNED-BYTE")) {
			c.TypeError(x, "STRING")
		}
		return c.newSymbol(prefix + c.Decimal(x))
	}
	if !c.typep(number, CL("UNSIGNED-BYTE")) {
		c.TypeError(number, "UNSIGNED-BYTE")
	}
	c.setSpecial(counter, c.add(number, Integer(1)))
	return c.newSymbol(prefix + c.Decimal(number))
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
	return c.global(symbol)
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
