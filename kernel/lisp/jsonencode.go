package lisp

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf16"
)

// jsonEncoder writes one JSON value.
type jsonEncoder struct {
	call *Call
	out  strings.Builder
	// arrays remembers which lists can be written as arrays.
	arrays map[*Cons]bool
}

func (e *jsonEncoder) text(text string) {
	e.call.chargeOutput(len(text))
	e.out.WriteString(text)
}

func (e *jsonEncoder) fail(v Value) {
	e.call.libraryError("JSON:UNENCODABLE-VALUE-ERROR", fmt.Sprintf("%s cannot be written as JSON", sketch(v, 80)))
}

func (e *jsonEncoder) value(v Value) {
	c := e.call
	c.step()
	c.descend(8)
	defer c.ascend(8)
	switch x := v.(type) {
	case *Symbol:
		switch x {
		case T:
			e.text("true")
		case Nil:
			e.text("null")
		default:
			e.str(fieldName(x.name))
		}
	case *String:
		c.chargeOutput(len(x.chars))
		e.str(x.String())
	case Character:
		e.str(string(rune(x)))
	case int64, *big.Int:
		e.text(string(c.printedWith(v, plainControl(10))))
	case *big.Rat, float32, float64:
		e.float(v)
	case *Cons:
		if e.array(x) {
			e.list(x)
			return
		}
		e.alist(x)
	case *Vector:
		e.text("[")
		for i, item := range x.elements {
			if i > 0 {
				e.text(",")
			}
			e.value(item)
		}
		e.text("]")
	case *HashTable:
		first := true
		e.text("{")
		for _, entry := range x.pairs(c) {
			e.field(&first, entry.key, entry.value)
		}
		e.text("}")
	case *Instance:
		e.instance(x)
	default:
		e.fail(v)
	}
}

func (e *jsonEncoder) float(v Value) {
	x := double(v)
	if r, ok := v.(*big.Rat); ok {
		f, _ := r.Float32()
		e.text(floatText(float64(f), 32, false))
		return
	}
	if _, single := v.(float32); single {
		e.text(floatText(x, 32, false))
		return
	}
	e.text(floatText(x, 64, true))
}

// array reports that a list is proper and its elements can be written. Others are tried
// as alists.
func (e *jsonEncoder) array(cell *Cons) bool {
	if known, ok := e.arrays[cell]; ok {
		return known
	}
	e.call.charge(entryBytes)
	e.call.descend(4)
	defer e.call.ascend(4)
	result := true
	for rest := Value(cell); rest != Nil; {
		e.call.step()
		next, ok := rest.(*Cons)
		if !ok {
			result = false
			break
		}
		if inner, ok := next.Car.(*Cons); ok && !e.array(inner) && !e.object(inner) {
			result = false
			break
		}
		rest = next.Cdr
	}
	e.arrays[cell] = result
	return result
}

// object reports that a list can be written as an alist.
func (e *jsonEncoder) object(cell *Cons) bool {
	for rest := Value(cell); rest != Nil; {
		e.call.step()
		next, ok := rest.(*Cons)
		if !ok {
			return false
		}
		pair, ok := next.Car.(*Cons)
		if !ok || isConsValue(pair.Car) {
			return false
		}
		if inner, ok := pair.Cdr.(*Cons); ok && !e.array(inner) && !e.object(inner) {
			return false
		}
		rest = next.Cdr
	}
	return true
}

func isConsValue(v Value) bool { _, ok := v.(*Cons); return ok }

func (e *jsonEncoder) list(cell *Cons) {
	e.text("[")
	for rest := Value(cell); rest != Nil; {
		next := rest.(*Cons)
		if rest != Value(cell) {
			e.text(",")
		}
		e.value(next.Car)
		rest = next.Cdr
	}
	e.text("]")
}

func (e *jsonEncoder) alist(v Value) {
	first := true
	e.text("{")
	for v != Nil {
		e.call.step()
		cell, ok := v.(*Cons)
		if !ok {
			e.fail(v)
		}
		pair, ok := cell.Car.(*Cons)
		if !ok {
			e.fail(cell.Car)
		}
		e.field(&first, pair.Car, pair.Cdr)
		v = cell.Cdr
	}
	e.text("}")
}

func (e *jsonEncoder) plist(v Value) {
	first := true
	e.text("{")
	for v != Nil {
		e.call.step()
		cell, ok := v.(*Cons)
		if !ok {
			e.fail(v)
		}
		rest, ok := cell.Cdr.(*Cons)
		if !ok {
			e.fail(v)
		}
		e.field(&first, cell.Car, rest.Car)
		v = rest.Cdr
	}
	e.text("}")
}

func (e *jsonEncoder) instance(i *Instance) {
	first := true
	e.text("{")
	for j := range i.class.slots {
		if v := i.get(j); v != nil {
			e.field(&first, i.class.slots[j].name, v)
		}
	}
	e.text("}")
}

func (e *jsonEncoder) field(first *bool, key, v Value) {
	if !*first {
		e.text(",")
	}
	*first = false
	switch x := key.(type) {
	case *Symbol:
		e.str(fieldName(x.name))
	case *String:
		e.str(x.String())
	case Character:
		e.str(string(rune(x)))
	case int64, *big.Int:
		e.str(string(e.call.printedWith(key, plainControl(10))))
	default:
		e.fail(key)
	}
	e.text(":")
	e.value(v)
}

// str writes a string; what is not plain ASCII is escaped, and the slash, as cl-json
// does.
func (e *jsonEncoder) str(text string) {
	e.call.chargeOutput(len(text) + 2)
	e.out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\' || r == '/':
			e.out.WriteByte('\\')
			e.out.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			e.out.WriteRune(r)
		case strings.ContainsRune("\n\t\r\b\f", r):
			e.out.WriteString(map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`, '\b': `\b`, '\f': `\f`}[r])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&e.out, `\u%04X\u%04X`, high, low)
		default:
			fmt.Fprintf(&e.out, `\u%04X`, r)
		}
	}
	e.out.WriteByte('"')
}
