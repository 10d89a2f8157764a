package lisp

import "strings"

// pathnameFunctions take names of files apart and put them together.
func pathnameFunctions() []Builtin {
	part := func(name, doc string, part func(*Pathname) Value) Builtin {
		return Builtin{Name: name, LambdaList: "(pathname &key case)", Doc: doc, Named: func(c *Call, args Args) Value {
			return part(c.Pathname(args.Get("pathname")))
		}}
	}
	text := func(name, doc string, text func(*Pathname) string) Builtin {
		return Builtin{Name: name, LambdaList: "(pathname)", Doc: doc, One: func(c *Call, a Value) Value { return c.Text(text(c.Pathname(a))) }}
	}
	return []Builtin{
		{Name: "pathname", LambdaList: "(designator)", Doc: "The pathname that a string names.", One: func(c *Call, a Value) Value { return c.Pathname(a) }},
		{Name: "parse-namestring", LambdaList: "(thing &optional host defaults &key start end junk-allowed)", Doc: "The pathname in a string, and where it ends.", Many: true, Named: parseNamestring},
		{Name: "make-pathname", LambdaList: "(&key host device directory name type version defaults case)", Doc: "A pathname of parts.", Named: makePathname},
		{Name: "merge-pathnames", LambdaList: "(pathname &optional defaults version)", Doc: "The pathname with missing parts from the defaults.", Named: func(c *Call, args Args) Value {
			defaultsArg := args.Get("defaults")

			defaults := c.DefaultPathname()
			if defaultsArg != nil {
				defaults = c.Pathname(defaultsArg)
			}
			c.Charge(ObjectBytes)
			return c.MergePathname(c.Pathname(args.Get("pathname")), defaults)
		}},
		text("namestring", "The pathname as a string.", (*Pathname).String),
		text("file-namestring", "The name and type as a string.", (*Pathname).FileName),
		text("directory-namestring", "The directory as a string.", (*Pathname).DirectoryText),
		text("host-namestring", "The empty string: there are no hosts.", func(*Pathname) string { return "" }),
		{Name: "enough-namestring", LambdaList: "(pathname &optional defaults)", Doc: "The part of a pathname that the defaults do not give.", Named: func(c *Call, args Args) Value {
			defaultsArg := args.Get("defaults")

			defaults := c.DefaultPathname()
			if defaultsArg != nil {
				defaults = c.Pathname(defaultsArg)
			}
			p := c.Pathname(args.Get("pathname"))
			rest, _ := strings.CutPrefix(p.DirectoryText(), defaults.DirectoryText())
			return c.Text(rest + p.FileName())
		}},
		part("pathname-directory", "The directory as a list, or nil.", func(p *Pathname) Value { return p.Directory }),
		part("pathname-name", "The name, or nil.", func(p *Pathname) Value { return p.Name }),
		part("pathname-type", "The type, or nil.", func(p *Pathname) Value { return p.Type }),
		part("pathname-device", "Nil: there are no devices.", func(*Pathname) Value { return Nil }),
		part("pathname-host", "Nil: there are no hosts.", func(*Pathname) Value { return Nil }),
		{Name: "pathname-version", LambdaList: "(pathname)", Doc: ":NEWEST for a file, else nil.", One: func(c *Call, a Value) Value {
			if c.Pathname(a).Name == Nil {
				return Nil
			}
			return kwNewest
		}},
		{Name: "wild-pathname-p", LambdaList: "(pathname &optional field)", Doc: "True if a part is a wildcard.", Named: func(c *Call, args Args) Value {
			p := c.Pathname(args.Get("pathname"))
			field := args.Get("field")
			if field != nil && field != Nil && field != kwName && field != kwFileType && field != kwDirectory && field != kwHost && field != kwDevice && field != kwVersion {
				c.TypeError(field, "(MEMBER :HOST :DEVICE :DIRECTORY :NAME :TYPE :VERSION NIL)")
			}
			in := func(key *Symbol, v Value) bool { return (field == nil || field == Nil || field == key) && p.isWild(v) }
			wild := in(kwName, p.Name) || in(kwFileType, p.Type)
			for _, item := range c.Slice(p.Directory) {
				wild = wild || in(kwDirectory, item)
			}
			return Boolean(wild)
		}},
		{Name: "pathname-match-p", LambdaList: "(pathname wildcard)", Doc: "True if the pathname fits one with wildcards.", Two: func(c *Call, a, b Value) Value {
			p, w := c.Pathname(a), c.Pathname(b)
			return Boolean(c.MatchPart(p.Name, w.Name) && c.MatchPart(p.Type, w.Type) && c.matchDirectory(c.Slice(p.Directory), c.Slice(w.Directory)))
		}},
	}
}

func (p *Pathname) isWild(v Value) bool {
	s, ok := v.(*String)
	return v == kwWild || v == kwWildInferior || ok && p.pattern && strings.ContainsAny(s.String(), "*?")
}

// MatchPart compares a part with one that may be a wildcard; a missing one fits all.
func (c *Call) MatchPart(v, wild Value) bool {
	if wild == Nil || wild == kwWild {
		return true
	}
	s, ok := v.(*String)
	w, okToo := wild.(*String)
	if !ok || !okToo {
		return v == wild
	}
	c.Work((len(s.chars) + 1) * (len(w.chars) + 1))
	return matchGlob(s.chars, w.chars)
}

// matchGlob matches * and ? in time that the lengths' product bounds.
func matchGlob(text, pattern []rune) bool {
	i, j, star, mark := 0, 0, -1, 0
	for i < len(text) {
		switch {
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == text[i]):
			i++
			j++
		case j < len(pattern) && pattern[j] == '*':
			star, mark = j, i
			j++
		case star >= 0:
			j = star + 1
			mark++
			i = mark
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '*' {
		j++
	}
	return j == len(pattern)
}

func (c *Call) matchDirectory(items, wild []Value) bool {
	c.Step()
	if len(wild) == 0 {
		return true
	}
	for len(wild) > 0 {
		if wild[0] == kwWildInferior {
			c.Descend(1)
			defer c.Ascend(1)
			for n := 0; n <= len(items); n++ {
				if c.matchDirectory(items[n:], append([]Value{}, wild[1:]...)) && (len(wild) > 1 || n == len(items)) {
					return true
				}
			}
			return false
		}
		if len(items) == 0 || items[0] != wild[0] && !c.MatchPart(items[0], wild[0]) {
			return false
		}
		items, wild = items[1:], wild[1:]
	}
	return len(items) == 0
}

func parseNamestring(c *Call, args Args) Value {
	thing, start := args.Get("thing"), args.Get("start")
	s, ok := thing.(*String)
	if !ok {
		if start == nil {
			start = Integer(0)
		}
		return c.Values(c.Pathname(thing), start)
	}
	from, to := c.Bounds(start, args.Get("end"), len(s.chars))
	c.ChargeMany(to-from, 2*RuneBytes)
	return c.Values(ParsePathname(string(s.chars[from:to])), Count(to))
}

func makePathname(c *Call, args Args) Value {
	directoryArg, nameArg, typeArg := args.Get("directory"), args.Get("name"), args.Get("type")
	defaultsArg := args.Get("defaults")

	c.Charge(ObjectBytes)
	p := &Pathname{Directory: Nil, Name: Nil, Type: Nil}
	if directoryArg != nil {
		p.Directory = c.directoryArgument(directoryArg)
	}
	p.Name, p.Type = c.partArgument(nameArg), c.partArgument(typeArg)
	defaults := &Pathname{Directory: Nil, Name: Nil, Type: Nil}
	if Given(defaultsArg) {
		defaults = c.Pathname(defaultsArg)
	}
	merged := c.MergePathname(p, defaults)
	if directoryArg != nil {
		merged.Directory = p.Directory
	}
	if nameArg != nil {
		merged.Name = p.Name
	}
	if typeArg != nil {
		merged.Type = p.Type
	}
	return merged
}

// directoryArgument takes :wild, a string for a directory below the root, or a list.
func (c *Call) directoryArgument(v Value) Value {
	switch x := v.(type) {
	case *String:
		return NewList(kwAbsolute, x)
	case *Symbol:
		if x == kwWild {
			return NewList(kwAbsolute, kwWildInferior)
		}
		if x == Nil || x == kwUnspecific {
			return Nil
		}
	case *Cons:
		items := append([]Value(nil), c.Slice(x)...)
		if items[0] != kwAbsolute && items[0] != kwRelative {
			c.Fail(SimpleError, "a directory begins with :ABSOLUTE or :RELATIVE, not %s", c.Shown(items[0]))
		}
		for i, item := range items[1:] {
			if s, ok := item.(*String); ok && s.String() == ".." {
				items[i+1] = kwUp
			} else if ok && s.String() == "**" {
				items[i+1] = kwWildInferior
			} else if !ok {
				c.TakeSymbol(item)
			}
		}
		return c.NewList(items)
	}
	c.TypeError(v, "LIST")
	return nil
}

func (c *Call) partArgument(v Value) Value {
	switch x := v.(type) {
	case nil:
		return Nil
	case *String:
		if x.String() == "*" {
			return kwWild
		}
		return x
	case *Symbol:
		if x == Nil || x == kwWild || x == kwUnspecific {
			return x
		}
	}
	c.TypeError(v, "(OR STRING NULL (MEMBER :WILD :UNSPECIFIC))")
	return nil
}
