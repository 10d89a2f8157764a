package lisp

import (
	"strings"
	"unicode"

	"org-agent/kernel/plist"
)

// readtable is what *readtable* holds. The syntax of characters is fixed; what a note can
// change is how the reader takes letters, and the printer with it.
type readtable struct {
	letters *Symbol // of readtable-case
}

// standardReadtable is never changed: environments have a copy.
var standardReadtable = &readtable{letters: kwUpcase}

var (
	symReadtable = CL("*READTABLE*")
	kwPreserve   = Keyword("PRESERVE")
	kwInvert     = Keyword("INVERT")
)

// readtableFunctions make and change readtables.
func readtableFunctions() []Builtin {
	return []Builtin{
		{Name: "copy-readtable", LambdaList: "(&optional from to)", Doc: "A copy of a readtable, of the standard one for nil.", Named: func(c *Call, args Args) Value {
			fromArg, toArg := args.Get("from"), args.Get("to")

			from, to := c.readtable(), &readtable{}
			switch {
			case fromArg != nil && fromArg == Nil:
				from = standardReadtable
			case fromArg != nil:
				from = c.readtableArgument(fromArg)
			}
			if Given(toArg) {
				to = c.readtableArgument(toArg)
			}
			c.Charge(ObjectBytes)
			*to = *from
			return to
		}},
		{Name: "readtable-case", LambdaList: "(readtable)", Doc: "How letters of symbols are read: :upcase, :downcase, :preserve or :invert.", One: func(c *Call, a Value) Value {
			return c.readtableArgument(a).letters
		}},
	}
}

func setReadtableCase(c *Call, args []Value) Value {
	table := c.readtableArgument(args[1])
	switch args[0] {
	case kwUpcase, kwDowncase, kwPreserve, kwInvert:
		table.letters = args[0].(*Symbol)
		return args[0]
	}
	c.TypeError(args[0], "(MEMBER :UPCASE :DOWNCASE :PRESERVE :INVERT)")
	return nil
}

func (c *Call) readtableArgument(v Value) *readtable {
	table, ok := v.(*readtable)
	if !ok {
		c.TypeError(v, "READTABLE")
	}
	return table
}

// readtable is the current one.
func (c *Call) readtable() *readtable {
	switch v := c.touched(symReadtable).(type) {
	case *readtable:
		return v
	case nil:
		return standardReadtable
	default:
		return c.readtableArgument(v)
	}
}

// symbolParts is [plist.SymbolParts] for a readtable that does not raise letters.
func (t *readtable) symbolParts(text string, escaped bool) (pkg string, colons int, name string) {
	if t.letters == kwUpcase {
		return plist.SymbolParts(text, escaped)
	}
	var part tokenPart
	bar := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			part.add(text[i], true)
		case c == '|':
			bar = !bar
		case c == ':' && !bar && colons == 0:
			pkg, colons = part.folded(t.letters), 1
			part = tokenPart{}
			if i+1 < len(text) && text[i+1] == ':' {
				colons, i = 2, i+1
			}
		default:
			part.add(c, bar)
		}
	}
	return pkg, colons, part.folded(t.letters)
}

// tokenPart collects a name; taken tells the bytes that are as written.
type tokenPart struct {
	name  []byte
	taken []bool
}

func (p *tokenPart) add(c byte, escaped bool) {
	p.name, p.taken = append(p.name, c), append(p.taken, escaped)
}

// folded is the name with its letters as readtable-case has them.
func (p *tokenPart) folded(letters *Symbol) string {
	upper, lower := false, false
	for i, c := range p.name {
		if !p.taken[i] {
			upper = upper || 'A' <= c && c <= 'Z'
			lower = lower || 'a' <= c && c <= 'z'
		}
	}
	if letters == kwPreserve || letters == kwInvert && upper && lower {
		return string(p.name)
	}
	for i, c := range p.name {
		switch {
		case p.taken[i]:
		case 'A' <= c && c <= 'Z':
			p.name[i] += 'a' - 'A'
		case letters == kwInvert && 'a' <= c && c <= 'z':
			p.name[i] -= 'a' - 'A'
		}
	}
	return string(p.name)
}

// changesCase reports that the reader would not take a letter as it is.
func changesCase(r rune, reading *Symbol) bool {
	switch reading {
	case kwUpcase:
		return unicode.IsLower(r) && unicode.ToUpper(r) != r
	case kwDowncase:
		return unicode.IsUpper(r) && unicode.ToLower(r) != r
	}
	return false
}

// cased writes the letters of a name as *print-case* and the readtable say.
func (p *printer) cased(name string) string {
	switch p.reading {
	case kwPreserve:
		return name
	case kwInvert:
		return inverted(name)
	case kwDowncase:
		// What the reader lowers stands for either case.
		switch p.letters {
		case kwUpcase:
			return strings.Map(func(r rune) rune { return Upper(r) }, name)
		case kwDowncase:
			return name
		}
		return capitalized(name, unicode.IsLower, Upper, func(r rune) rune { return r })
	}
	switch p.letters {
	case kwDowncase:
		return strings.Map(func(r rune) rune { return Lower(r) }, name)
	case kwCapitalize:
		return capitalized(name, unicode.IsUpper, func(r rune) rune { return r }, Lower)
	}
	return name
}

// capitalized changes the first letter of each word and the other ones, as far as they
// are of the case that is meant.
func capitalized(name string, meant func(rune) bool, first, other func(rune) rune) string {
	inside := false
	return strings.Map(func(r rune) rune {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		begins := word && !inside
		inside = word
		switch {
		case !meant(r):
			return r
		case begins:
			return first(r)
		}
		return other(r)
	}, name)
}

// inverted swaps the case of a name that has letters of one case only.
func inverted(name string) string {
	switch {
	case strings.ToUpper(name) == name:
		return strings.ToLower(name)
	case strings.ToLower(name) == name:
		return strings.ToUpper(name)
	}
	return name
}
