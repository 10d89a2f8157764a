package plist

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/chewxy/sexp"
)

// A dynamic object sets its fields itself.
type setter interface {
	SetPlistField(key string, value any) error
}

// Unmarshal stores x in the value to which into points, as the reverse of [Marshal]. It ignores
// keys that the type does not have. A value of a wrong type is an error that names the path, such
// as ":payload :text wants a string, not 5". nil is the zero value of every type. An enum accepts a
// keyword or a string in any case.
//
// A type whose pointer has a method SetPlistField(key string, value any) error receives its fields
// through it, except those that are nil. One with a method KeepsNil() receives these too. The values are string, true, int64, float64, [Keyword],
// []any, and, for a list that begins with a keyword, a pointer to a new value of the same type.
func Unmarshal(x sexp.Sexp, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errors.New("unmarshal wants a pointer to store into")
	}
	return decode(x, v.Elem(), 0)
}

func decode(x sexp.Sexp, v reflect.Value, depth int) error {
	if depth > codecDepth {
		return fmt.Errorf("is nested deeper than %d levels", codecDepth)
	}
	if IsNil(x) {
		v.SetZero()
		return nil
	}
	if t := reflect.TypeOf(x); t.AssignableTo(v.Type()) && v.Type() != reflect.TypeFor[any]() {
		v.Set(reflect.ValueOf(x))
		return nil
	}
	if s, ok := v.Addr().Interface().(setter); ok {
		v.SetZero()
		return decodeDynamic(x, s, v.Type(), depth)
	}
	if _, ok := v.Interface().(enum); ok && v.Kind() == reflect.String {
		return decodeEnum(x, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(x, v.Elem(), depth+1)
	case reflect.Struct:
		return decodeStruct(x, v, depth)
	case reflect.Slice:
		return decodeSlice(x, v, depth)
	case reflect.Map:
		return decodeMap(x, v)
	}
	return decodeAtom(x, v)
}

func decodeAtom(x sexp.Sexp, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		if x == sexp.Sexp(T) {
			v.SetBool(true)
			return nil
		}
		return wants("t or nil", x)
	case reflect.String:
		if s, ok := x.(String); ok {
			v.SetString(string(s))
			return nil
		}
		return wants("a string", x)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if i, ok := x.(Int); ok && !v.OverflowInt(int64(i)) {
			v.SetInt(int64(i))
			return nil
		}
		return wants(fmt.Sprintf("an integer of %d bits", v.Type().Bits()), x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u, ok := unsigned(x); ok && !v.OverflowUint(u) {
			v.SetUint(u)
			return nil
		}
		return wants(fmt.Sprintf("an integer from 0 of %d bits", v.Type().Bits()), x)
	case reflect.Float32, reflect.Float64:
		switch n := x.(type) {
		case Float:
			v.SetFloat(float64(n))
			return nil
		case Int:
			v.SetFloat(float64(n))
			return nil
		}
		return wants("a number", x)
	}
	return fmt.Errorf("cannot be stored in a %s", v.Type())
}

func unsigned(x sexp.Sexp) (uint64, bool) {
	switch n := x.(type) {
	case Int:
		return uint64(n), n >= 0
	case BigInt:
		u, err := strconv.ParseUint(string(n), 10, 64)
		return u, err == nil
	}
	return 0, false
}

func wants(what string, x sexp.Sexp) error {
	return fmt.Errorf("wants %s, not %s", what, describe(x))
}

func decodeEnum(x sexp.Sexp, v reflect.Value) error {
	switch name := x.(type) {
	case Keyword:
		v.SetString(string(name))
	case String:
		v.SetString(fold(strings.TrimPrefix(string(name), ":")))
	default:
		return wants("a keyword", x)
	}
	return nil
}

// plistOf returns x as a list if it is a plist.
func plistOf(x sexp.Sexp) (sexp.List, error) {
	list, ok := x.(sexp.List)
	if !ok || wellFormed(x, "it") != nil {
		if ok {
			return nil, fmt.Errorf("wants keys and values: %w", wellFormed(x, "it"))
		}
		return nil, wants("keys and values", x)
	}
	return list, nil
}

func decodeStruct(x sexp.Sexp, v reflect.Value, depth int) error {
	list, err := plistOf(x)
	if err != nil {
		return err
	}
	v.SetZero()
	byKey := index(list)
	for f := range structFields(v.Type()) {
		item, ok := byKey[Keyword(f.key)]
		if !ok {
			continue
		}
		field, err := v.FieldByIndexErr(f.index)
		if err != nil {
			return fmt.Errorf(":%s is in an embedded pointer, which cannot be stored into", f.key)
		}
		if err := decode(item, field, depth+1); err != nil {
			return fmt.Errorf(":%s %w", f.key, err)
		}
	}
	return nil
}

func decodeSlice(x sexp.Sexp, v reflect.Value, depth int) error {
	list, ok := x.(sexp.List)
	if !ok {
		return wants("a list", x)
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, item := range list {
		if err := decode(item, v.Index(i), depth+1); err != nil {
			return fmt.Errorf("element %d %w", i+1, err)
		}
	}
	return nil
}

func decodeMap(x sexp.Sexp, v reflect.Value) error {
	t := v.Type()
	list, ok := x.(sexp.List)
	if !ok || t.Key().Kind() != reflect.String || t.Elem().Kind() != reflect.String {
		return wants("a list of lists of two strings", x)
	}
	v.Set(reflect.MakeMapWithSize(t, len(list)))
	for _, item := range list {
		pair, _ := item.(sexp.List)
		if len(pair) != 2 {
			return wants("a list of lists of two strings", x)
		}
		key, ok1 := pair[0].(String)
		value, ok2 := pair[1].(String)
		if !ok1 && !IsNil(pair[0]) || !ok2 && !IsNil(pair[1]) {
			return wants("a list of lists of two strings", x)
		}
		v.SetMapIndex(reflect.ValueOf(string(key)).Convert(t.Key()), reflect.ValueOf(string(value)).Convert(t.Elem()))
	}
	return nil
}

func decodeDynamic(x sexp.Sexp, s setter, t reflect.Type, depth int) error {
	list, err := plistOf(x)
	if err != nil {
		return err
	}
	for key, item := range fields(list) {
		value, err := decodeAny(item, t, depth+1)
		if err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
		if _, keeps := s.(nilKeeper); value == nil && !keeps {
			continue
		}
		if err := s.SetPlistField(string(key), value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// decodeAny returns the value of a dynamic field. Objects in it are pointers to t.
func decodeAny(x sexp.Sexp, t reflect.Type, depth int) (any, error) {
	if depth > codecDepth {
		return nil, fmt.Errorf("is nested deeper than %d levels", codecDepth)
	}
	switch x := x.(type) {
	case String:
		return string(x), nil
	case Keyword:
		return x, nil
	case Int:
		return int64(x), nil
	case Float:
		return float64(x), nil
	case sexp.Symbol:
		if x == T {
			return true, nil
		}
	case sexp.List:
		if len(x) == 0 {
			return nil, nil
		}
		if _, ok := x[0].(Keyword); ok {
			object := reflect.New(t)
			return object.Interface(), decode(x, object.Elem(), depth)
		}
		items := make([]any, len(x))
		for i, item := range x {
			value, err := decodeAny(item, t, depth+1)
			if err != nil {
				return nil, fmt.Errorf("element %d %w", i+1, err)
			}
			items[i] = value
		}
		return items, nil
	}
	return nil, wants("a string, number, keyword or list", x)
}
