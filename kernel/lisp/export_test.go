package lisp

// testLanguage is the language of the tests of this package: with all libraries, which are
// written in terms of it and so are known to its external tests only.
var testLanguage *Language

// SetTestLanguage sets it.
func SetTestLanguage(l *Language) { testLanguage = l }
