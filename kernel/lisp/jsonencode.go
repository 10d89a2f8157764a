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
	// names makes the name of a field of that of a symbol, nil for the usual way.
	names Value
	// explicit says that the first element of a list tells how to write it.
	explicit bool
	// methods says that the note has its own ways to write some objects.
	methods bool
}

var (
	kwExplicit = standardKeyword("EXPLICIT")
	kwTrue     = standardKeyword("TRUE")
	kwFalse    = standardKeyword("FALSE")
	kwNull     = standardKeyword("NULL")
	kwJSON     = standardKeyword("JSON")
	kwArray    = standardKeyword("ARRAY")
	kwList     = standardKeyword("LIST")
	kwObject   = standardKeyword("OBJECT")
	kwAlist    = standardKeyword("ALIST")
	kwPlist    = standardKeyword("PLIST")
)

// jsonEncoder prepares writing, as the variables of cl-json say.
func (c *Call) jsonEncoder() *jsonEncoder {
	l := c.environment.language
	e := &jsonEncoder{call: c, arrays: map[*Cons]bool{}, explicit: c.jsonVariable("*JSON-LIST-ENCODER-FN*") == kwExplicit}
	if names := c.jsonVariable("*LISP-IDENTIFIER-NAME-TO-JSON*"); names != Value(l.symbol("JSON:LISP-TO-CAMEL-CASE")) {
		e.names = names
	}
	e.methods = c.hasMethods(l.symbol("JSON:ENCODE-JSON"))
	return e
}

// value writes an object, by a method of the note if there is one.
func (e *jsonEncoder) value(v Value) {
	if !e.methods {
		e.top(v)
		return
	}
	c := e.call
	stream := newOutput()
	c.standard(c.environment.language.symbol("JSON:ENCODE-JSON"), v, stream)
	e.text(stream.text())
}

func (e *jsonEncoder) text(text string) {
	e.call.chargeOutput(len(text))
	e.out.WriteString(text)
}

func (e *jsonEncoder) fail(v Value) {
	c := e.call
	class := c.environment.language.classes[c.environment.language.symbol("JSON:UNENCODABLE-VALUE-ERROR")]
	object := &Instance{class: class, slots: make([]Value, len(class.slots)), message: fmt.Sprintf("%s cannot be written as JSON", sketch(v, 80))}
	for i := range class.slots {
		object.slots[i] = map[string]Value{"DATUM": v, "EXPECTED-TYPE": T}[class.slots[i].name.name]
	}
	c.signalError(object)
}

// top writes an object as the library does.
func (e *jsonEncoder) top(v Value) {
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
			e.symbol(x)
		}
	case *String:
		c.chargeOutput(len(x.chars))
		e.str(x.String())
	case Character:
		e.str(string(rune(x)))
	case int64, *big.Int:
		e.text(string(c.printedWith(v, plainControl(10))))
	case *big.Rat, float32, float64:
		e.text(e.call.format(NewString("~F"), []Value{v}))
	case *Cons:
		if e.explicit {
			e.told(x)
			return
		}
		if e.array(x) {
			e.list(x)
			return
		}
		for rest, ok := x, true; ok; rest, ok = rest.Cdr.(*Cons) {
			if c.step(); !isConsValue(rest.Car) {
				e.fail(x)
			}
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

func (e *jsonEncoder) symbol(symbol *Symbol) {
	if e.names == nil {
		e.str(fieldName(symbol.name))
		return
	}
	c := e.call
	e.str(c.str(single(c.funcall(e.names, []Value{c.text(symbol.name)}))).String())
}

// told writes a list whose first element tells how.
func (e *jsonEncoder) told(list *Cons) {
	switch list.Car {
	case kwTrue, kwFalse, kwNull:
		e.text(strings.ToLower(list.Car.(*Symbol).name))
	case kwJSON:
		for _, part := range e.call.slice(list.Cdr) {
			e.text(e.call.str(part).String())
		}
	case kwList, kwArray:
		e.list(list.Cdr)
	case kwAlist:
		e.alist(list.Cdr)
	case kwPlist:
		e.plist(list.Cdr)
	case kwObject:
		if next, ok := list.Cdr.(*Cons); ok && isConsValue(next.Car) {
			e.alist(list.Cdr)
			return
		}
		e.plist(list.Cdr)
	default:
		e.fail(list)
	}
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
		if !ok {
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

func (e *jsonEncoder) list(list Value) {
	e.text("[")
	for rest := list; rest != Nil; {
		next, ok := rest.(*Cons)
		if !ok {
			e.fail(list)
		}
		if rest != list {
			e.text(",")
		}
		e.value(next.Car)
		rest = next.Cdr
	}
	e.text("]")
}

// alist writes pairs. Elements that are nil say nothing.
func (e *jsonEncoder) alist(list Value) {
	e.fields(list, func(cell *Cons) (key, v, rest Value, ok bool) {
		if pair, isPair := cell.Car.(*Cons); isPair {
			return pair.Car, pair.Cdr, cell.Cdr, true
		}
		return nil, nil, cell.Cdr, cell.Car == Nil
	})
}

// plist writes keys that are followed by their values.
func (e *jsonEncoder) plist(list Value) {
	e.fields(list, func(cell *Cons) (key, v, rest Value, ok bool) {
		if next, ok := cell.Cdr.(*Cons); ok {
			return cell.Car, next.Car, next.Cdr, true
		}
		return nil, nil, nil, false
	})
}

// fields writes an object whose fields next takes off a list, one by one; a key of nil
// is none.
func (e *jsonEncoder) fields(list Value, next func(cell *Cons) (key, v, rest Value, ok bool)) {
	first := true
	e.text("{")
	for rest := list; rest != Nil; {
		e.call.step()
		cell, ok := rest.(*Cons)
		if !ok {
			e.fail(list)
		}
		var key, v Value
		if key, v, rest, ok = next(cell); !ok {
			e.fail(list)
		}
		if key != nil {
			e.field(&first, key, v)
		}
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
	e.key(key)
	e.text(":")
	e.value(v)
}

// key writes the name of a field: the JSON text of what names it, as a string.
func (e *jsonEncoder) key(key Value) {
	c := e.call
	if text, ok := key.(*String); ok {
		e.str(text.String())
		return
	}
	outer := e.out
	e.out = strings.Builder{}
	e.value(key)
	text := e.out.String()
	e.out = outer
	if strings.HasPrefix(text, `"`) {
		e.text(text)
		return
	}
	c.chargeOutput(len(text))
	e.str(text)
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
