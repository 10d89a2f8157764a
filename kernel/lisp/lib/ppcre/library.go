// Package ppcre is the library cl-ppcre for Lisp: regular expressions that are searched by going
// back, in time that grows no faster than the text.
package ppcre

import (
	"org-agent/kernel/lisp"
)

// Library is the package CL-PPCRE.
func Library() lisp.Library {
	return lisp.Library{
		Package: "CL-PPCRE", Nicknames: []string{"PPCRE"}, Title: "Regular expressions",
		Functions: append(regexpFunctions(), replaceFunctions()...), Macros: regexpMacros(),
		Variables: []lisp.Variable{
			{Name: "*ALLOW-QUOTING*", Value: lisp.Nil, Doc: `Whether \Q and \E quote what stands between them in a pattern.`},
			{Name: "*ALLOW-NAMED-REGISTERS*", Value: lisp.Nil, Doc: "Whether patterns may have (?<name>…) and \\k<name>."},
			{Name: "*REGEX-CHAR-CODE-LIMIT*", Value: lisp.Integer(0x110000), Doc: "Not used: patterns take any character."},
			{Name: "*USE-BMH-MATCHERS*", Value: lisp.Nil, Doc: "Not used: there is one way of searching."},
			{Name: "*OPTIMIZE-CHAR-CLASSES*", Value: lisp.Nil, Doc: "Not used: there is one kind of character classes."},
			{Name: "*LOOK-AHEAD-FOR-SUFFIX*", Value: lisp.T, Doc: "Not used: there is one way of searching."},
		},
		Conditions: []lisp.ConditionClass{
			{Name: "PPCRE-ERROR", Supers: []string{lisp.SimpleError}},
			{Name: "PPCRE-SYNTAX-ERROR", Supers: []string{"PPCRE-ERROR"}, Slots: []string{"STRING", "POS"}},
			{Name: "PPCRE-INVOCATION-ERROR", Supers: []string{"PPCRE-ERROR"}},
		},
	}
}
