package rpc

import (
	"iter"
	"reflect"
	"strings"
)

// foldEnums gives the enums in a value that was read from JSON the spelling they
// have in Go: lower case, without a colon. A plist's keywords have it already.
func foldEnums(v reflect.Value) {
	if _, dynamic := v.Interface().(interface {
		PlistFields() iter.Seq2[string, any]
	}); dynamic {
		return // it reads JSON by its own method
	}
	switch v.Kind() {
	case reflect.String:
		if _, enum := v.Interface().(interface{ PlistKeyword() }); enum {
			v.SetString(foldKeyword(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				foldEnums(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			return // arrays hold no keywords
		}
		for i := range v.Len() {
			foldEnums(v.Index(i))
		}
	}
}

// foldKeyword folds ASCII only, as the plist reader does.
func foldKeyword(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimPrefix(name, ":"))
}
