package lisp

import "strings"

// pathnameFunctions take names of files apart and put them together.
func pathnameFunctions() []builtin {
	part := func(name, doc string, part func(*Pathname) Value) builtin {
		return builtin{name: name, list: "(pathname &key case)", doc: doc, named: func(c *Call, args Args) Value {
			return part(c.pathname(args.Get("pathname")))
		}}
	}
	text := func(name, doc string, text func(*Pathname) string) builtin {
		return builtin{name: name, list: "(pathname)", doc: doc, one: func(c *Call, a Value) Value { return c.text(text(c.pathname(a))) }}
	}
	return []builtin{
		{name: "pathname", list: "(designator)", doc: "The pathname that a string names.", one: func(c *Call, a Value) Value { return c.pathname(a) }},
		{name: "parse-namestring", list: "(thing &optional host defaults &key start end junk-allowed)", doc: "The pathname in a string, and where it ends.", many: true, named: parseNamestring},
		{name: "make-pathname", list: "(&key host device directory name type version defaults case)", doc: "A pathname of parts.", named: makePathname},
		{name: "merge-pathnames", list: "(pathname &optional defaults version)", doc: "The pathname with missing parts from the defaults.", named: func(c *Call, args Args) Value {
			defaultsArg := args.Get("defaults")

			defaults := c.defaultPathname()
			if defaultsArg != nil {
				defaults = c.pathname(defaultsArg)
			}
			c.charge(closureBytes)
			return c.merge(c.pathname(args.Get("pathname")), defaults)
		}},
		text("namestring", "The pathname as a string.", (*Pathname).text),
		text("file-namestring", "The name and type as a string.", (*Pathname).fileText),
		text("directory-namestring", "The directory as a string.", (*Pathname).directoryText),
		text("host-namestring", "The empty string: there are no hosts.", func(*Pathname) string { return "" }),
		{name: "enough-namestring", list: "(pathname &optional defaults)", doc: "The part of a pathname that the defaults do not give.", named: func(c *Call, args Args) Value {
			defaultsArg := args.Get("defaults")

			defaults := c.defaultPathname()
			if defaultsArg != nil {
				defaults = c.pathname(defaultsArg)
			}
			p := c.pathname(args.Get("pathname"))
			rest, _ := strings.CutPrefix(p.directoryText(), defaults.directoryText())
			return c.text(rest + p.fileText())
		}},
		part("pathname-directory", "The directory as a list, or nil.", func(p *Pathname) Value { return p.directory }),
		part("pathname-name", "The name, or nil.", func(p *Pathname) Value { return p.name }),
		part("pathname-type", "The type, or nil.", func(p *Pathname) Value { return p.kind }),
		part("pathname-device", "Nil: there are no devices.", func(*Pathname) Value { return Nil }),
		part("pathname-host", "Nil: there are no hosts.", func(*Pathname) Value { return Nil }),
		{name: "pathname-version", list: "(pathname)", doc: ":NEWEST for a file, else nil.", one: func(c *Call, a Value) Value {
			if c.pathname(a).name == Nil {
				return Nil
			}
			return kwNewest
		}},
		{name: "wild-pathname-p", list: "(pathname &optional field)", doc: "True if a part is a wildcard.", named: func(c *Call, args Args) Value {
			p := c.pathname(args.Get("pathname"))
			field := args.Get("field")
			if field != nil && field != Nil && field != kwName && field != kwFileType && field != kwDirectory && field != kwHost && field != kwDevice && field != kwVersion {
				c.typeError(field, "(MEMBER :HOST :DEVICE :DIRECTORY :NAME :TYPE :VERSION NIL)")
			}
			in := func(key *Symbol, v Value) bool { return (field == nil || field == Nil || field == key) && p.isWild(v) }
			wild := in(kwName, p.name) || in(kwFileType, p.kind)
			for _, item := range c.slice(p.directory) {
				wild = wild || in(kwDirectory, item)
			}
			return Boolean(wild)
		}},
		{name: "pathname-match-p", list: "(pathname wildcard)", doc: "True if the pathname fits one with wildcards.", two: func(c *Call, a, b Value) Value {
			p, w := c.pathname(a), c.pathname(b)
			return Boolean(c.matchPart(p.name, w.name) && c.matchPart(p.kind, w.kind) && c.matchDirectory(c.slice(p.directory), c.slice(w.directory)))
		}},
	}
}

func (p *Pathname) isWild(v Value) bool {
	s, ok := v.(*String)
	return v == kwWild || v == kwWildInferior || ok && p.pattern && strings.ContainsAny(s.String(), "*?")
}

// matchPart compares a part with one that may be a wildcard; a missing one fits all.
func (c *Call) matchPart(v, wild Value) bool {
	if wild == Nil || wild == kwWild {
		return true
	}
	s, ok := v.(*String)
	w, okToo := wild.(*String)
	if !ok || !okToo {
		return v == wild
	}
	c.work((len(s.chars) + 1) * (len(w.chars) + 1))
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
	c.step()
	if len(wild) == 0 {
		return true
	}
	for len(wild) > 0 {
		if wild[0] == kwWildInferior {
			c.descend(1)
			defer c.ascend(1)
			for n := 0; n <= len(items); n++ {
				if c.matchDirectory(items[n:], append([]Value{}, wild[1:]...)) && (len(wild) > 1 || n == len(items)) {
					return true
				}
			}
			return false
		}
		if len(items) == 0 || items[0] != wild[0] && !c.matchPart(items[0], wild[0]) {
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
		return c.values(c.pathname(thing), start)
	}
	from, to := c.bounds(start, args.Get("end"), len(s.chars))
	c.chargeMany(to-from, 2*runeBytes)
	return c.values(parsePathname(string(s.chars[from:to])), count(to))
}

func makePathname(c *Call, args Args) Value {
	directoryArg, nameArg, typeArg := args.Get("directory"), args.Get("name"), args.Get("type")
	defaultsArg := args.Get("defaults")

	c.charge(closureBytes)
	p := &Pathname{directory: Nil, name: Nil, kind: Nil}
	if directoryArg != nil {
		p.directory = c.directoryArgument(directoryArg)
	}
	p.name, p.kind = c.partArgument(nameArg), c.partArgument(typeArg)
	defaults := &Pathname{directory: Nil, name: Nil, kind: Nil}
	if given(defaultsArg) {
		defaults = c.pathname(defaultsArg)
	}
	merged := c.merge(p, defaults)
	if directoryArg != nil {
		merged.directory = p.directory
	}
	if nameArg != nil {
		merged.name = p.name
	}
	if typeArg != nil {
		merged.kind = p.kind
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
		items := append([]Value(nil), c.slice(x)...)
		if items[0] != kwAbsolute && items[0] != kwRelative {
			c.fail(simpleError, "a directory begins with :ABSOLUTE or :RELATIVE, not %s", c.shown(items[0]))
		}
		for i, item := range items[1:] {
			if s, ok := item.(*String); ok && s.String() == ".." {
				items[i+1] = kwUp
			} else if ok && s.String() == "**" {
				items[i+1] = kwWildInferior
			} else if !ok {
				c.symbol(item)
			}
		}
		return c.newList(items)
	}
	c.typeError(v, "LIST")
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
	c.typeError(v, "(OR STRING NULL (MEMBER :WILD :UNSPECIFIC))")
	return nil
}
