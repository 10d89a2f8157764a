// Package json is the library cl-json for Lisp: it reads and writes JSON.
package json

import (
	"org-agent/kernel/lisp"
)

// Library is the package JSON.
func Library() lisp.Library {
	return lisp.Library{
		Package: "JSON", Nicknames: []string{"CL-JSON"}, Title: "JSON",
		Functions: append(functions(), memberFunctions()...), Macros: macroRows(), Variables: variables(),
		Conditions: []lisp.ConditionClass{
			{Name: "JSON-SYNTAX-ERROR", Supers: []string{lisp.SimpleError, "STREAM-ERROR"}},
			{Name: "UNENCODABLE-VALUE-ERROR", Supers: []string{lisp.TypeErrorClass}, Slots: []string{"CONTEXT"}},
			{Name: "UNKNOWN-SYMBOL-ERROR", Supers: []string{lisp.ParseError}, Slots: []string{"DATUM"}},
			{Name: "NO-CHAR-FOR-CODE", Supers: []string{"ERROR"}, Slots: []string{"CODE"}},
		},
	}
}

func variables() []lisp.Variable {
	return []lisp.Variable{
		{Name: "*JSON-IDENTIFIER-NAME-TO-LISP*", Value: lisp.SymbolNamed("CAMEL-CASE-TO-LISP"), Doc: "The function that makes the name of a symbol of that of a field."},
		{Name: "*LISP-IDENTIFIER-NAME-TO-JSON*", Value: lisp.SymbolNamed("LISP-TO-CAMEL-CASE"), Doc: "The function that makes the name of a field of that of a symbol."},
		{Name: "*IDENTIFIER-NAME-TO-KEY*", Value: lisp.SymbolNamed("JSON-INTERN"), Doc: "The function that makes the key of the name of a symbol."},
		{Name: "*JSON-SYMBOLS-PACKAGE*", Value: lisp.Keyword("KEYWORD"), Doc: "The package of the keys of objects; nil for the current one."},
		{Name: "*JSON-ARRAY-TYPE*", Value: lisp.CL("LIST"), Doc: "The type of what arrays are decoded to."},
		{Name: "*BOOLEAN-HANDLER*", Value: lisp.SymbolNamed("%BOOLEAN"), Doc: "The function of the tokens true, false and null."},
		{Name: "*INTEGER-HANDLER*", Value: lisp.SymbolNamed("%PARSE-NUMBER"), Doc: "The function of the tokens of integers."},
		{Name: "*REAL-HANDLER*", Value: lisp.SymbolNamed("%PARSE-NUMBER"), Doc: "The function of the tokens of other numbers."},
		{Name: "*USE-STRICT-JSON-RULES*", Value: lisp.T, Doc: "Whether an unknown escape in a string is an error."},
		{Name: "*JSON-INPUT*", Value: lisp.Nil, Doc: "Where decode-json reads; nil for the standard input."},
		{Name: "*JSON-OUTPUT*", Value: lisp.Nil, Doc: "Where encode-json writes; nil for the standard output."},
		{Name: "*JSON-LIST-ENCODER-FN*", Value: lisp.Nil, Doc: "How lists are written: nil guesses, :explicit is told."},
		{Name: "*JSON-AGGREGATE-CONTEXT*", Value: lisp.Nil, Doc: "What is written member by member: :array, :object or nil."},
		{Name: "*JSON-AGGREGATE-FIRST*", Value: lisp.T, Doc: "Whether the next member is the first."},
	}
}
