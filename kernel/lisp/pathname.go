package lisp

import "strings"

// Pathname is a file's name in parts. It is text only: nothing looks at a file.
type Pathname struct {
	// directory is :absolute or :relative and the names below, Nil for none; name and
	// kind are a string, :wild or Nil.
	Directory, Name, Type Value
	// pattern says that a star or question mark in a string stands for other characters;
	// else it is one of a file's own.
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

// ParsePathname takes a namestring apart: the last part is the name up to its last
// dot, and the type.
func ParsePathname(text string) *Pathname {
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
		return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s.String())
	}
	return ""
}

func (p *Pathname) DirectoryText() string {
	items, _ := Slice(p.Directory, 10_000)
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

func (p *Pathname) FileName() string {
	text := p.partText(p.Name)
	if p.Type != Nil && p.Type != kwUnspecific {
		text += "." + p.partText(p.Type)
	}
	return text
}

func (p *Pathname) String() string { return p.DirectoryText() + p.FileName() }

// Plain is the name without the backslashes before stars, as files have it.
func (p *Pathname) Plain() string { return strings.ReplaceAll(p.String(), `\`, "") }

// Pathname takes a pathname designator: a pathname, a namestring or a file's stream.
func (c *Call) Pathname(v Value) *Pathname {
	switch x := v.(type) {
	case *Pathname:
		return x
	case *String:
		c.ChargeMany(len(x.chars)+100, 6*RuneBytes)
		return ParsePathname(x.String())
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
		all := append([]Value(nil), c.Slice(defaults.Directory)...)
		for _, item := range items[1:] {
			if _, named := all[len(all)-1].(*String); item == kwBack && named && len(all) > 1 {
				all = all[:len(all)-1]
				continue
			}
			all = append(all, item)
		}
		merged.Directory = c.NewList(all)
	}
	return &merged
}

func (c *Call) equalPathnames(a, b *Pathname) bool {
	return a.pattern == b.pattern && c.equal(a.Directory, b.Directory) && c.equal(a.Name, b.Name) && c.equal(a.Type, b.Type)
}
