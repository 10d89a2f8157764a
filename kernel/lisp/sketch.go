package lisp

import (
	"math/big"
	"strconv"
	"strings"
)

// quoted escapes texts in sketches.
var quoted = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`)

// Sketch prints v shortened to about limit characters, for messages. It needs no call
// and follows nothing far.
func Sketch(v Value, limit int) string {
	var b strings.Builder
	sketchInto(&b, v, limit, 6)
	return SketchText(b.String(), limit)
}

func SketchText(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

func sketchInto(b *strings.Builder, v Value, limit, depth int) {
	switch x := v.(type) {
	case nil:
		b.WriteString("…")
	case *Symbol:
		switch {
		case x.Keyword():
			b.WriteByte(':')
		case x.ofLibrary:
			b.WriteString(x.home + ":")
		}
		b.WriteString(symbolName(SketchText(x.name, limit)))
	case *String:
		text := string(x.chars[:min(len(x.chars), limit)])
		b.WriteString(`"` + quoted.Replace(text) + `"`)
	case *Cons:
		sketchList(b, x, limit, depth)
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case *big.Int:
		if x.BitLen() > 4*limit {
			b.WriteString("an integer of " + strconv.Itoa(x.BitLen()) + " bits")
			return
		}
		b.WriteString(x.String())
	case *big.Rat:
		if x.Num().BitLen()+x.Denom().BitLen() > 4*limit {
			b.WriteString("a long ratio")
			return
		}
		b.WriteString(x.String())
	case float32:
		b.WriteString(floatText(float64(x), 32, false))
	case float64:
		b.WriteString(floatText(x, 64, false))
	case *Complex:
		b.WriteString("#C(")
		sketchInto(b, x.real, limit, depth)
		b.WriteByte(' ')
		sketchInto(b, x.imaginary, limit, depth)
		b.WriteByte(')')
	case Character:
		b.WriteString("#\\" + characterName(x))
	case *Function:
		b.WriteString(functionText(x))
	case *Instance:
		b.WriteString("#<" + x.class.name.name + ">")
	case *Vector:
		b.WriteString("#<VECTOR>")
	case *HashTable:
		b.WriteString("#<HASH-TABLE>")
	default:
		b.WriteString("#<OBJECT>")
	}
}

func sketchList(b *strings.Builder, cell *Cons, limit, depth int) {
	if head, ok := cell.Car.(*Symbol); ok {
		if prefix, ok := prefixes[head]; ok {
			if rest, ok := cell.Cdr.(*Cons); ok && rest.Cdr == Nil {
				b.WriteString(prefix)
				sketchInto(b, rest.Car, limit, depth)
				return
			}
		}
	}
	if depth == 0 || b.Len() > limit {
		b.WriteString("(…)")
		return
	}
	b.WriteByte('(')
	for b.Len() <= limit {
		sketchInto(b, cell.Car, limit, depth-1)
		next, ok := cell.Cdr.(*Cons)
		if !ok {
			break
		}
		b.WriteByte(' ')
		cell = next
	}
	if _, more := cell.Cdr.(*Cons); !more && cell.Cdr != Nil {
		b.WriteString(" . ")
		sketchInto(b, cell.Cdr, limit, depth-1)
	}
	b.WriteByte(')')
}
