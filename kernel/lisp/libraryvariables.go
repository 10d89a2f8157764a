package lisp

// libraryVariables are the variables of libraries that notes may read or bind.
var libraryVariables = []struct {
	name  string
	value Value
	doc   string
}{
	{"CL-PPCRE:*ALLOW-QUOTING*", Nil, `Whether \Q and \E quote what stands between them in a pattern.`},
	{"CL-PPCRE:*ALLOW-NAMED-REGISTERS*", Nil, "Whether patterns may have (?<name>…) and \\k<name>."},
	{"CL-PPCRE:*REGEX-CHAR-CODE-LIMIT*", int64(0x110000), "Not used: patterns take any character."},
	{"CL-PPCRE:*USE-BMH-MATCHERS*", Nil, "Not used: there is one way of searching."},
	{"CL-PPCRE:*OPTIMIZE-CHAR-CLASSES*", Nil, "Not used: there is one kind of character classes."},
	{"CL-PPCRE:*LOOK-AHEAD-FOR-SUFFIX*", T, "Not used: there is one way of searching."},
}

// addLibraryVariables adds them to the language.
func (l *language) addLibraryVariables() {
	for _, v := range libraryVariables {
		l.variables[l.symbol(v.name)] = standardVariable{value: v.value, doc: v.doc}
	}
}
