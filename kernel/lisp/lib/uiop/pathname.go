package uiop

import (
	"strings"

	"org-agent/kernel/lisp"
)

// uiopPathnameFunctions are those of uiop that work on names of files.
func uiopPathnameFunctions() []lisp.Builtin {
	test := func(name, doc string, test func(c *lisp.Call, p *lisp.Pathname) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(pathname)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil || !test(c, c.Pathname(a)) {
				return lisp.Nil
			}
			return lisp.T
		}}
	}
	// telling tests give the pathname.
	telling := func(name, doc string, test func(p *lisp.Pathname) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(pathname)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			if p := c.Pathname(a); test(p) {
				return p
			}
			return lisp.Nil
		}}
	}
	change := func(name, doc string, change func(c *lisp.Call, p *lisp.Pathname) *lisp.Pathname) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(pathname)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			return change(c, c.Pathname(a))
		}}
	}
	native := func(c *lisp.Call, a lisp.Value) lisp.Value {
		if a == lisp.Nil {
			return lisp.Nil
		}
		return c.Text(c.Plain(c.Pathname(a)))
	}
	absolute := func(p *lisp.Pathname) bool { return pathHead(p) == lisp.Keyword("ABSOLUTE") }
	return append(uiopNames(), []lisp.Builtin{
		test("directory-pathname-p", "True for a pathname without name and type.", func(_ *lisp.Call, p *lisp.Pathname) bool { return p.Name == lisp.Nil && p.Type == lisp.Nil }),
		telling("file-pathname-p", "The pathname if it has a name.", func(p *lisp.Pathname) bool { return p.Name != lisp.Nil }),
		telling("absolute-pathname-p", "The pathname if it begins at the root.", absolute),
		telling("relative-pathname-p", "The pathname if it does not begin at the root.", func(p *lisp.Pathname) bool { return !absolute(p) }),
		telling("physical-pathname-p", "The pathname: there are no logical ones.", func(*lisp.Pathname) bool { return true }),
		test("logical-pathname-p", "False: there are no logical pathnames.", func(*lisp.Call, *lisp.Pathname) bool { return false }),
		test("hidden-pathname-p", "True if the name begins with a point.", func(c *lisp.Call, p *lisp.Pathname) bool { return strings.HasPrefix(c.FileName(p), ".") }),
		change("ensure-directory-pathname", "The pathname with its name as the last directory.", directoryForm),
		change("pathname-directory-pathname", "The directory of a pathname.", func(c *lisp.Call, p *lisp.Pathname) *lisp.Pathname {
			return lisp.Allocate(c, lisp.Pathname{Directory: p.Directory, Name: lisp.Nil, Type: lisp.Nil})
		}),
		change("pathname-parent-directory-pathname", "The directory above that of a pathname.", func(c *lisp.Call, p *lisp.Pathname) *lisp.Pathname {
			here := lisp.Allocate(c, lisp.Pathname{Directory: p.Directory, Name: lisp.Nil, Type: lisp.Nil})
			if c.DirectoryText(here) == "/" {
				return here // there is nothing above the root
			}
			return c.MergePathname(lisp.Allocate(c, lisp.Pathname{Directory: c.NewList([]lisp.Value{lisp.Keyword("RELATIVE"), lisp.Keyword("BACK")}), Name: lisp.Nil, Type: lisp.Nil}), here)
		}),
		change("pathname-root", "The root of a pathname's file system.", func(c *lisp.Call, _ *lisp.Pathname) *lisp.Pathname {
			return lisp.Allocate(c, lisp.Pathname{Directory: c.Cons(lisp.Keyword("ABSOLUTE"), lisp.Nil), Name: lisp.Nil, Type: lisp.Nil})
		}),
		{Name: "nil-pathname", LambdaList: "(&optional defaults)", Doc: "A pathname without parts.", Named: func(c *lisp.Call, _ lisp.Args) lisp.Value {
			return lisp.Allocate(c, lisp.Pathname{Directory: lisp.Nil, Name: lisp.Nil, Type: lisp.Nil})
		}},
		{Name: "native-namestring", LambdaList: "(pathname)", Doc: "The name as the system writes it.", One: native},
		{Name: "unix-namestring", LambdaList: "(pathname)", Doc: "The name as Unix writes it.", One: native},
		{Name: "merge-pathnames*", LambdaList: "(pathname &optional defaults)", Doc: "The pathname with missing parts from the defaults.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			pathnameArg, defaultsArg := args.Get("pathname"), args.Get("defaults")
			if pathnameArg == lisp.Nil {
				return lisp.OrNil(defaultsArg)
			}
			defaults := c.DefaultPathname()
			if lisp.Given(defaultsArg) {
				defaults = c.Pathname(defaultsArg)
			}
			return c.MergePathname(c.Pathname(pathnameArg), defaults)
		}},
		{Name: "pathname-equal", LambdaList: "(a b)", Doc: "True if two pathnames have the same parts.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			if a == lisp.Nil || b == lisp.Nil {
				return lisp.Boolean(a == b)
			}
			x, y := c.Pathname(a), c.Pathname(b)
			return lisp.Boolean(c.Namestring(x) == c.Namestring(y))
		}},
		{Name: "subpathp", LambdaList: "(pathname base)", Doc: "The part of a pathname below a directory, or nil if it is not there; both begin at the root.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			if a == lisp.Nil || b == lisp.Nil {
				return lisp.Nil
			}
			p, base := c.Pathname(a), c.Pathname(b)
			rest, found := strings.CutPrefix(c.Namestring(p), c.DirectoryText(base))
			if !found || !absolute(p) || !absolute(base) || base.Name != lisp.Nil {
				return lisp.Nil
			}
			return c.ParsePathname(rest)
		}},
		{Name: "enough-pathname", LambdaList: "(pathname base)", Doc: "The part of a pathname below a directory, or the pathname if it is not there.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			p := c.Pathname(a)
			if rest, found := strings.CutPrefix(c.Namestring(p), c.DirectoryText(c.Pathname(b))); found && absolute(p) {
				return c.ParsePathname(rest)
			}
			return p
		}},
		{Name: "add-pathname-suffix", LambdaList: "(pathname suffix &rest parts)", Doc: "The pathname with a suffix to its name.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			p := c.Pathname(args[0])
			name := lisp.NewStringBuilder(c)
			if own, ok := p.Name.(*lisp.String); ok {
				name.WriteRunes(own.Runes())
			}
			name.WriteRunes(c.TakeString(args[1]).Runes())
			return lisp.Allocate(c, lisp.Pathname{Directory: p.Directory, Name: name.Value(), Type: p.Type})
		}},
		{Name: "directory-separator-for-host", LambdaList: "(&optional pathname)", Doc: "The slash.", Named: func(*lisp.Call, lisp.Args) lisp.Value { return lisp.Character('/') }},
		{Name: "inter-directory-separator", LambdaList: "()", Doc: "The colon.", Call: func(*lisp.Call, []lisp.Value) lisp.Value { return lisp.Character(':') }},
		{Name: "split-native-pathnames-string", LambdaList: "(string)", Doc: "The pathnames of a list of paths with colons between.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			list := lisp.NewListBuilder(c)
			for name := range strings.SplitSeq(c.TakeText(a), ":") {
				list.Add(c.ParsePathname(name))
			}
			return list.List()
		}},
	}...)
}

// uiopNames read names as Unix writes them.
func uiopNames() []lisp.Builtin {
	sub := func(name, doc string, missing bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(directory name &key type)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			directoryArg, nameArg, typeArg := args.Get("directory"), args.Get("name"), args.Get("type")
			if missing && directoryArg == lisp.Nil {
				return lisp.Nil
			}
			name := lisp.Allocate(c, lisp.Pathname{Directory: lisp.Nil, Name: lisp.Nil, Type: lisp.Nil})
			if nameArg != lisp.Nil {
				name = unixPathname(c, nameArg, typeArg, typeArg == lisp.Value(lisp.Keyword("DIRECTORY")))
			}
			if directoryArg == lisp.Nil {
				return name
			}
			if pathHead(name) == lisp.Keyword("ABSOLUTE") {
				c.Fail(lisp.SimpleError, "%s is not relative", c.Shown(nameArg))
			}
			base := c.Pathname(directoryArg)
			return c.MergePathname(name, &lisp.Pathname{Directory: base.Directory, Name: lisp.Nil, Type: lisp.Nil})
		}}
	}
	return []lisp.Builtin{
		{Name: "parse-unix-namestring", LambdaList: "(name &key type defaults dot-dot ensure-directory)", Doc: "The pathname of a name as Unix writes it; with a type the name is taken whole, with :directory as that of a directory.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			name, kind := args.Get("name"), args.Get("type")
			if name == lisp.Nil {
				return lisp.Nil
			}
			return unixPathname(c, name, kind, args.True("ensure-directory") || kind == lisp.Value(lisp.Keyword("DIRECTORY")))
		}},
		{Name: "parse-native-namestring", LambdaList: "(name &key ensure-directory)", Doc: "The pathname of a name as the system writes it.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return unixPathname(c, args.Get("name"), nil, args.True("ensure-directory"))
		}},
		sub("subpathname", "The pathname of a name below a directory.", false), sub("subpathname*", "The pathname of a name below a directory, or nil without one.", true),
		{Name: "split-name-type", LambdaList: "(name)", Doc: "The name and the type of a file's name.", Many: true, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			chars := c.TakeString(a).Runes()
			for i := len(chars) - 1; i > 0; i-- {
				if chars[i] == '.' {
					return c.Values(c.CopyRunes(chars[:i]), c.CopyRunes(chars[i+1:]))
				}
			}
			return c.Values(a, lisp.Keyword("UNSPECIFIC"))
		}},
		{Name: "split-unix-namestring-directory-components", LambdaList: "(name &key ensure-directory dot-dot)", Doc: "Whether a name begins at the root, its directories, the name of the file, and whether it is only that.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			ensureDirectory := args.Get("ensure-directory")
			text := c.TakeText(args.Get("name"))
			head, onlyFile := lisp.Keyword("RELATIVE"), !strings.Contains(text, "/") && !lisp.Given(ensureDirectory)
			if strings.HasPrefix(text, "/") {
				head = lisp.Keyword("ABSOLUTE")
			}
			file := lisp.Value(lisp.Nil)
			if !lisp.Given(ensureDirectory) {
				slash := strings.LastIndexByte(text, '/')
				if last := text[slash+1:]; last != "" {
					file = c.Text(last)
				}
				text = text[:max(slash, 0)]
			}
			list := lisp.NewListBuilder(c)
			for part := range strings.SplitSeq(text, "/") {
				switch part {
				case "", ".":
				case "..":
					list.Add(lisp.Keyword("BACK"))
				default:
					list.Add(c.Text(part))
				}
			}
			return c.Values(head, list.List(), file, lisp.Boolean(onlyFile))
		}},
	}
}

func pathHead(p *lisp.Pathname) lisp.Value {
	if cell, ok := p.Directory.(*lisp.Cons); ok {
		return cell.Car
	}
	return lisp.Keyword("RELATIVE")
}

// unixPathname is the pathname of a name; with a type the last part is the name whole.
func unixPathname(c *lisp.Call, v, kind lisp.Value, directory bool) *lisp.Pathname {
	if p, ok := v.(*lisp.Pathname); ok {
		if directory {
			return directoryForm(c, p)
		}
		return p
	}
	text := c.Name(v)
	if directory {
		return directoryForm(c, c.ParsePathname(text))
	}
	p := c.ParsePathname(text)
	if own, ok := kind.(*lisp.String); ok {
		name := text[strings.LastIndexByte(text, '/')+1:]
		if name == "" {
			return p
		}
		return lisp.Allocate(c, lisp.Pathname{Directory: p.Directory, Name: c.Text(name), Type: own})
	}
	return p
}

// directoryForm makes the name of a pathname its last directory.
func directoryForm(c *lisp.Call, p *lisp.Pathname) *lisp.Pathname {
	if p.Name == lisp.Nil && p.Type == lisp.Nil {
		return p
	}
	items := c.Slice(p.Directory)
	if len(items) == 0 {
		items = []lisp.Value{lisp.Keyword("RELATIVE")}
	}
	items = lisp.Append(c, items, lisp.Value(c.Text(c.FileName(p))))
	return lisp.Allocate(c, lisp.Pathname{Directory: c.NewList(items), Name: lisp.Nil, Type: lisp.Nil})
}
