package lisp

// uiopPathnameFunctions are those of uiop that work on names of files.
func uiopPathnameFunctions() []builtin {
	test := func(name, doc string, test func(p *Pathname) bool) builtin {
		return builtin{name: name, list: "(pathname)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			return Boolean(test(c.pathname(a)))
		}}
	}
	change := func(name, doc string, change func(c *Call, p *Pathname) *Pathname) builtin {
		return builtin{name: name, list: "(pathname)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			c.charge(2 * closureBytes)
			return change(c, c.pathname(a))
		}}
	}
	head := func(p *Pathname) Value {
		if cell, ok := p.directory.(*Cons); ok {
			return cell.Car
		}
		return kwRelative
	}
	merge := func(c *Call, args []Value) Value {
		if args[0] == Nil {
			return optionalOr(args, 1, Nil)
		}
		defaults := c.defaultPathname()
		if given(optional(args, 1)) {
			defaults = c.pathname(args[1])
		}
		return c.merge(c.pathname(args[0]), defaults)
	}
	native := func(c *Call, a Value) Value { return c.text(c.pathname(a).plain()) }
	return []builtin{
		test("uiop:directory-pathname-p", "True for a pathname without name and type.", func(p *Pathname) bool { return p.name == Nil && p.kind == Nil }),
		test("uiop:file-pathname-p", "True for a pathname with a name.", func(p *Pathname) bool { return p.name != Nil }),
		test("uiop:absolute-pathname-p", "True for a pathname that begins at the root.", func(p *Pathname) bool { return head(p) == kwAbsolute }),
		test("uiop:relative-pathname-p", "True for a pathname that does not begin at the root.", func(p *Pathname) bool { return head(p) == kwRelative }),
		change("uiop:ensure-directory-pathname", "The pathname with its name as the last directory.", func(_ *Call, p *Pathname) *Pathname { return directoryForm(p) }),
		change("uiop:pathname-directory-pathname", "The directory of a pathname.", func(_ *Call, p *Pathname) *Pathname {
			return &Pathname{directory: p.directory, name: Nil, kind: Nil}
		}),
		change("uiop:pathname-parent-directory-pathname", "The directory above that of a pathname.", func(c *Call, p *Pathname) *Pathname {
			up := &Pathname{directory: NewList(kwRelative, kwBack), name: Nil, kind: Nil}
			return c.merge(up, &Pathname{directory: p.directory, name: Nil, kind: Nil})
		}),
		{name: "uiop:native-namestring", list: "(pathname)", doc: "The name as the system writes it.", one: native},
		{name: "uiop:unix-namestring", list: "(pathname)", doc: "The name as Unix writes it.", one: native},
		{name: "uiop:parse-unix-namestring", list: "(name)", doc: "The pathname of a name as Unix writes it.", one: func(c *Call, a Value) Value { return c.pathname(a) }},
		{name: "uiop:parse-native-namestring", list: "(name)", doc: "The pathname of a name as the system writes it.", one: func(c *Call, a Value) Value { return c.pathname(a) }},
		{name: "uiop:merge-pathnames*", list: "(pathname &optional defaults)", doc: "The pathname with missing parts from the defaults.", call: merge},
		{name: "uiop:subpathname", list: "(directory name)", doc: "The pathname of a name below a directory.", two: func(c *Call, a, b Value) Value {
			if a == Nil || b == Nil {
				return Nil
			}
			base := c.pathname(a)
			return c.merge(c.pathname(b), &Pathname{directory: base.directory, name: Nil, kind: Nil})
		}},
	}
}

// directoryForm makes the name of a pathname its last directory.
func directoryForm(p *Pathname) *Pathname {
	if p.name == Nil && p.kind == Nil {
		return p
	}
	items, _ := Slice(p.directory, 10_000)
	if len(items) == 0 {
		items = []Value{kwRelative}
	}
	return &Pathname{directory: NewList(append(items, NewString(p.fileText()))...), name: Nil, kind: Nil}
}
