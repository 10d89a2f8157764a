package lisp

import (
	"slices"
	"strings"
)

// uiopPathnameFunctions are those of uiop that work on names of files.
func uiopPathnameFunctions() []builtin {
	test := func(name, doc string, test func(p *Pathname) bool) builtin {
		return builtin{name: name, list: "(pathname)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil || !test(c.pathname(a)) {
				return Nil
			}
			return T
		}}
	}
	// telling tests give the pathname.
	telling := func(name, doc string, test func(p *Pathname) bool) builtin {
		return builtin{name: name, list: "(pathname)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil || !test(c.pathname(a)) {
				return Nil
			}
			return c.pathname(a)
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
	native := func(c *Call, a Value) Value {
		if a == Nil {
			return Nil
		}
		return c.text(c.pathname(a).plain())
	}
	absolute := func(p *Pathname) bool { return pathHead(p) == kwAbsolute }
	return append(uiopNames(), []builtin{
		test("uiop:directory-pathname-p", "True for a pathname without name and type.", func(p *Pathname) bool { return p.name == Nil && p.kind == Nil }),
		telling("uiop:file-pathname-p", "The pathname if it has a name.", func(p *Pathname) bool { return p.name != Nil }),
		telling("uiop:absolute-pathname-p", "The pathname if it begins at the root.", absolute),
		telling("uiop:relative-pathname-p", "The pathname if it does not begin at the root.", func(p *Pathname) bool { return !absolute(p) }),
		telling("uiop:physical-pathname-p", "The pathname: there are no logical ones.", func(*Pathname) bool { return true }),
		test("uiop:logical-pathname-p", "False: there are no logical pathnames.", func(*Pathname) bool { return false }),
		test("uiop:hidden-pathname-p", "True if the name begins with a point.", func(p *Pathname) bool { return strings.HasPrefix(p.fileText(), ".") }),
		change("uiop:ensure-directory-pathname", "The pathname with its name as the last directory.", func(_ *Call, p *Pathname) *Pathname { return directoryForm(p) }),
		change("uiop:pathname-directory-pathname", "The directory of a pathname.", func(_ *Call, p *Pathname) *Pathname {
			return &Pathname{directory: p.directory, name: Nil, kind: Nil}
		}),
		change("uiop:pathname-parent-directory-pathname", "The directory above that of a pathname.", func(c *Call, p *Pathname) *Pathname {
			here := &Pathname{directory: p.directory, name: Nil, kind: Nil}
			if here.directoryText() == "/" {
				return here // there is nothing above the root
			}
			return c.merge(&Pathname{directory: NewList(kwRelative, kwBack), name: Nil, kind: Nil}, here)
		}),
		change("uiop:pathname-root", "The root of a pathname's file system.", func(*Call, *Pathname) *Pathname {
			return &Pathname{directory: NewList(kwAbsolute), name: Nil, kind: Nil}
		}),
		{name: "uiop:nil-pathname", list: "(&optional defaults)", doc: "A pathname without parts.", call: func(c *Call, _ []Value) Value {
			c.charge(closureBytes)
			return &Pathname{directory: Nil, name: Nil, kind: Nil}
		}},
		{name: "uiop:native-namestring", list: "(pathname)", doc: "The name as the system writes it.", one: native},
		{name: "uiop:unix-namestring", list: "(pathname)", doc: "The name as Unix writes it.", one: native},
		{name: "uiop:merge-pathnames*", list: "(pathname &optional defaults)", doc: "The pathname with missing parts from the defaults.", named: func(c *Call, args Args) Value {
			pathnameArg, defaultsArg := args.Get("pathname"), args.Get("defaults")

			if pathnameArg == Nil {
				return orNil(defaultsArg)
			}
			defaults := c.defaultPathname()
			if given(defaultsArg) {
				defaults = c.pathname(defaultsArg)
			}
			return c.merge(c.pathname(pathnameArg), defaults)
		}},
		{name: "uiop:pathname-equal", list: "(a b)", doc: "True if two pathnames have the same parts.", two: func(c *Call, a, b Value) Value {
			if a == Nil || b == Nil {
				return Boolean(a == b)
			}
			x, y := c.pathname(a), c.pathname(b)
			return Boolean(x.text() == y.text())
		}},
		{name: "uiop:subpathp", list: "(pathname base)", doc: "The part of a pathname below a directory, or nil if it is not there; both begin at the root.", two: func(c *Call, a, b Value) Value {
			if a == Nil || b == Nil {
				return Nil
			}
			p, base := c.pathname(a), c.pathname(b)
			rest, found := strings.CutPrefix(p.text(), base.directoryText())
			if !found || !absolute(p) || !absolute(base) || base.name != Nil {
				return Nil
			}
			return parsePathname(rest)
		}},
		{name: "uiop:enough-pathname", list: "(pathname base)", doc: "The part of a pathname below a directory, or the pathname if it is not there.", two: func(c *Call, a, b Value) Value {
			p := c.pathname(a)
			if rest, found := strings.CutPrefix(p.text(), c.pathname(b).directoryText()); found && absolute(p) {
				return parsePathname(rest)
			}
			return p
		}},
		{name: "uiop:add-pathname-suffix", list: "(pathname suffix &rest parts)", doc: "The pathname with a suffix to its name.", call: func(c *Call, args []Value) Value {
			p, own := c.pathname(args[0]), ""
			if name, ok := p.name.(*String); ok {
				own = name.String()
			}
			c.charge(closureBytes + len(own))
			return &Pathname{directory: p.directory, name: c.text(own + c.str(args[1]).String()), kind: p.kind}
		}},
		{name: "uiop:directory-separator-for-host", list: "(&optional pathname)", doc: "The slash.", call: func(*Call, []Value) Value { return Character('/') }},
		{name: "uiop:inter-directory-separator", list: "()", doc: "The colon.", call: func(*Call, []Value) Value { return Character(':') }},
		{name: "uiop:split-native-pathnames-string", list: "(string)", doc: "The pathnames of a list of paths with colons between.", one: func(c *Call, a Value) Value {
			var list builder
			for _, name := range strings.Split(c.str(a).String(), ":") {
				c.charge(consBytes + closureBytes)
				list.add(parsePathname(name))
			}
			return list.list()
		}},
	}...)
}

// uiopNames read names as Unix writes them.
func uiopNames() []builtin {
	sub := func(name, doc string, missing bool) builtin {
		return builtin{name: name, list: "(directory name &key type)", doc: doc, named: func(c *Call, args Args) Value {
			directoryArg, nameArg, typeArg := args.Get("directory"), args.Get("name"), args.Get("type")

			if missing && directoryArg == Nil {
				return Nil
			}
			name := &Pathname{directory: Nil, name: Nil, kind: Nil}
			if nameArg != Nil {
				name = c.unixPathname(nameArg, typeArg, typeArg == Value(kwDirectory))
			}
			if directoryArg == Nil {
				return name
			}
			if pathHead(name) == kwAbsolute {
				c.fail(simpleError, "%s is not relative", c.shown(nameArg))
			}
			base := c.pathname(directoryArg)
			return c.merge(name, &Pathname{directory: base.directory, name: Nil, kind: Nil})
		}}
	}
	return []builtin{
		{name: "uiop:parse-unix-namestring", list: "(name &key type defaults dot-dot ensure-directory)", doc: "The pathname of a name as Unix writes it; with a type the name is taken whole, with :directory as that of a directory.", named: func(c *Call, args Args) Value {
			name, kind := args.Get("name"), args.Get("type")
			if name == Nil {
				return Nil
			}
			return c.unixPathname(name, kind, args.True("ensure-directory") || kind == Value(kwDirectory))
		}},
		{name: "uiop:parse-native-namestring", list: "(name &key ensure-directory)", doc: "The pathname of a name as the system writes it.", named: func(c *Call, args Args) Value {
			return c.unixPathname(args.Get("name"), nil, args.True("ensure-directory"))
		}},
		sub("uiop:subpathname", "The pathname of a name below a directory.", false), sub("uiop:subpathname*", "The pathname of a name below a directory, or nil without one.", true),
		{name: "uiop:split-name-type", list: "(name)", doc: "The name and the type of a file's name.", many: true, one: func(c *Call, a Value) Value {
			text := c.str(a).String()
			if i := strings.LastIndexByte(text, '.'); i > 0 {
				return c.values(c.text(text[:i]), c.text(text[i+1:]))
			}
			return c.values(a, kwUnspecific)
		}},
		{name: "uiop:split-unix-namestring-directory-components", list: "(name &key ensure-directory dot-dot)", doc: "Whether a name begins at the root, its directories, the name of the file, and whether it is only that.", many: true, named: func(c *Call, args Args) Value {
			ensureDirectory := args.Get("ensure-directory")

			text := c.str(args.Get("name")).String()
			head, onlyFile := kwRelative, !strings.Contains(text, "/") && !given(ensureDirectory)
			if strings.HasPrefix(text, "/") {
				head = kwAbsolute
			}
			parts := strings.Split(text, "/")
			file := Value(Nil)
			if last := parts[len(parts)-1]; !given(ensureDirectory) {
				parts = parts[:len(parts)-1]
				if last != "" {
					file = c.text(last)
				}
			}
			parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." })
			var list builder
			for _, part := range parts {
				c.charge(consBytes)
				if part == ".." {
					list.add(kwBack)
					continue
				}
				list.add(c.text(part))
			}
			return c.values(head, list.list(), file, Boolean(onlyFile))
		}},
	}
}

func pathHead(p *Pathname) Value {
	if cell, ok := p.directory.(*Cons); ok {
		return cell.Car
	}
	return kwRelative
}

// unixPathname is the pathname of a name; with a type the last part is the name whole.
func (c *Call) unixPathname(v, kind Value, directory bool) *Pathname {
	if p, ok := v.(*Pathname); ok {
		if directory {
			return directoryForm(p)
		}
		return p
	}
	text := string(c.chars(v))
	c.chargeMany(len(text), 2*runeBytes)
	if directory {
		return directoryForm(parsePathname(text))
	}
	p := parsePathname(text)
	if own, ok := kind.(*String); ok {
		name := text[strings.LastIndexByte(text, '/')+1:]
		if name == "" {
			return p
		}
		return &Pathname{directory: p.directory, name: c.text(name), kind: own}
	}
	return p
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
