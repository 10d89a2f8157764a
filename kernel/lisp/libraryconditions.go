package lisp

// libraryConditions are the condition classes of libraries, all of them errors.
var libraryConditions = []struct{ name, super string }{
	{"CL-JSON:JSON-SYNTAX-ERROR", parseError},
	{"CL-JSON:UNENCODABLE-VALUE-ERROR", "ERROR"},
	{"CL-PPCRE:PPCRE-ERROR", "ERROR"},
	{"CL-PPCRE:PPCRE-SYNTAX-ERROR", "CL-PPCRE:PPCRE-ERROR"},
	{"LOCAL-TIME:INVALID-TIMESTRING", parseError},
}

// addLibraryConditions adds the classes to the language.
func (l *language) addLibraryConditions() {
	for _, k := range libraryConditions {
		symbol := l.symbol(k.name)
		class := &Class{name: symbol, kind: conditionClass, supers: []*Class{l.classes[l.symbol(k.super)]}}
		class.inherit(nil)
		l.classes[symbol] = class
	}
}

// libraryError signals an error of a library's class.
func (c *Call) libraryError(class, message string) {
	k := c.environment.language.classes[c.environment.language.symbol(class)]
	c.signalError(&Instance{class: k, slots: make([]Value, len(k.slots)), message: message})
}
