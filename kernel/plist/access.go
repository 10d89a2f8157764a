package plist

import (
	"fmt"
	"math"

	"github.com/chewxy/sexp"
)

// fields yields the keys and values of x in order. It stops at the first key that is not a keyword
// or has no value.
func fields(x sexp.Sexp) func(yield func(key Keyword, value sexp.Sexp) bool) {
	return func(yield func(Keyword, sexp.Sexp) bool) {
		list, _ := x.(sexp.List)
		for i := 0; i+1 < len(list); i += 2 {
			key, ok := list[i].(Keyword)
			if !ok || !yield(key, list[i+1]) {
				return
			}
		}
	}
}

// Get returns the value of the first occurrence of key in the plist x. ok is false if there is none
// or x is not a list. key is in lower case, without a colon. A key with the value nil is found.
func Get(x sexp.Sexp, key string) (value sexp.Sexp, ok bool) {
	for k, v := range fields(x) {
		if string(k) == key {
			return v, true
		}
	}
	return nil, false
}

// Text returns the value of key if it is a string.
func Text(x sexp.Sexp, key string) (string, bool) {
	v, _ := Get(x, key)
	s, ok := v.(String)
	return string(s), ok
}

// KeywordValue returns the value of key if it is a keyword.
func KeywordValue(x sexp.Sexp, key string) (Keyword, bool) {
	v, _ := Get(x, key)
	k, ok := v.(Keyword)
	return k, ok
}

// Put returns list with value under key. It replaces the first occurrence, or appends the key. list
// itself is not changed.
func Put(list sexp.List, key string, value sexp.Sexp) sexp.List {
	out := make(sexp.List, len(list), len(list)+2)
	copy(out, list)
	for i := 0; i+1 < len(out); i += 2 {
		if out[i] == Keyword(key) {
			out[i+1] = value
			return out
		}
	}
	return append(out, Keyword(key), value)
}

// Without returns list without all occurrences of the keys and their values. The order of the rest
// stays, and list itself is not changed.
func Without(list sexp.List, keys ...string) sexp.List {
	out := make(sexp.List, 0, len(list))
	for i := 0; i < len(list); i += 2 {
		if k, ok := list[i].(Keyword); ok && contains(keys, k) {
			continue
		}
		out = append(out, list[i:min(i+2, len(list))]...)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func contains(keys []string, key Keyword) bool {
	for _, k := range keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

// Equal reports whether a and b print the same. A nil Sexp equals the empty list.
func Equal(a, b sexp.Sexp) bool {
	for {
		if IsNil(a) || IsNil(b) {
			return IsNil(a) && IsNil(b)
		}
		switch x := a.(type) {
		case sexp.List:
			y, ok := b.(sexp.List)
			if !ok || len(x) != len(y) {
				return false
			}
			for i := range x {
				if !Equal(x[i], y[i]) {
					return false
				}
			}
			return true
		case *Pair:
			y, ok := b.(*Pair)
			if !ok || !Equal(x.Car, y.Car) {
				return false
			}
			a, b = x.Cdr, y.Cdr
		case Float:
			y, ok := b.(Float)
			return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(y))
		default:
			if _, list := b.(sexp.List); list {
				return false // lists cannot be compared by ==
			}
			return a == b
		}
	}
}

// WellFormed returns an error if x cannot be the plist of an action. In an action, x, its :payload
// and each :args are proper lists of even length whose keys are keywords and occur once, and no
// field has different values in x and in its :payload. The empty list is well-formed.
func WellFormed(x sexp.Sexp) error {
	if err := wellFormed(x, "the plist"); err != nil {
		return err
	}
	payload, _ := Get(x, "payload")
	if payload != nil {
		if err := wellFormed(payload, ":payload"); err != nil {
			return err
		}
	}
	for _, outer := range []sexp.Sexp{x, payload} {
		if args, ok := Get(outer, "args"); ok {
			if err := wellFormed(args, ":args"); err != nil {
				return err
			}
		}
	}
	if IsNil(payload) {
		return nil
	}
	flat := index(x)
	for key, value := range fields(payload) {
		if other, ok := flat[key]; ok && !Equal(value, other) {
			return fmt.Errorf("%s stands outside and inside :payload with different values", key)
		}
	}
	return nil
}

// index returns the values of a plist by key.
func index(x sexp.Sexp) map[Keyword]sexp.Sexp {
	byKey := map[Keyword]sexp.Sexp{}
	for key, value := range fields(x) {
		byKey[key] = value
	}
	return byKey
}

func wellFormed(x sexp.Sexp, what string) error {
	if IsNil(x) {
		return nil
	}
	list, ok := x.(sexp.List)
	if !ok {
		if _, dotted := x.(*Pair); dotted {
			return fmt.Errorf("%s ends with a dot and a value; write a list of keys and values", what)
		}
		return fmt.Errorf("%s is %s; write a list of keys and values", what, describe(x))
	}
	seen := make(map[Keyword]bool, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		key, ok := list[i].(Keyword)
		if !ok {
			return fmt.Errorf("in %s element %d is %s where a keyword should be", what, i+1, describe(list[i]))
		}
		if seen[key] {
			return fmt.Errorf("in %s the key %s stands twice", what, key)
		}
		seen[key] = true
	}
	if len(list)%2 == 1 {
		return fmt.Errorf("in %s the last key, %s, has no value", what, describe(list[len(list)-1]))
	}
	return nil
}

// describe returns the beginning of x as printed, for messages.
func describe(x sexp.Sexp) string {
	switch x := x.(type) {
	case sexp.List:
		if len(x) > 0 {
			if first, ok := x[0].(Keyword); ok {
				return fmt.Sprintf("the list (%s ...)", shorten(Print(first)))
			}
			return "a list"
		}
	case *Pair:
		return "a pair"
	case String:
		return "the string " + Print(String(shorten(string(x))))
	}
	return shorten(Print(x))
}

// shorten cuts s after 40 characters.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n == 40 {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// Nested returns an action in the kernel's shape: :type, :target and :id on top, and every other
// field under :payload. Fields that stood flat come first. It returns an error if the action is not
// well-formed.
func Nested(action sexp.Sexp) (sexp.List, error) {
	if err := WellFormed(action); err != nil {
		return nil, err
	}
	var top, inner sexp.List
	payload, _ := Get(action, "payload")
	nested := index(payload)
	for key, value := range fields(action) {
		switch key {
		case "type", "target", "id":
			top = append(top, key, value)
		case "payload":
		default:
			if _, twice := nested[key]; !twice {
				inner = append(inner, key, value)
			}
		}
	}
	if list, ok := payload.(sexp.List); ok {
		inner = append(inner, list...)
	}
	if inner != nil {
		top = append(top, Keyword("payload"), inner)
	}
	return top, nil
}

// StripForbidden returns action without these keys on top and in its :payload, and whether there
// were any. It does not look into :args, and keeps the action's shape.
func StripForbidden(action sexp.List, keys ...string) (stripped sexp.List, changed bool) {
	out := Without(action, keys...)
	for i := 0; i+1 < len(out); i += 2 {
		if out[i] != Keyword("payload") {
			continue
		}
		if payload, ok := out[i+1].(sexp.List); ok {
			inner := Without(payload, keys...)
			changed = changed || len(inner) != len(payload)
			out[i+1] = inner
		}
	}
	if !changed && len(out) == len(action) {
		return action, false
	}
	return out, true
}
