package lisp

import "strings"

// Pathname is a file's name in parts. It is text only: nothing looks at a file.
type Pathname struct {
	// directory is :absolute or :relative and the names below, Nil for none; name and
	// kind are a string, :wild or Nil.
	directory, name, kind Value
	// pattern says that a star or question mark in a string stands for other characters;
	// else it is one of a file's own.
	pattern bool
}

var (
	kwAbsolute     = standardKeyword("ABSOLUTE")
	kwRelative     = standardKeyword("RELATIVE")
	kwUp           = standardKeyword("UP")
	kwBack         = standardKeyword("BACK")
	kwHome         = standardKeyword("HOME")
	kwWild         = standardKeyword("WILD")
	kwWildInferior = standardKeyword("WILD-INFERIORS")
	kwNewest       = standardKeyword("NEWEST")
	kwUnspecific   = standardKeyword("UNSPECIFIC")
	kwDirectory    = standardKeyword("DIRECTORY")
	kwName         = standardKeyword("NAME")
	kwHost         = standardKeyword("HOST")
	kwDevice       = standardKeyword("DEVICE")
	kwVersion      = standardKeyword("VERSION")

	kwFileType = standardKeyword("TYPE")

	symDefaultPathname = standardSymbol("*DEFAULT-PATHNAME-DEFAULTS*")
)

// parsePathname takes a namestring apart: the last part is the name up to its last
// dot, and the type.
func parsePathname(text string) *Pathname {
	p := &Pathname{directory: Nil, name: Nil, kind: Nil, pattern: hasWildcard(text)}
	slash := strings.LastIndexByte(text, '/')
	if slash >= 0 {
		p.directory = parseDirectory(text[:slash+1])
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
		p.name = pathPart(file)
		return p
	}
	p.name, p.kind = pathPart(file[:dot]), pathPart(file[dot+1:])
	return p
}

func parseDirectory(text string) Value {
	var b builder
	if strings.HasPrefix(text, "/") {
		b.add(kwAbsolute)
	} else {
		b.add(kwRelative)
	}
	for i, part := range strings.Split(text, "/") {
		switch {
		case part == "":
		case part == "..":
			b.add(kwUp)
		case part == "**":
			b.add(kwWildInferior)
		case part == "~" && i == 0:
			b.first.(*Cons).Car = kwAbsolute
			b.add(kwHome)
		default:
			b.add(pathPart(part))
		}
	}
	return b.list()
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

func (p *Pathname) directoryText() string {
	items, _ := Slice(p.directory, 10_000)
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

func (p *Pathname) fileText() string {
	text := p.partText(p.name)
	if p.kind != Nil && p.kind != kwUnspecific {
		text += "." + p.partText(p.kind)
	}
	return text
}

func (p *Pathname) text() string { return p.directoryText() + p.fileText() }

// plain is the name without the backslashes before stars, as files have it.
func (p *Pathname) plain() string { return strings.ReplaceAll(p.text(), `\`, "") }

// pathname takes a pathname designator: a pathname, a namestring or a file's stream.
func (c *Call) pathname(v Value) *Pathname {
	switch x := v.(type) {
	case *Pathname:
		return x
	case *String:
		c.chargeMany(len(x.chars), 2*runeBytes)
		return parsePathname(x.String())
	case *Stream:
		if x.file != nil {
			return x.file.path
		}
	}
	c.typeError(v, "(OR PATHNAME STRING)")
	return nil
}

// defaultPathname is what *default-pathname-defaults* says.
func (c *Call) defaultPathname() *Pathname {
	if v := c.touched(symDefaultPathname); v != nil {
		return c.pathname(v)
	}
	return emptyPathname
}

var emptyPathname = &Pathname{directory: Nil, name: Nil, kind: Nil}

// merge fills the parts that p lacks; a relative directory goes below the default's.
func (c *Call) merge(p, defaults *Pathname) *Pathname {
	merged := *p
	merged.pattern = p.pattern || defaults.pattern
	if p.name == Nil {
		merged.name = defaults.name
	}
	if p.kind == Nil {
		merged.kind = defaults.kind
	}
	switch items := c.slice(p.directory); {
	case len(items) == 0:
		merged.directory = defaults.directory
	case items[0] == kwRelative && defaults.directory != Nil:
		all := append([]Value(nil), c.slice(defaults.directory)...)
		for _, item := range items[1:] {
			if _, named := all[len(all)-1].(*String); item == kwBack && named && len(all) > 1 {
				all = all[:len(all)-1]
				continue
			}
			all = append(all, item)
		}
		merged.directory = c.newList(all)
	}
	return &merged
}

func (c *Call) equalPathnames(a, b *Pathname) bool {
	return a.pattern == b.pattern && c.equal(a.directory, b.directory) && c.equal(a.name, b.name) && c.equal(a.kind, b.kind)
}
