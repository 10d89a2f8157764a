package lisp

import (
	"slices"
	"strings"
)

// Pathname is a file's name in parts. It is text only: nothing looks at a file.
type Pathname struct {
	// Directory is a list of :absolute or :relative and the names below, Nil for none. Name and
	// Type are a string, :wild or Nil.
	Directory, Name, Type Value
	// pattern says that a star or question mark in a string stands for other characters. Without
	// it they are characters of a file's name.
	pattern bool
}

var (
	kwAbsolute     = Keyword("ABSOLUTE")
	kwRelative     = Keyword("RELATIVE")
	kwUp           = Keyword("UP")
	kwBack         = Keyword("BACK")
	kwHome         = Keyword("HOME")
	kwWild         = Keyword("WILD")
	kwWildInferior = Keyword("WILD-INFERIORS")
	kwNewest       = Keyword("NEWEST")
	kwUnspecific   = Keyword("UNSPECIFIC")
	kwDirectory    = Keyword("DIRECTORY")
	kwName         = Keyword("NAME")
	kwHost         = Keyword("HOST")
	kwDevice       = Keyword("DEVICE")
	kwVersion      = Keyword("VERSION")

	kwFileType = Keyword("TYPE")

	symDefaultPathname = CL("*DEFAULT-PATHNAME-DEFAULTS*")
)

// ParsePathname takes a namestring apart. See parsePathname.
func (c *Call) ParsePathname(text string) *Pathname {
	c.ChargeMany(len(text), 2*RuneBytes)
	c.ChargeMany(strings.Count(text, "/")+2, ConsBytes+ObjectBytes)
	return parsePathname(text)
}

// parsePathname takes a namestring apart: the last part is the name up to its last dot, and the
// type.
func parsePathname(text string) *Pathname {
	p := &Pathname{Directory: Nil, Name: Nil, Type: Nil, pattern: hasWildcard(text)}
	slash := strings.LastIndexByte(text, '/')
	if slash >= 0 {
		p.Directory = parseDirectory(text[:slash+1])
	}
	file := text[slash+1:]
	if file == "" {
		return p
	}
	dot := strings.LastIndexByte(file, '.')
	for dot > 0 && file[dot-1] == '\\' {
		dot = strings.LastIndexByte(file[:dot], '.')
	}
	if dot <= 0 {
		p.Name = pathPart(file)
		return p
	}
	p.Name, p.Type = pathPart(file[:dot]), pathPart(file[dot+1:])
	return p
}

func parseDirectory(text string) Value {
	var b ListBuilder
	if strings.HasPrefix(text, "/") {
		b.Add(kwAbsolute)
	} else {
		b.Add(kwRelative)
	}
	for i, part := range strings.Split(text, "/") {
		switch {
		case part == "":
		case part == "..":
			b.Add(kwUp)
		case part == "**":
			b.Add(kwWildInferior)
		case part == "~" && i == 0:
			b.first.(*Cons).Car = kwAbsolute
			b.Add(kwHome)
		default:
			b.Add(pathPart(part))
		}
	}
	return b.List()
}

// hasWildcard reports a wildcard that no backslash takes its meaning from.
func hasWildcard(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

func pathPart(text string) Value {
	if text == "*" {
		return kwWild
	}
	return NewString(strings.ReplaceAll(text, `\`, ""))
}

// wildcards get a backslash before them where they stand for themselves.
var wildcards = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`)

// partText is how a part is written.
func (p *Pathname) partText(v Value) string {
	switch v {
	case kwWild:
		return "*"
	case kwWildInferior:
		return "**"
	case kwUp, kwBack:
		return ".."
	case kwHome:
		return "~"
	}
	if s, ok := v.(*String); ok && p.pattern {
		return s.String()
	} else if ok {
		return wildcards.Replace(s.String())
	}
	return ""
}

// maximumDirectories bounds the parts of a directory that are written.
const maximumDirectories = 10_000

// chargeText accounts for a pathname that is written.
func (c *Call) chargeText(p *Pathname) {
	size := 0
	add := func(v Value) {
		if s, ok := v.(*String); ok {
			size += len(s.chars)
		}
	}
	add(p.Name)
	add(p.Type)
	items := 0
	for cell, ok := p.Directory.(*Cons); ok && items < maximumDirectories; cell, ok = cell.Cdr.(*Cons) {
		add(cell.Car)
		items++
	}
	c.ChargeMany(size, 2*RuneBytes)
	c.ChargeMany(items+1, ObjectBytes)
}

// Namestring is a pathname as it is written, with the backslashes that Lisp needs.
func (c *Call) Namestring(p *Pathname) string {
	c.chargeText(p)
	return p.String()
}

// DirectoryText is the directory of a pathname as it is written, with its slash at the end.
func (c *Call) DirectoryText(p *Pathname) string {
	c.chargeText(p)
	return p.directoryText()
}

// FileName is the name of a pathname with its type.
func (c *Call) FileName(p *Pathname) string {
	c.chargeText(p)
	return p.fileName()
}

// Plain is a pathname without the backslashes before stars, as files have it.
func (c *Call) Plain(p *Pathname) string {
	c.chargeText(p)
	return strings.ReplaceAll(p.String(), `\`, "")
}

// String is the whole name as it is written. It is for messages: [Call.Namestring] charges for it.
func (p *Pathname) String() string { return p.directoryText() + p.fileName() }

func (p *Pathname) directoryText() string {
	items, _ := Slice(p.Directory, maximumDirectories)
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	if items[0] == kwAbsolute && (len(items) < 2 || items[1] != kwHome) {
		b.WriteByte('/')
	}
	for _, item := range items[1:] {
		b.WriteString(p.partText(item) + "/")
	}
	return b.String()
}

func (p *Pathname) fileName() string {
	text := p.partText(p.Name)
	if p.Type != Nil && p.Type != kwUnspecific {
		text += "." + p.partText(p.Type)
	}
	return text
}

// Pathname takes a pathname designator: a pathname, a namestring or a file's stream.
func (c *Call) Pathname(v Value) *Pathname {
	switch x := v.(type) {
	case *Pathname:
		return x
	case *String:
		return c.ParsePathname(c.GoText(x.chars))
	case *Stream:
		if x.file != nil {
			return x.file.path
		}
	}
	c.TypeError(v, "(OR PATHNAME STRING)")
	return nil
}

// DefaultPathname is what *default-pathname-defaults* says.
func (c *Call) DefaultPathname() *Pathname {
	if v := c.touched(symDefaultPathname); v != nil {
		return c.Pathname(v)
	}
	return emptyPathname
}

var emptyPathname = &Pathname{Directory: Nil, Name: Nil, Type: Nil}

// MergePathname fills the parts that p lacks; a relative directory goes below the default's.
func (c *Call) MergePathname(p, defaults *Pathname) *Pathname {
	merged := *p
	merged.pattern = p.pattern || defaults.pattern
	if p.Name == Nil {
		merged.Name = defaults.Name
	}
	if p.Type == Nil {
		merged.Type = defaults.Type
	}
	switch items := c.Slice(p.Directory); {
	case len(items) == 0:
		merged.Directory = defaults.Directory
	case items[0] == kwRelative && defaults.Directory != Nil:
		all := c.Slice(defaults.Directory)
		for _, item := range items[1:] {
			if _, named := all[len(all)-1].(*String); item == kwBack && named && len(all) > 1 {
				all = all[:len(all)-1]
				continue
			}
			all = Append(c, all, item)
		}
		merged.Directory = c.NewList(all)
	}
	return Allocate(c, merged)
}

func (c *Call) equalPathnames(a, b *Pathname) bool {
	return a.pattern == b.pattern && c.equal(a.Directory, b.Directory) && c.equal(a.Name, b.Name) && c.equal(a.Type, b.Type)
}

// pathnameFunctions take names of files apart and put them together.
func pathnameFunctions() []Builtin {
	part := func(name, doc string, part func(*Pathname) Value) Builtin {
		return Builtin{Name: name, LambdaList: "(pathname &key case)", Doc: doc, Named: func(c *Call, args Args) Value {
			return part(c.Pathname(args.Get("pathname")))
		}}
	}
	text := func(name, doc string, text func(*Call, *Pathname) string) Builtin {
		return Builtin{Name: name, LambdaList: "(pathname)", Doc: doc, One: func(c *Call, a Value) Value { return c.Text(text(c, c.Pathname(a))) }}
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
			return c.MergePathname(c.Pathname(args.Get("pathname")), defaults)
		}},
		text("namestring", "The pathname as a string.", (*Call).Namestring),
		text("file-namestring", "The name and type as a string.", (*Call).FileName),
		text("directory-namestring", "The directory as a string.", (*Call).DirectoryText),
		text("host-namestring", "The empty string: there are no hosts.", func(*Call, *Pathname) string { return "" }),
		{Name: "enough-namestring", LambdaList: "(pathname &optional defaults)", Doc: "The part of a pathname that the defaults do not give.", Named: func(c *Call, args Args) Value {
			defaultsArg := args.Get("defaults")
			defaults := c.DefaultPathname()
			if defaultsArg != nil {
				defaults = c.Pathname(defaultsArg)
			}
			p := c.Pathname(args.Get("pathname"))
			rest, _ := strings.CutPrefix(c.DirectoryText(p), c.DirectoryText(defaults))
			return c.Text(rest + c.FileName(p))
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
	return v == kwWild || v == kwWildInferior || ok && p.pattern && (slices.Contains(s.chars, '*') || slices.Contains(s.chars, '?'))
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
				if c.matchDirectory(items[n:], wild[1:]) && (len(wild) > 1 || n == len(items)) {
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
	return c.Values(c.ParsePathname(c.GoText(s.chars[from:to])), Count(to))
}

func makePathname(c *Call, args Args) Value {
	directoryArg, nameArg, typeArg := args.Get("directory"), args.Get("name"), args.Get("type")
	defaultsArg := args.Get("defaults")
	p := Allocate(c, Pathname{Directory: Nil, Name: Nil, Type: Nil})
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
		items := c.Slice(x)
		if items[0] != kwAbsolute && items[0] != kwRelative {
			c.Fail(SimpleError, "a directory begins with :ABSOLUTE or :RELATIVE, not %s", c.Shown(items[0]))
		}
		for i, item := range items[1:] {
			if s, ok := item.(*String); ok && s.is("..") {
				items[i+1] = kwUp
			} else if ok && s.is("**") {
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
		if x.is("*") {
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
