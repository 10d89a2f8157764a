package json

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf16"

	"org-agent/kernel/lisp"
)

// valueWriter writes one JSON value.
type valueWriter struct {
	call *lisp.Call
	out  lisp.StringBuilder
	// arrays remembers which lists can be written as arrays.
	arrays map[*lisp.Cons]bool
	// names makes the name of a field of that of a symbol, nil for the usual way.
	names lisp.Value
	// explicit says that the first element of a list tells how to write it.
	explicit bool
	// methods says that the note has its own ways to write some objects.
	methods bool
}

var (
	kwExplicit = lisp.Keyword("EXPLICIT")
	kwTrue     = lisp.Keyword("TRUE")
	kwFalse    = lisp.Keyword("FALSE")
	kwNull     = lisp.Keyword("NULL")
	kwJSON     = lisp.Keyword("JSON")
	kwArray    = lisp.Keyword("ARRAY")
	kwList     = lisp.Keyword("LIST")
	kwObject   = lisp.Keyword("OBJECT")
	kwAlist    = lisp.Keyword("ALIST")
	kwPlist    = lisp.Keyword("PLIST")
)

// newValueWriter prepares writing, as the variables of cl-json say.
func newValueWriter(c *lisp.Call) *valueWriter {
	e := &valueWriter{call: c, out: lisp.NewStringBuilder(c), arrays: map[*lisp.Cons]bool{}, explicit: customVariable(c, "*JSON-LIST-ENCODER-FN*") == kwExplicit}
	if names := customVariable(c, "*LISP-IDENTIFIER-NAME-TO-JSON*"); names != lisp.Value(c.Lookup("JSON:LISP-TO-CAMEL-CASE")) {
		e.names = names
	}
	e.methods = c.HasMethods(c.Lookup("JSON:ENCODE-JSON"))
	return e
}

// value writes an object, by a method of the note if there is one.
func (e *valueWriter) value(v lisp.Value) {
	if !e.methods {
		e.top(v)
		return
	}
	c := e.call
	stream := c.NewOutput()
	c.Funcall(c.Lookup("JSON:ENCODE-JSON"), v, stream)
	e.text(c.Collected(stream))
}

func (e *valueWriter) text(text string) {
	e.call.ChargeOutput(len(text))
	e.out.WriteString(text)
}

func (e *valueWriter) fail(v lisp.Value) {
	c := e.call
	c.Signal("JSON:UNENCODABLE-VALUE-ERROR", fmt.Sprintf("%s cannot be written as JSON", lisp.Sketch(v, 80)), "DATUM", v, "EXPECTED-TYPE", lisp.T)
}

// top writes an object as the library does.
func (e *valueWriter) top(v lisp.Value) {
	c := e.call
	c.Descend(8)
	defer c.Ascend(8)
	switch x := v.(type) {
	case *lisp.Symbol:
		switch x {
		case lisp.T:
			e.text("true")
		case lisp.Nil:
			e.text("null")
		default:
			e.symbol(x)
		}
	case *lisp.String:
		c.ChargeOutput(len(x.Runes()))
		e.str(c.GoText(x.Runes()))
	case lisp.Character:
		e.str(string(rune(x)))
	case int64, *big.Int:
		e.text(c.Decimal(v))
	case *big.Rat, float32, float64:
		e.text(e.call.Format(lisp.NewString("~F"), []lisp.Value{v}))
	case *lisp.Cons:
		if e.explicit {
			e.told(x)
			return
		}
		if e.array(x) {
			e.list(x)
			return
		}
		for cell := range c.Cells(x) {
			if !isConsValue(cell.Car) {
				e.fail(x)
			}
		}
		e.alist(x)
	case *lisp.Vector:
		e.text("[")
		for i, item := range x.Elements() {
			if i > 0 {
				e.text(",")
			}
			e.value(item)
		}
		e.text("]")
	case *lisp.HashTable:
		first := true
		e.text("{")
		for key, value := range x.All(c) {
			e.field(&first, key, value)
		}
		e.text("}")
	case *lisp.Instance:
		e.instance(x)
	default:
		e.fail(v)
	}
}

func (e *valueWriter) symbol(symbol *lisp.Symbol) {
	if e.names == nil {
		e.str(fieldName(e.call, e.call.Chars(symbol)).String())
		return
	}
	c := e.call
	e.str(c.TakeString(lisp.Single(c.Funcall(e.names, c.Text(symbol.Name())))).String())
}

// told writes a list whose first element tells how.
func (e *valueWriter) told(list *lisp.Cons) {
	switch list.Car {
	case kwTrue, kwFalse, kwNull:
		e.text(strings.ToLower(list.Car.(*lisp.Symbol).Name()))
	case kwJSON:
		for _, part := range e.call.Slice(list.Cdr) {
			e.text(e.call.TakeText(part))
		}
	case kwList, kwArray:
		e.list(list.Cdr)
	case kwAlist:
		e.alist(list.Cdr)
	case kwPlist:
		e.plist(list.Cdr)
	case kwObject:
		if next, ok := list.Cdr.(*lisp.Cons); ok && isConsValue(next.Car) {
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
func (e *valueWriter) array(cell *lisp.Cons) bool {
	if known, ok := e.arrays[cell]; ok {
		return known
	}
	e.call.Descend(4)
	defer e.call.Ascend(4)
	result, rest := true, lisp.Value(cell)
	for next := range e.call.Cells(cell) {
		if inner, ok := next.Car.(*lisp.Cons); ok && !e.array(inner) && !e.object(inner) {
			result = false
			break
		}
		rest = next.Cdr
	}
	result = result && rest == lisp.Nil
	lisp.Insert(e.call, e.arrays, cell, result)
	return result
}

// object reports that a list can be written as an alist.
func (e *valueWriter) object(cell *lisp.Cons) bool {
	rest := lisp.Value(cell)
	for next := range e.call.Cells(cell) {
		pair, ok := next.Car.(*lisp.Cons)
		if !ok {
			return false
		}
		if inner, ok := pair.Cdr.(*lisp.Cons); ok && !e.array(inner) && !e.object(inner) {
			return false
		}
		rest = next.Cdr
	}
	return rest == lisp.Nil
}

func isConsValue(v lisp.Value) bool { _, ok := v.(*lisp.Cons); return ok }

func (e *valueWriter) list(list lisp.Value) {
	e.text("[")
	for rest := list; rest != lisp.Nil; {
		next, ok := rest.(*lisp.Cons)
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
func (e *valueWriter) alist(list lisp.Value) {
	e.fields(list, func(cell *lisp.Cons) (key, v, rest lisp.Value, ok bool) {
		if pair, isPair := cell.Car.(*lisp.Cons); isPair {
			return pair.Car, pair.Cdr, cell.Cdr, true
		}
		return nil, nil, cell.Cdr, cell.Car == lisp.Nil
	})
}

// plist writes keys that are followed by their values.
func (e *valueWriter) plist(list lisp.Value) {
	e.fields(list, func(cell *lisp.Cons) (key, v, rest lisp.Value, ok bool) {
		if next, ok := cell.Cdr.(*lisp.Cons); ok {
			return cell.Car, next.Car, next.Cdr, true
		}
		return nil, nil, nil, false
	})
}

// fields writes an object whose fields next takes off a list, one by one; a key of nil
// is none.
func (e *valueWriter) fields(list lisp.Value, next func(cell *lisp.Cons) (key, v, rest lisp.Value, ok bool)) {
	first := true
	e.text("{")
	for rest := list; rest != lisp.Nil; {
		e.call.Step()
		cell, ok := rest.(*lisp.Cons)
		if !ok {
			e.fail(list)
		}
		var key, v lisp.Value
		if key, v, rest, ok = next(cell); !ok {
			e.fail(list)
		}
		if key != nil {
			e.field(&first, key, v)
		}
	}
	e.text("}")
}

func (e *valueWriter) instance(i *lisp.Instance) {
	first := true
	e.text("{")
	for name, v := range i.Slots() {
		e.field(&first, name, v)
	}
	e.text("}")
}

func (e *valueWriter) field(first *bool, key, v lisp.Value) {
	if !*first {
		e.text(",")
	}
	*first = false
	e.key(key)
	e.text(":")
	e.value(v)
}

// key writes the name of a field: the JSON text of what names it, as a string.
func (e *valueWriter) key(key lisp.Value) {
	c := e.call
	if text, ok := key.(*lisp.String); ok {
		e.str(text.String())
		return
	}
	outer := e.out
	e.out = lisp.NewStringBuilder(c)
	e.value(key)
	text := e.out.Text()
	e.out = outer
	if strings.HasPrefix(text, `"`) {
		e.text(text)
		return
	}
	c.ChargeOutput(len(text))
	e.str(text)
}

// str writes a string; what is not plain ASCII is escaped, and the slash, as cl-json
// does.
func (e *valueWriter) str(text string) {
	e.call.ChargeOutput(len(text) + 2)
	e.out.WriteRune('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\' || r == '/':
			e.out.WriteRune('\\')
			e.out.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			e.out.WriteRune(r)
		case strings.ContainsRune("\n\t\r\b\f", r):
			e.out.WriteString(map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`, '\b': `\b`, '\f': `\f`}[r])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			e.out.WriteString(fmt.Sprintf(`\u%04X\u%04X`, high, low))
		default:
			e.out.WriteString(fmt.Sprintf(`\u%04X`, r))
		}
	}
	e.out.WriteRune('"')
}
