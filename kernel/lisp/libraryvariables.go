package lisp

// libraryVariables are the variables of libraries that notes may read or bind.
var libraryVariables = []struct {
	name  string
	value Value
	doc   string
}{
	{"JSON:*JSON-IDENTIFIER-NAME-TO-LISP*", named("JSON:CAMEL-CASE-TO-LISP"), "The function that makes the name of a symbol of that of a field."},
	{"JSON:*LISP-IDENTIFIER-NAME-TO-JSON*", named("JSON:LISP-TO-CAMEL-CASE"), "The function that makes the name of a field of that of a symbol."},
	{"JSON:*IDENTIFIER-NAME-TO-KEY*", named("JSON:JSON-INTERN"), "The function that makes the key of the name of a symbol."},
	{"JSON:*JSON-SYMBOLS-PACKAGE*", standardKeyword("KEYWORD"), "The package of the keys of objects; nil for the current one."},
	{"JSON:*JSON-ARRAY-TYPE*", standardSymbol("LIST"), "The type of what arrays are decoded to."},
	{"JSON:*BOOLEAN-HANDLER*", named("JSON:JSON-BOOLEAN-TO-LISP"), "The function of the tokens true, false and null."},
	{"JSON:*INTEGER-HANDLER*", named("JSON:PARSE-NUMBER"), "The function of the tokens of integers."},
	{"JSON:*REAL-HANDLER*", named("JSON:PARSE-NUMBER"), "The function of the tokens of other numbers."},
	{"JSON:*USE-STRICT-JSON-RULES*", T, "Whether an unknown escape in a string is an error."},
	{"JSON:*JSON-INPUT*", Nil, "Where decode-json reads; nil for the standard input."},
	{"JSON:*JSON-OUTPUT*", Nil, "Where encode-json writes; nil for the standard output."},
	{"JSON:*JSON-LIST-ENCODER-FN*", Nil, "How lists are written: nil guesses, :explicit is told."},
	{"JSON:*JSON-AGGREGATE-CONTEXT*", Nil, "What is written member by member: :array, :object or nil."},
	{"JSON:*JSON-AGGREGATE-FIRST*", T, "Whether the next member is the first."},
	{"STR:*IGNORE-CASE*", Nil, "Whether the case of letters does not count in tests."},
	{"STR:*OMIT-NULLS*", Nil, "Whether empty parts are left out."},
	{"STR:*ELLIPSIS*", NewString("..."), "What a string that was cut ends with."},
	{"STR:*PAD-CHAR*", Character(' '), "What strings are filled with."},
	{"STR:*PAD-SIDE*", kwRight, "Where strings are filled: :right, :left or :center."},
	{"STR:*WHITESPACES*", listOf("\b\t\n\v\f\r \x7f\u0085\u3000\u00a0"), "The characters that are trimmed."},
	{"CL-PPCRE:*ALLOW-QUOTING*", Nil, `Whether \Q and \E quote what stands between them in a pattern.`},
	{"CL-PPCRE:*ALLOW-NAMED-REGISTERS*", Nil, "Whether patterns may have (?<name>…) and \\k<name>."},
	{"CL-PPCRE:*REGEX-CHAR-CODE-LIMIT*", int64(0x110000), "Not used: patterns take any character."},
	{"CL-PPCRE:*USE-BMH-MATCHERS*", Nil, "Not used: there is one way of searching."},
	{"CL-PPCRE:*OPTIMIZE-CHAR-CLASSES*", Nil, "Not used: there is one kind of character classes."},
	{"CL-PPCRE:*LOOK-AHEAD-FOR-SUFFIX*", T, "Not used: there is one way of searching."},
}

// listOf is a list of characters.
func listOf(characters string) Value {
	var list builder
	for _, r := range characters {
		list.add(Character(r))
	}
	return list.list()
}

// named is the symbol of that name as the value of a variable.
type named string

// addLibraryVariables adds them to the language.
func (l *language) addLibraryVariables() {
	for _, v := range libraryVariables {
		if name, ok := v.value.(named); ok {
			v.value = l.symbol(string(name))
		}
		l.variables[l.symbol(v.name)] = standardVariable{value: v.value, doc: v.doc}
	}
}
