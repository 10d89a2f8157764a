package plist

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/chewxy/sexp"
)

// An enum is a string type with this method. Its values are keywords in a plist.
type enum interface{ PlistKeyword() }

// A dynamic object yields its fields itself.
type dynamic interface {
	PlistFields() iter.Seq2[string, any]
}

// Marshal returns v as a tree. A struct becomes a plist of its exported fields, under the
// lower-case names of their json tags ("-" and ,omitempty work as in encoding/json, and fields of
// embedded structs count as its own). A slice becomes a list. A string type with a method
// PlistKeyword() becomes a keyword, but in a slice a string, because arrays hold no keywords. A
// map[string]string becomes a list of lists of two strings, ordered by key. A type with a method
// PlistFields() iter.Seq2[string, any] becomes a plist of what that yields. Trees are not
// converted. A value that is nil, false, or has no elements is omitted from plists, unless the type has a
// method KeepsNil(), and is nil elsewhere.
//
// Marshal returns an error if v contains any other type, a number that is not finite, a name that
// cannot be a keyword, or more than 64 levels.
func Marshal(v any) (sexp.Sexp, error) {
	return encode(reflect.ValueOf(v), 0)
}

const codecDepth = 64

func encode(v reflect.Value, depth int) (sexp.Sexp, error) {
	if depth > codecDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", codecDepth)
	}
	if !v.IsValid() {
		return sexp.List(nil), nil
	}
	if k := v.Kind(); (k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice || k == reflect.Map) && v.IsNil() {
		return sexp.List(nil), nil
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case sexp.Sexp:
			return x, nil
		case dynamic:
			return encodeDynamic(x, depth)
		case enum:
			if v.Kind() == reflect.String {
				return encodeEnum(v.String())
			}
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return encode(v.Elem(), depth+1)
	case reflect.Bool:
		if v.Bool() {
			return T, nil
		}
		return sexp.List(nil), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if u := v.Uint(); u > math.MaxInt64 {
			return BigInt(fmt.Sprint(u)), nil
		}
		return Int(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("is %v, which has no form", f)
		}
		return Float(v.Float()), nil
	case reflect.String:
		return String(v.String()), nil
	case reflect.Slice, reflect.Array:
		return encodeSlice(v, depth)
	case reflect.Map:
		return encodeMap(v)
	case reflect.Struct:
		return encodeStruct(v, depth)
	}
	return nil, fmt.Errorf("is a %s, which has no form", v.Type())
}

func encodeEnum(name string) (sexp.Sexp, error) {
	if name == "" {
		return sexp.List(nil), nil
	}
	if !ValidName(":" + name) {
		return nil, fmt.Errorf("is %q, which no keyword can be", name)
	}
	return Keyword(fold(name)), nil
}

// A nilKeeper is a dynamic object in which a field that is nil is not a missing one.
type nilKeeper interface{ KeepsNil() }

func encodeDynamic(x dynamic, depth int) (sexp.Sexp, error) {
	var list sexp.List
	for key, value := range x.PlistFields() {
		item, err := encode(reflect.ValueOf(value), depth+1)
		if err != nil {
			return nil, fmt.Errorf(":%s %w", key, err)
		}
		if _, keeps := x.(nilKeeper); IsNil(item) && !keeps {
			continue
		}
		if !ValidName(":" + key) {
			return nil, fmt.Errorf("the key %q cannot be a keyword", key)
		}
		list = append(list, Keyword(fold(key)), item)
	}
	return list, nil
}

func encodeSlice(v reflect.Value, depth int) (sexp.Sexp, error) {
	if v.Len() == 0 {
		return sexp.List(nil), nil
	}
	list := make(sexp.List, v.Len())
	for i := range list {
		item, err := encode(v.Index(i), depth+1)
		if err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
		if k, ok := item.(Keyword); ok {
			item = String(k)
		}
		list[i] = item
	}
	return list, nil
}

func encodeMap(v reflect.Value) (sexp.Sexp, error) {
	if v.Type().Key().Kind() != reflect.String || v.Type().Elem().Kind() != reflect.String {
		return nil, fmt.Errorf("is a %s; only maps of strings have a form", v.Type())
	}
	var list sexp.List
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		list = append(list, sexp.List{String(key.String()), String(v.MapIndex(key).String())})
	}
	return list, nil
}

func encodeStruct(v reflect.Value, depth int) (sexp.Sexp, error) {
	var list sexp.List
	for f := range structFields(v.Type()) {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil {
			continue // inside an embedded pointer that is nil
		}
		if f.omitEmpty && value.IsZero() {
			continue
		}
		item, err := encode(value, depth+1)
		if err != nil {
			return nil, fmt.Errorf(":%s %w", f.key, err)
		}
		if !IsNil(item) {
			list = append(list, Keyword(f.key), item)
		}
	}
	return list, nil
}

// structField is a field of a struct for the codec.
type structField struct {
	key       string
	index     []int
	omitEmpty bool
}

func structFields(t reflect.Type) iter.Seq[structField] {
	return func(yield func(structField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			tag := f.Tag.Get("json")
			name, options, _ := strings.Cut(tag, ",")
			if !f.IsExported() || tag == "-" || f.Anonymous && name == "" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(structField{fold(name), f.Index, options == "omitempty" || options == "omitzero"}) {
				return
			}
		}
	}
}
