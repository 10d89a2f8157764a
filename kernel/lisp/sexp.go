package lisp

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// FromSexp makes ordinary Lisp data of a tree: keywords and symbols in upper case,
// interned in the note; nil and t are Nil and T. Symbols that only data brought in go
// when the note no longer holds them. It copies, needs no guard and may be called from
// any goroutine. Trees come from plist's reader, whose limits bound them; one nested
// deeper than 10,000 levels is refused.
func (e *Environment) FromSexp(x sexp.Sexp) (Value, error) { return e.FromData(NewData(x)) }

// Data is a tree that is made ready for any number of environments. It does not change.
type Data struct {
	root any // a Value that all can share, or one of the four below
	err  error
}

// What each environment makes its own.
type (
	keywordData string // the name, in upper case
	symbolData  string
	stringData  []rune
	listData    struct {
		items []any
		tail  any
	}
)

// NewData makes a tree ready. What it cannot be is told by [Environment.FromData].
func NewData(x sexp.Sexp) Data {
	root, err := readied(x, 0)
	return Data{root, err}
}

// FromData is [Environment.FromSexp] of a tree that is ready. Nothing that a note does to
// what it got is seen by whoever else gets the same.
func (e *Environment) FromData(d Data) (Value, error) {
	if d.err != nil {
		return nil, d.err
	}
	return e.fromData(d.root), nil
}

func (e *Environment) fromData(x any) Value {
	switch x := x.(type) {
	case keywordData:
		symbol, _ := e.keywords.Intern(string(x), false)
		return symbol
	case symbolData:
		symbol, _ := e.user.Intern(string(x), false)
		return symbol
	case stringData:
		return StringOf(slices.Clone(x))
	case listData:
		list := e.fromData(x.tail)
		for _, item := range slices.Backward(x.items) {
			list = &Cons{Car: e.fromData(item), Cdr: list}
		}
		return list
	}
	return x
}

// maximumTreeDepth bounds conversion in both directions.
const maximumTreeDepth = 10_000

func readied(x sexp.Sexp, depth int) (any, error) {
	if depth > maximumTreeDepth {
		return nil, fmt.Errorf("make Lisp data: nested more than %d deep", maximumTreeDepth)
	}
	switch x := x.(type) {
	case nil:
		return Nil, nil
	case sexp.List:
		return readiedList(x, nil, depth)
	case *plist.Pair:
		items := sexp.List{x.Car}
		for {
			next, ok := x.Cdr.(*plist.Pair)
			if !ok {
				return readiedList(items, x.Cdr, depth)
			}
			x = next
			items = append(items, x.Car)
		}
	case plist.Keyword:
		name := asciiUpper(string(x))
		if shared, ok := standardLanguage().keywords[name]; ok {
			return shared, nil
		}
		return keywordData(name), nil
	case sexp.Symbol:
		switch name := asciiUpper(string(x)); name {
		case "NIL":
			return Nil, nil
		case "T":
			return T, nil
		default:
			return symbolData(name), nil
		}
	case plist.String:
		return stringData(NewString(string(x)).chars), nil
	case plist.Int:
		return Integer(int64(x)), nil
	case plist.BigInt:
		n, ok := new(big.Int).SetString(string(x), 10)
		if !ok {
			return nil, fmt.Errorf("make Lisp data: %q is not an integer", string(x))
		}
		return normal(n), nil
	case plist.Float:
		return fromFloat(float64(x)), nil
	}
	return nil, fmt.Errorf("make Lisp data: a %T is no plist data", x)
}

func readiedList(items sexp.List, tail sexp.Sexp, depth int) (any, error) {
	list := listData{items: make([]any, len(items))}
	for i, item := range items {
		ready, err := readied(item, depth+1)
		if err != nil {
			return nil, err
		}
		list.items[i] = ready
	}
	ready, err := readied(tail, depth+1)
	if err != nil {
		return nil, err
	}
	list.tail = ready
	return list, nil
}

// fromFloat keeps a number as short to print as it came: single if that is exact
// enough to read back the same.
func fromFloat(x float64) Value {
	single := float32(x)
	if floatText(float64(single), 32, false) == strings.TrimSuffix(floatText(x, 64, false), "d0") && !math.IsInf(float64(single), 0) {
		return single
	}
	return x
}

func asciiUpper(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// ToSexp makes a tree of Lisp data: what canonical plists can hold. Keywords and
// symbols become lower case; characters become strings of one character; a vector
// becomes a list; a ratio becomes a float. Functions, hash tables and other objects
// are an error, as are circular structures and more than a million conses.
func ToSexp(v Value) (sexp.Sexp, error) {
	t := treeMaker{left: 1_000_000}
	return t.tree(v, 0)
}

type treeMaker struct{ left int }

func (t *treeMaker) tree(v Value, depth int) (sexp.Sexp, error) {
	if t.left--; t.left < 0 || depth > maximumTreeDepth {
		return nil, fmt.Errorf("make a plist: the data is too large or circular")
	}
	switch x := v.(type) {
	case *Symbol:
		return symbolTree(x)
	case *Cons:
		return t.list(x, depth)
	case *String:
		return plist.String(x.String()), nil
	case Character:
		return plist.String(string(rune(x))), nil
	case int64:
		return plist.Int(x), nil
	case *big.Int:
		if x.BitLen() > 1<<20 {
			return nil, fmt.Errorf("make a plist: an integer of %d bits is too long", x.BitLen())
		}
		return plist.BigInt(x.String()), nil
	case *big.Rat:
		f, _ := x.Float64()
		return floatTree(f)
	case float32:
		return floatTree(decimalOf(x))
	case float64:
		return floatTree(x)
	case *Vector:
		return t.list(listStar(x.elements, Nil), depth)
	case *multiple:
		return t.tree(Single(x), depth)
	}
	return nil, fmt.Errorf("make a plist: %s has no written form", Sketch(v, formLength))
}

// decimalOf is the double that a single float's own shortest digits denote.
func decimalOf(x float32) float64 {
	v, ok := parseFloat(floatText(float64(x), 32, false)+"d0", false)
	if d, isDouble := v.(float64); ok && isDouble {
		return d
	}
	return float64(x)
}

func floatTree(x float64) (sexp.Sexp, error) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil, fmt.Errorf("make a plist: a float that is not finite has no written form")
	}
	return plist.Float(x), nil
}

func symbolTree(s *Symbol) (sexp.Sexp, error) {
	switch {
	case s == Nil:
		return sexp.List(nil), nil
	case s == T:
		return plist.T, nil
	}
	name := asciiLower(s.name)
	if s.Keyword() {
		if !plist.ValidName(":" + name) {
			return nil, fmt.Errorf("make a plist: the keyword :%s has no written form", symbolName(s.name))
		}
		return plist.Keyword(name), nil
	}
	if !plist.ValidName(name) {
		return nil, fmt.Errorf("make a plist: the symbol %s has no written form", symbolName(s.name))
	}
	return sexp.Symbol(name), nil
}

func (t *treeMaker) list(v Value, depth int) (sexp.Sexp, error) {
	list := sexp.List{}
	for {
		cell, ok := v.(*Cons)
		if !ok {
			break
		}
		item, err := t.tree(cell.Car, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		v = cell.Cdr
	}
	if v == Nil {
		if len(list) == 0 {
			return sexp.List(nil), nil
		}
		return list, nil
	}
	tail, err := t.tree(v, depth+1)
	if err != nil {
		return nil, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		tail = plist.Cons(list[i], tail)
	}
	return tail, nil
}
