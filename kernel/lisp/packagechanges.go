package lisp

import "slices"

// packageChanges make packages and change what is in them.
func packageChanges() []Builtin {
	symbolsDo := func(name, doc string, do func(c *Call, p *Package, symbol *Symbol)) Builtin {
		return Builtin{Name: name, LambdaList: "(symbols &optional package)", Doc: doc, Named: func(c *Call, args Args) Value {
			p := c.changeable(c.packageArgument(args))
			for _, symbol := range c.designated(args.Get("symbols")) {
				do(c, p, c.TakeSymbol(symbol))
			}
			return T
		}}
	}
	return []Builtin{
		{Name: "intern", LambdaList: "(name &optional package)", Doc: "The symbol of that name, made if there is none; and its status.", Many: true, Named: func(c *Call, args Args) Value {
			p, name := c.packageArgument(args), c.TakeText(args.Get("name"))
			if symbol, ok := p.Find(name); ok {
				return c.Values(symbol, p.status(symbol))
			}
			if p.name == standardPackage {
				c.Fail(packageError, "COMMON-LISP is locked: no symbol can be added to it")
			}
			symbol, _ := c.Intern(p, name, false)
			return c.Values(symbol, Nil)
		}},
		{Name: "unintern", LambdaList: "(symbol &optional package)", Doc: "Remove a symbol from a package.", Named: func(c *Call, args Args) Value {
			return Boolean(c.unintern(c.changeable(c.packageArgument(args)), c.TakeSymbol(args.Get("symbol"))))
		}},
		symbolsDo("export", "Make symbols visible to packages that use theirs.", (*Call).export),
		symbolsDo("unexport", "Take symbols back from packages that use theirs.", func(c *Call, p *Package, symbol *Symbol) {
			if found, ok := p.Find(symbol.name); !ok || found != symbol {
				c.Fail(packageError, "%s is not accessible in %s", symbol.name, p.name)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.external, symbol.name)
		}),
		symbolsDo("import", "Make symbols present in a package.", (*Call).importSymbol),
		symbolsDo("shadowing-import", "Make symbols present in a package, hiding others of their names.", (*Call).shadowingImport),
		{Name: "shadow", LambdaList: "(names &optional package)", Doc: "Give a package its own symbols of these names.", Named: func(c *Call, args Args) Value {
			p := c.changeable(c.packageArgument(args))
			for _, v := range c.designated(args.Get("names")) {
				c.shadowName(p, c.Name(v))
			}
			return T
		}},
		{Name: "use-package", LambdaList: "(packages &optional package)", Doc: "Use the exported symbols of packages.", Named: func(c *Call, args Args) Value {
			p := c.changeable(c.packageArgument(args))
			for _, name := range c.designated(args.Get("packages")) {
				c.usePackage(p, c.Package(name))
			}
			return T
		}},
		{Name: "unuse-package", LambdaList: "(packages &optional package)", Doc: "Use packages no longer.", Named: func(c *Call, args Args) Value {
			p := c.changeable(c.packageArgument(args))
			for _, name := range c.designated(args.Get("packages")) {
				used := c.Package(name)
				p.setUses(slices.DeleteFunc(Clone(c, p.uses), func(other *Package) bool { return other == used }))
			}
			return T
		}},
		{Name: "make-package", LambdaList: "(name &key use nicknames internal-symbols external-symbols)", Doc: "A new package.", Named: func(c *Call, args Args) Value {
			use, nicknames := args.Get("use"), args.Get("nicknames")
			p := c.makePackage(c.Name(args.Get("name")))
			if nicknames != nil {
				c.addNicknames(p, c.Slice(nicknames))
			}
			if use != nil {
				for _, used := range c.Slice(use) {
					c.usePackage(p, c.Package(used))
				}
			}
			return p
		}},
		{Name: "rename-package", LambdaList: "(package name &optional nicknames)", Doc: "Give a package another name, and other nicknames.", Named: renamePackage},
		{Name: "delete-package", LambdaList: "(package)", Doc: "Delete a package that no other uses.", One: deletePackage},
	}
}

// designated takes a list of things, or one of them. Nil is the empty list.
func (c *Call) designated(v Value) []Value {
	if IsList(v) {
		return c.Slice(v)
	}
	return []Value{v}
}

// changeable refuses packages that are not the note's own. It is called before a package
// is changed.
func (c *Call) changeable(p *Package) *Package {
	c.environment.packageChanges++
	if !p.madeByNote && p != c.environment.user && p.name != userPackage {
		c.signalError(c.newCondition(packageError, p.name+" is locked: it is not a package of this note", "PACKAGE", p))
	}
	return p
}

func (c *Call) conflict(p *Package, a, b *Symbol) {
	c.signalError(c.newCondition(packageError, "The names of "+c.symbolText(a)+" and "+c.symbolText(b)+" conflict in "+p.name+".", "PACKAGE", p))
}

// bring makes a symbol of another package, or of none, present.
func (c *Call) bring(p *Package, symbol *Symbol) {
	c.Charge(EntryBytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if symbol.home == "" {
		symbol.home = p.name
	}
	p.put(symbol)
}

func (c *Call) shadow(p *Package, name string) {
	if p.shadowing == nil {
		p.shadowing = map[string]bool{}
	}
	Insert(c, p.shadowing, name, true)
}

func (c *Call) importSymbol(p *Package, symbol *Symbol) {
	if other, ok := p.Find(symbol.name); ok && other != symbol {
		c.conflict(p, other, symbol)
	}
	c.bring(p, symbol)
}

// shadowingImport puts a symbol in the place of the one of its name, which goes.
func (c *Call) shadowingImport(p *Package, symbol *Symbol) {
	if other, ok := p.own(symbol.name); ok && other != symbol {
		delete(p.shadowing, symbol.name)
		c.unintern(p, other)
	}
	c.bring(p, symbol)
	c.shadow(p, symbol.name)
}

func (c *Call) export(p *Package, symbol *Symbol) {
	if found, ok := p.Find(symbol.name); !ok || found != symbol {
		c.Fail(packageError, "%s is not accessible in %s and cannot be exported", symbol.name, p.name)
	}
	for _, user := range c.users(p) {
		if other, ok := user.Find(symbol.name); ok && other != symbol && !user.shadowing[symbol.name] {
			c.conflict(user, other, symbol)
		}
	}
	c.Charge(EntryBytes)
	p.export(symbol)
}

func (c *Call) usePackage(p, used *Package) {
	if p == used || slices.Contains(p.uses, used) {
		return
	}
	for _, symbol := range c.listed(used, true) {
		if !used.madeByNote && used.name != standardPackage && used.name != keywordPackage {
			break // libraries offer the same names; the first one used counts
		}
		if other, ok := p.Find(symbol.name); ok && other != symbol && !p.shadowing[symbol.name] {
			c.conflict(p, other, symbol)
		}
	}
	p.setUses(Append(c, p.uses[:len(p.uses):len(p.uses)], used))
}

func (c *Call) shadowName(p *Package, name string) {
	if _, ok := p.own(name); !ok {
		symbol := c.newSymbol(name)
		symbol.home = p.name
		c.bring(p, symbol)
	}
	c.shadow(p, name)
}

// unintern removes a symbol that is present; one that hid two different ones of used
// packages may not go.
func (c *Call) unintern(p *Package, symbol *Symbol) bool {
	if own, ok := p.own(symbol.name); !ok || own != symbol {
		return false
	}
	if p.shadowing[symbol.name] {
		var exposed *Symbol
		for _, used := range p.uses {
			if other, ok := used.exported(symbol.name); ok {
				if exposed != nil && exposed != other {
					c.conflict(p, exposed, other)
				}
				exposed = other
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.symbols, symbol.name)
	delete(p.transient, symbol.name)
	delete(p.external, symbol.name)
	delete(p.shadowing, symbol.name)
	if symbol.home == p.name {
		symbol.home = ""
	}
	return true
}

func (c *Call) makePackage(name string) *Package {
	if c.environment.packages[name] != nil {
		c.Fail(packageError, "a package named %s exists already", name)
	}
	c.Charge(1024 + len(name))
	c.environment.packageChanges++
	p := c.environment.addPackage(newPackage(name))
	p.madeByNote = true
	return p
}

func (c *Call) addNicknames(p *Package, names []Value) {
	for _, v := range names {
		name := c.Name(v)
		if other := c.environment.packages[name]; other != nil && other != p {
			c.Fail(packageError, "the name %s is taken by the package %s", name, other.name)
		} else if other == nil {
			p.nicknames = Append(c, p.nicknames, name)
			Insert(c, c.environment.packages, name, p)
		}
	}
}

func renamePackage(c *Call, args Args) Value {
	packageArg, nicknames := args.Get("package"), args.Get("nicknames")
	p, name := c.changeable(c.Package(packageArg)), c.Name(args.Get("name"))
	if other := c.environment.packages[name]; other != nil && other != p {
		c.signalError(c.newCondition(packageError, "a package named "+name+" exists already", "PACKAGE", packageArg))
	}
	if p == c.environment.user {
		c.Fail(packageError, "a note cannot rename its own package")
	}
	for _, symbol := range c.listed(p, false) {
		if symbol.home == p.name {
			symbol.home = name
		}
	}
	c.forgetNames(p)
	c.Charge(EntryBytes)
	p.name = name
	c.environment.addPackage(p)
	if nicknames != nil {
		c.addNicknames(p, c.Slice(nicknames))
	}
	return p
}

// forgetNames takes a package's names away from it.
func (c *Call) forgetNames(p *Package) {
	delete(c.environment.packages, p.name)
	for _, nickname := range p.nicknames {
		delete(c.environment.packages, nickname)
	}
	p.nicknames = nil
}

func deletePackage(c *Call, a Value) Value {
	if p, ok := a.(*Package); ok && p.deleted {
		return Nil
	}
	p := c.changeable(c.Package(a))
	if p == c.environment.user {
		c.Fail(packageError, "a note cannot delete its own package")
	}
	if users := c.users(p); len(users) > 0 {
		c.signalError(c.newCondition(packageError, "The package "+p.name+" is used by "+users[0].name+".", "PACKAGE", p))
	}
	for _, symbol := range c.listed(p, false) {
		if symbol.home == p.name {
			symbol.home = ""
		}
	}
	c.forgetNames(p)
	p.deleted = true
	p.setUses(nil)
	return T
}

// packageOptions are the options of defpackage that may occur several times, in the
// order in which they take effect.
var packageOptions = []string{"SHADOW", "SHADOWING-IMPORT-FROM", "USE", "IMPORT-FROM", "INTERN", "EXPORT"}

// expandDefpackage checks the options; the package is made when the form is evaluated.
func expandDefpackage(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	options := map[string][]Value{}
	once := map[string]bool{}
	named := map[string]string{} // by which option a name is made present
	for _, part := range parts[1:] {
		option := cp.Forms(part)
		if len(option) == 0 {
			cp.Fail(ProgramError, "malformed option %s of defpackage", Sketch(part, formLength))
		}
		kind, args := cp.Name(option[0]), option[1:]
		switch kind {
		case "SIZE", "DOCUMENTATION":
			if once[kind] || len(args) != 1 {
				cp.Fail(ProgramError, "the option :%s of defpackage takes one value, once", kind)
			}
			once[kind] = true
			options[kind] = args
		case "NICKNAMES", "LOCK", "LOCAL-NICKNAMES":
			options[kind] = append(options[kind], args...)
		case "SHADOWING-IMPORT-FROM", "IMPORT-FROM":
			options[kind] = append(options[kind], NewList(args...))
			cp.disjoint(named, kind, args[min(1, len(args)):])
		case "SHADOW", "INTERN":
			cp.disjoint(named, kind, args)
			fallthrough
		case "USE", "EXPORT":
			options[kind] = append(options[kind], args...)
			once[kind] = true
		default:
			cp.Fail(ProgramError, "unknown option %s of defpackage", Sketch(part, formLength))
		}
	}
	for _, v := range options["EXPORT"] {
		if named[cp.Name(v)] == "INTERN" {
			cp.Fail(ProgramError, "%s is both interned and exported", cp.Name(v))
		}
	}
	make := &Function{name: "DEFPACKAGE", least: 1, most: 1, one: func(c *Call, name Value) Value { return c.definePackage(c.Name(name), options, once) }}
	return Form(symFuncall, Form(symQuote, make), Form(symQuote, parts[0]))
}

// disjoint refuses a name that two options make present in different ways.
func (cp *Compiler) disjoint(named map[string]string, kind string, names []Value) {
	for _, v := range names {
		name := cp.Name(v)
		if other := named[name]; other != "" && other != kind {
			cp.Fail(ProgramError, "%s is in both :%s and :%s of defpackage", name, other, kind)
		}
		named[name] = kind
	}
}

func (c *Call) definePackage(name string, options map[string][]Value, given map[string]bool) Value {
	p := c.environment.packages[name]
	if p == nil {
		p = c.makePackage(name)
	} else if !p.madeByNote {
		return p // the note names a package of the kernel: nothing to do
	}
	c.environment.packageChanges++
	c.addNicknames(p, options["NICKNAMES"])
	for _, doc := range options["DOCUMENTATION"] {
		p.doc = doc
	}
	if !given["USE"] {
		// SBCL uses nothing then; notes that say nothing mean the language.
		c.usePackage(p, c.environment.packages[standardPackage])
	}
	for _, kind := range packageOptions {
		for _, v := range options[kind] {
			c.packageOption(p, kind, v)
		}
	}
	return p
}

func (c *Call) packageOption(p *Package, kind string, v Value) {
	switch kind {
	case "SHADOW":
		c.shadowName(p, c.Name(v))
	case "USE":
		c.usePackage(p, c.Package(v))
	case "INTERN":
		c.Intern(p, c.Name(v), true)
	case "EXPORT":
		symbol, _ := c.Intern(p, c.Name(v), true)
		c.export(p, symbol)
	case "IMPORT-FROM", "SHADOWING-IMPORT-FROM":
		list := c.Slice(v)
		if len(list) == 0 {
			c.Fail(ProgramError, "malformed option :%s of defpackage", kind)
		}
		from := c.Package(list[0])
		for _, name := range list[1:] {
			symbol, ok := from.Find(c.Name(name))
			if !ok {
				c.Fail(packageError, "there is no symbol %s in %s", c.Name(name), from.name)
			}
			if kind == "IMPORT-FROM" {
				c.importSymbol(p, symbol)
			} else {
				c.shadowingImport(p, symbol)
			}
		}
	}
}
