package plist

import (
	"fmt"

	"github.com/chewxy/sexp"
)

// A tree is a [sexp.Sexp]: a [sexp.List], one of the atoms below, a [sexp.Symbol] or a [*Pair]. The
// empty list, nil and false are sexp.List(nil), true is sexp.Symbol("t"), and 'x is the list (quote
// x). sexp.List.Head panics on an empty list, so use an index instead.

// Keyword is the name of a keyword in lower case, without the colon.
type Keyword string

// KeywordName returns the name without the colon.
func (k Keyword) KeywordName() string { return string(k) }

// String is a string of Unicode text.
type String string

// Int is an integer of 64 bits. A larger one is a [BigInt].
type Int int64

// BigInt is an integer outside the range of [Int]. It holds the decimal digits without leading
// zeros, after a "-" if it is negative. With digits, reading and printing take linear time.
type BigInt string

// Float is a finite double. Infinities and NaN have no readable form: the reader refuses numbers
// out of range, [Marshal] refuses such values, and [Print] writes them as Emacs does (1.0e+INF,
// 0.0e+NaN), which reads as a symbol.
type Float float64

// Pair is a cons whose Cdr is not a list: (a . b). (a b . c) is a Pair whose Cdr is a Pair. The
// reader and [Cons] never make a Pair with a list as Cdr.
type Pair struct {
	Car, Cdr sexp.Sexp
}

// T is true.
const T = sexp.Symbol("t")

// Cons returns the list or pair with car before cdr.
func Cons(car, cdr sexp.Sexp) sexp.Sexp {
	list, ok := cdr.(sexp.List)
	if !ok {
		return &Pair{car, cdr}
	}
	return append(append(make(sexp.List, 0, len(list)+1), car), list...)
}

// IsNil reports whether x is the empty list or a nil Sexp.
func IsNil(x sexp.Sexp) bool {
	if x == nil {
		return true
	}
	list, ok := x.(sexp.List)
	return ok && len(list) == 0
}

// The atoms implement [sexp.Sexp] as leaves. Format prints them in the canonical form.

func (Keyword) IsLeaf() bool                 { return true }
func (Keyword) IsAtom() bool                 { return true }
func (Keyword) LeafCount() int               { return 1 }
func (k Keyword) Head() sexp.Sexp            { return k }
func (Keyword) Tail() sexp.Sexp              { return nil }
func (k Keyword) Format(f fmt.State, _ rune) { format(f, k) }
func (String) IsLeaf() bool                  { return true }
func (String) IsAtom() bool                  { return true }
func (String) LeafCount() int                { return 1 }
func (s String) Head() sexp.Sexp             { return s }
func (String) Tail() sexp.Sexp               { return nil }
func (s String) Format(f fmt.State, _ rune)  { format(f, s) }
func (Int) IsLeaf() bool                     { return true }
func (Int) IsAtom() bool                     { return true }
func (Int) LeafCount() int                   { return 1 }
func (i Int) Head() sexp.Sexp                { return i }
func (Int) Tail() sexp.Sexp                  { return nil }
func (i Int) Format(f fmt.State, _ rune)     { format(f, i) }
func (BigInt) IsLeaf() bool                  { return true }
func (BigInt) IsAtom() bool                  { return true }
func (BigInt) LeafCount() int                { return 1 }
func (i BigInt) Head() sexp.Sexp             { return i }
func (BigInt) Tail() sexp.Sexp               { return nil }
func (i BigInt) Format(f fmt.State, _ rune)  { format(f, i) }
func (Float) IsLeaf() bool                   { return true }
func (Float) IsAtom() bool                   { return true }
func (Float) LeafCount() int                 { return 1 }
func (x Float) Head() sexp.Sexp              { return x }
func (Float) Tail() sexp.Sexp                { return nil }
func (x Float) Format(f fmt.State, _ rune)   { format(f, x) }
func (*Pair) IsLeaf() bool                   { return false }
func (p *Pair) LeafCount() int               { return p.Car.LeafCount() + p.Cdr.LeafCount() }
func (p *Pair) Head() sexp.Sexp              { return p.Car }
func (p *Pair) Tail() sexp.Sexp              { return p.Cdr }
func (p *Pair) Format(f fmt.State, _ rune)   { format(f, p) }

// format makes every fmt verb print the canonical form.
func format(f fmt.State, x sexp.Sexp) {
	// A fmt.State keeps its own error; Format has none to return.
	_, _ = f.Write(AppendPrint(nil, x))
}

var (
	_ sexp.Atom = Keyword("")
	_ sexp.Atom = String("")
	_ sexp.Atom = Int(0)
	_ sexp.Atom = BigInt("")
	_ sexp.Atom = Float(0)
	_ sexp.Sexp = (*Pair)(nil)
)
