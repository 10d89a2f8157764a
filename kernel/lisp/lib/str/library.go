// Package str is the library str for Lisp: functions of strings.
package str

import (
	"org-agent/kernel/lisp"
)

// Library is the package STR. It needs that of ppcre.
func Library() lisp.Library {
	return lisp.Library{
		Package: "STR", Title: "Strings by the library str", Needs: []string{"CL-PPCRE"},
		Functions: append(strFunctions(), strFileFunctions()...), Macros: strMacros(),
		Variables: []lisp.Variable{
			{Name: "*IGNORE-CASE*", Value: lisp.Nil, Doc: "Whether the case of letters does not count in tests."},
			{Name: "*OMIT-NULLS*", Value: lisp.Nil, Doc: "Whether empty parts are left out."},
			{Name: "*ELLIPSIS*", Value: lisp.NewString("..."), Doc: "What a string that was cut ends with."},
			{Name: "*PAD-CHAR*", Value: lisp.Character(' '), Doc: "What strings are filled with."},
			{Name: "*PAD-SIDE*", Value: kwRight, Doc: "Where strings are filled: :right, :left or :center."},
			{Name: "*WHITESPACES*", Value: characters("\b\t\n\v\f\r \x7f\u0085\u3000\u00a0"), Doc: "The characters that are trimmed."},
		},
	}
}

// characters is a list of characters.
func characters(text string) lisp.Value {
	var items []lisp.Value
	for _, r := range text {
		items = append(items, lisp.Character(r))
	}
	return lisp.NewList(items...)
}
