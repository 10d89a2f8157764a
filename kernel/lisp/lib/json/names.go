package json

import (
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
)

// nameKind is what a part of a field's name is made of.
type nameKind int

const (
	otherPart   nameKind = iota // one character that is neither letter nor digit
	smallPart                   // small letters
	mixedPart                   // a capital and small letters
	capitalPart                 // one capital
	upperPart                   // capitals
	digitPart
)

// namePart is a part of a field's name.
type namePart struct {
	kind nameKind
	text []rune
}

// nameParts parts a name where its characters change.
func nameParts(c *lisp.Call, name []rune) []namePart {
	var parts []namePart
	for i, r := range name {
		last := &namePart{kind: otherPart}
		if len(parts) > 0 {
			last = &parts[len(parts)-1]
		}
		kind := otherPart
		switch {
		case lisp.Lower(r) != r:
			kind = capitalPart
			if last.kind == capitalPart || last.kind == upperPart {
				last.kind, kind = upperPart, upperPart
			}
		case lisp.Upper(r) != r:
			kind = smallPart
			if last.kind == capitalPart || last.kind == mixedPart {
				last.kind, kind = mixedPart, mixedPart
			}
		case unicode.IsDigit(r):
			kind = digitPart
		}
		switch {
		case kind != otherPart && kind == last.kind:
			last.text = name[i-len(last.text) : i+1]
		case kind == smallPart && last.kind == upperPart: // its last capital begins a word
			capitals := len(last.text) - 1
			last.text = last.text[:capitals]
			if capitals == 1 {
				last.kind = capitalPart
			}
			parts = lisp.Append(c, parts, namePart{mixedPart, name[i-1 : i+1]})
		default:
			parts = lisp.Append(c, parts, namePart{kind, name[i : i+1]})
		}
	}
	return parts
}

// lispName turns the name of a JSON field into that of a symbol, as cl-json does: words
// that begin with capitals are parted by hyphens, an underscore becomes two, a capital
// at the beginning is marked by *, words in capitals stand between +.
func lispName(c *lisp.Call, name []rune) *lisp.String {
	b := lisp.NewStringBuilder(c)
	writeName(c, &b, nameParts(c, name), otherPart)
	return b.Value()
}

func writeName(c *lisp.Call, b *lisp.StringBuilder, parts []namePart, before nameKind) {
	for i, part := range parts {
		text := strings.ToUpper(string(part.text))
		if before == otherPart && (part.kind == upperPart || part.kind == capitalPart || part.kind == digitPart) {
			if rest, found, thrown := allCapitals(c, parts[i+1:], part.kind, part.kind == digitPart); found && !thrown {
				b.WriteString("+" + text + rest)
				return
			}
		}
		mark := "-"
		if before == otherPart {
			mark = ""
		}
		switch part.kind {
		case upperPart:
			text = mark + "+" + text + "+"
		case digitPart:
			text = mark + text
		case capitalPart, mixedPart:
			switch before {
			case otherPart:
				mark = "*"
			case digitPart:
				mark = "-*"
			}
			text = mark + text
		case smallPart:
			text = mark + text
		default:
			text = underscore(text, "--")
		}
		b.WriteString(text)
		before = part.kind
	}
}

func underscore(text, instead string) string {
	if text == "_" {
		return instead
	}
	return text
}

// allCapitals writes what follows in a name that is written in capitals, with the + at
// its end. found is false if there is nothing to write, thrown true if the name is not
// written so: then the nearest choice is made otherwise.
func allCapitals(c *lisp.Call, parts []namePart, before nameKind, fromDigits bool) (text string, found, thrown bool) {
	c.Descend(2)
	defer c.Ascend(2)
	defer func() { c.ChargeMany(len(text), 2) }()
	if len(parts) == 0 {
		if fromDigits {
			return "", false, true
		}
		return "+", before != otherPart, false
	}
	part := parts[0]
	text = string(part.text)
	switch part.kind {
	case smallPart, mixedPart:
		return "", false, true
	case otherPart:
		if !fromDigits && before != otherPart {
			if rest, found, thrown := allCapitals(c, parts[1:], otherPart, false); found && !thrown {
				return underscore(text, "-") + rest, true, false
			}
			b := lisp.NewStringBuilder(c)
			writeName(c, &b, parts[1:], otherPart)
			return "+" + underscore(text, "--") + b.Text(), true, false
		}
		text, fromDigits = underscore(text, "-"), false
	case upperPart:
		fromDigits = false
	}
	rest, found, thrown := allCapitals(c, parts[1:], part.kind, fromDigits)
	if !found {
		rest = ""
	}
	return text + rest, true, thrown
}

// simpleLispName parts a name only where a capital follows a small letter.
func simpleLispName(c *lisp.Call, name []rune) *lisp.String {
	b := lisp.NewStringBuilder(c)
	small := false
	for _, r := range name {
		if small && lisp.Lower(r) != r {
			b.WriteRune('-')
		}
		small = lisp.Upper(r) != r
		b.WriteRune(lisp.Upper(r))
	}
	return b.Value()
}

// fieldName is the inverse of lispName.
func fieldName(c *lisp.Call, chars []rune) *lisp.String {
	b := lisp.NewStringBuilder(c)
	begin, capital, capitals := true, false, false
	for i := 0; i < len(chars); i++ {
		switch r := chars[i]; {
		case r == '*' && begin:
			capital = true
			continue
		case r == '+' && capitals:
			capitals, begin = false, true
			continue
		case r == '+' && begin:
			capitals = true
			continue
		case r == '-':
			begin = true
			if capitals {
				b.WriteRune('_')
			} else if i+1 < len(chars) && chars[i+1] == '-' {
				i++
				b.WriteRune('_')
			} else {
				capital = true
			}
			continue
		case capital || capitals:
			b.WriteRune(lisp.Upper(r))
		default:
			b.WriteRune(lisp.Lower(r))
		}
		capital, begin = false, false
	}
	return b.Value()
}
