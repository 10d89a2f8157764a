package lisp

// libraryConditions are the condition classes of libraries: name, superclasses, and slots
// with the keywords that fill them.
var libraryConditions = []struct {
	name   string
	supers []string
	slots  []string
}{
	{"JSON:JSON-SYNTAX-ERROR", []string{simpleError, "STREAM-ERROR"}, nil},
	{"JSON:UNENCODABLE-VALUE-ERROR", []string{typeErrorClass}, []string{"CONTEXT"}},
	{"JSON:UNKNOWN-SYMBOL-ERROR", []string{parseError}, []string{"DATUM"}},
	{"JSON:NO-CHAR-FOR-CODE", []string{"ERROR"}, []string{"CODE"}},
	{"CL-PPCRE:PPCRE-ERROR", []string{simpleError}, nil},
	{"CL-PPCRE:PPCRE-SYNTAX-ERROR", []string{"CL-PPCRE:PPCRE-ERROR"}, []string{"STRING", "POS"}},
	{"CL-PPCRE:PPCRE-INVOCATION-ERROR", []string{"CL-PPCRE:PPCRE-ERROR"}, nil},
	{"LOCAL-TIME:INVALID-TIME-SPECIFICATION", []string{"ERROR"}, nil},
	{"LOCAL-TIME:INVALID-TIMESTRING", []string{"ERROR"}, []string{"TIMESTRING", "FAILURE"}},
}

// addLibraryClasses adds these, and the class of timestamps, to the language.
func (l *language) addLibraryClasses() {
	timestamp := &Class{name: symTimestamp, kind: builtinClass, supers: []*Class{l.classes[standardSymbol("STANDARD-OBJECT")]}}
	timestamp.inherit(nil)
	l.classes[symTimestamp] = timestamp
	for _, k := range libraryConditions {
		symbol := l.symbol(k.name)
		class := &Class{name: symbol, kind: conditionClass}
		for _, super := range k.supers {
			class.supers = append(class.supers, l.classes[l.symbol(super)])
		}
		var own []slot
		for _, name := range k.slots {
			own = append(own, slot{name: internalSymbol(name), initargs: []*Symbol{standardKeyword(name)}})
		}
		class.inherit(own)
		l.classes[symbol] = class
	}
}

// libraryError signals an error of a library's class. slots are the values of those that
// the class itself defines.
func (c *Call) libraryError(class, message string, slots ...Value) {
	k := c.environment.language.classes[c.environment.language.symbol(class)]
	object := &Instance{class: k, slots: make([]Value, len(k.slots)), message: message}
	for i, v := range slots {
		object.slots[k.index(k.direct[i].name)] = v
	}
	c.signalError(object)
}
