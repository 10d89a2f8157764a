package lisp

import (
	"slices"
	"strings"
)

// packageFunctions ask about packages and find symbols in them.
func packageFunctions() []builtin {
	return []builtin{
		predicate("packagep", "True for a package.", func(v Value) bool { _, ok := v.(*Package); return ok }),
		{name: "find-package", list: "(name)", doc: "The package of that name, or nil.", one: func(c *Call, a Value) Value {
			if p, ok := a.(*Package); ok {
				return p
			}
			if p := c.environment.packages[c.name(a)]; p != nil {
				return p
			}
			return Nil
		}},
		{name: "find-symbol", list: "(name &optional package)", doc: "The symbol of that name, or nil; and its status.", many: true, call: func(c *Call, args []Value) Value {
			p, name := c.packageArgument(args, 1), c.str(args[0]).String()
			if symbol, ok := p.find(name); ok {
				return c.values(symbol, p.status(symbol))
			}
			return c.values(Nil, Nil)
		}},
		{name: "find-all-symbols", list: "(name)", doc: "The symbols of that name in any package.", one: func(c *Call, a Value) Value {
			name := c.name(a)
			var found []Value
			for _, p := range c.allPackages() {
				if symbol, ok := p.own(name); ok && !slices.Contains(found, Value(symbol)) {
					found = append(found, symbol)
				}
			}
			return c.newList(found)
		}},
		{name: "apropos-list", list: "(text &optional package)", doc: "The symbols with text in their names, of a package or of all.", call: func(c *Call, args []Value) Value {
			return c.newList(c.apropos(args))
		}},
		{name: "apropos", list: "(text &optional package)", doc: "Print the symbols with text in their names.", call: func(c *Call, args []Value) Value {
			for _, symbol := range c.apropos(args) {
				c.write(c.stream(symStandardOutput), []rune(c.printed(symbol, true)+"\n"))
			}
			return noValues
		}, many: true},
		{name: "package-name", list: "(package)", doc: "The name of a package.", one: func(c *Call, a Value) Value {
			if p, ok := a.(*Package); ok && p.deleted {
				return Nil
			}
			return c.text(c.pkg(a).name)
		}},
		{name: "package-nicknames", list: "(package)", doc: "The other names of a package.", one: func(c *Call, a Value) Value {
			var b builder
			for _, nickname := range c.pkg(a).nicknames {
				b.add(c.text(nickname))
			}
			return b.list()
		}},
		{name: "package-use-list", list: "(package)", doc: "The packages it uses.", one: func(c *Call, a Value) Value { return c.packageList(c.pkg(a).uses) }},
		{name: "package-used-by-list", list: "(package)", doc: "The packages that use it.", one: func(c *Call, a Value) Value { return c.packageList(c.users(c.pkg(a))) }},
		{name: "package-shadowing-symbols", list: "(package)", doc: "The symbols that hide what used packages export.", one: func(c *Call, a Value) Value {
			p := c.pkg(a)
			var names []string
			for name := range p.shadowing {
				names = append(names, name)
			}
			slices.Sort(names)
			var b builder
			for _, name := range names {
				c.charge(consBytes)
				if symbol, ok := p.own(name); ok {
					b.add(symbol)
				}
			}
			return b.list()
		}},
		{name: "list-all-packages", list: "()", doc: "All packages of this note.", call: func(c *Call, _ []Value) Value { return c.packageList(c.allPackages()) }},
	}
}

// apropos finds the symbols whose names contain the text, in any case.
func (c *Call) apropos(args []Value) []Value {
	text := strings.ToUpper(c.name(args[0]))
	packages := c.allPackages()
	if len(args) > 1 && args[1] != Nil {
		packages = []*Package{c.pkg(args[1])}
	}
	var found []Value
	for _, p := range packages {
		c.chargeMany(p.size(), 2*valueBytes)
		for _, symbol := range p.listed(false) {
			if c.work(1 + len(symbol.name)/8); strings.Contains(strings.ToUpper(symbol.name), text) && (p.fixed != nil || symbol.home == p.name || symbol.home == "") {
				found = append(found, symbol)
			}
		}
	}
	return found
}

func (c *Call) packageList(packages []*Package) Value {
	c.chargeMany(len(packages), consBytes)
	var b builder
	for _, p := range packages {
		b.add(p)
	}
	return b.list()
}

// allPackages are the packages of the note, by name.
func (c *Call) allPackages() []*Package {
	c.chargeMany(len(c.environment.packages), valueBytes)
	var all []*Package
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
			users = append(users, other)
		}
	}
	return users
}

// pkg takes a package designator.
func (c *Call) pkg(v Value) *Package {
	p, ok := v.(*Package)
	if !ok {
		p = c.environment.packages[c.name(v)]
	}
	if p == nil || p.deleted {
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
func (p *Package) listed(externalOnly bool) []*Symbol {
	var symbols []*Symbol
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
	kwPresent = standardKeyword("PRESENT")
	kwAll     = standardKeyword("ALL")
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
	p := c.currentPackage()
	if pkg != Nil {
		p = c.pkg(pkg)
	}
	items := c.symbolsOf(p, walk == kwExternal)
	if walk == kwAll {
		for _, used := range p.uses {
			for _, v := range c.symbolsOf(used, true) {
				if symbol := v.(*Symbol); !p.shadowing[symbol.name] && p.status(symbol) == Value(kwInherited) {
					items = append(items, symbol)
				}
			}
		}
	}
	return c.newList(items)
}}

func (c *Call) symbolsOf(p *Package, externalOnly bool) []Value {
	c.chargeMany(p.size(), 4*valueBytes)
	var items []Value
	for _, symbol := range p.listed(externalOnly) {
		items = append(items, symbol)
	}
	return items
}

// packageMacros walk packages and define them.
func packageMacros() []standardMacro {
	walk := func(kind *Symbol) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value {
			variable, source, result, body := cp.specification(form, 1)
			list := call(symFuncall, call(symQuote, packageSymbols), source, kind)
			return callStar(standardSymbol("DOLIST"), body, NewList(variable, list, result))
		}
	}
	return []standardMacro{
		{"do-symbols", "((variable &optional package result) &body body)", "Evaluate body for each symbol accessible in a package.", walk(kwAll)},
		{"do-external-symbols", "((variable &optional package result) &body body)", "Evaluate body for each exported symbol of a package.", walk(kwExternal)},
		{"do-all-symbols", "((variable &optional result) &body body)", "Evaluate body for each symbol of any package.", expandDoAllSymbols},
		{"with-package-iterator", "((name packages &rest kinds) &body body)", "Walk packages by calling name.", expandPackageIterator},
		{"defpackage", "(name &rest options)", "Define a package.", expandDefpackage},
	}
}

func expandDoAllSymbols(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	spec := cp.forms(parts[0])
	if len(spec) < 1 || len(spec) > 2 {
		cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
	}
	pkg := cp.gensym("PACKAGE")
	list := call(standardSymbol("MAPCAN"), call(symLambda, NewList(pkg), call(symFuncall, call(symQuote, packageSymbols), pkg, kwPresent)),
		call(standardSymbol("LIST-ALL-PACKAGES")))
	return callStar(standardSymbol("DOLIST"), form.Cdr.(*Cons).Cdr, NewList(append([]Value{spec[0], list}, spec[1:]...)...))
}

// packageEntries lists what a package iterator gives: symbol, status and package.
var packageEntries = &Function{name: "PACKAGE-ENTRIES", least: 2, most: 2, two: func(c *Call, packages, kinds Value) Value {
	list := []Value{packages}
	if isList(packages) {
		list = c.slice(packages)
	}
	wanted := c.slice(kinds)
	var entries []Value
	for _, v := range list {
		p := c.pkg(v)
		for _, symbol := range c.slice(packageSymbols.two(c, p, kwAll)) {
			status := p.status(symbol.(*Symbol))
			if slices.Contains(wanted, status) {
				c.charge(3 * consBytes)
				entries = append(entries, NewList(T, symbol, status, p))
			}
		}
	}
	return c.newList(entries)
}}

func expandPackageIterator(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	spec := cp.forms(parts[0])
	if len(spec) < 3 {
		cp.fail(programError, "with-package-iterator needs a name, packages and kinds of symbols: %s", sketch(form, formLength))
	}
	for _, kind := range spec[2:] {
		if kind != kwInternal && kind != kwExternal && kind != kwInherited {
			cp.fail(programError, "%s is no kind of symbols", sketch(kind, formLength))
		}
	}
	entries := cp.gensym("ENTRIES")
	list := call(symFuncall, call(symQuote, packageEntries), spec[1], call(symQuote, NewList(spec[2:]...)))
	step := call(standardSymbol("VALUES-LIST"), call(standardSymbol("POP"), entries))
	next := call(symIf, entries, step, Nil)
	return call(symLet, NewList(NewList(entries, list)), callStar(standardSymbol("MACROLET"), form.Cdr.(*Cons).Cdr,
		NewList(NewList(spec[0], Nil, call(symQuote, next)))))
}
