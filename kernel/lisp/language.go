package lisp

import (
	"strings"
	"sync"
)

// builtin is one row of the tables that say what the language has. Documentation and
// completion are made from the same rows.
type builtin struct {
	name string
	list string
	doc  string
	// One of these does it. call gets the arguments as they were given, named by the names
	// in list; one and two are for exactly that many, without a slice.
	call  func(c *Call, args []Value) Value
	named func(c *Call, args Args) Value
	one   func(c *Call, a Value) Value
	two   func(c *Call, a, b Value) Value
	// many says that it may return other than one value.
	many bool
	// open says that notes may add methods to it.
	open bool
	// needs is the capability without which a note does not have it, "" for none.
	needs string
	// check, if set, looks at the form of a call while it is compiled.
	check func(cp *compiler, form *Cons)
}

// language is everything that is the same in all environments. It does not change
// once it is made.
type language struct {
	functions map[*Symbol]*Function
	setters   map[*Symbol]*Function
	places    map[*Symbol]placeExpander
	classes   map[*Symbol]*Class
	variables map[*Symbol]standardVariable
	types     map[*Symbol]func(Value) bool
	libraries map[string]*library
	// needs are the capabilities that functions need.
	needs map[*Symbol]string
	// putf stores into a property list and returns it.
	putf *Function
}

// library is a package of functions beside the standard.
type library struct {
	nicknames []string
	symbols   map[string]*Symbol
}

type standardVariable struct {
	value    Value
	constant bool
	doc      string
}

// standardLanguage builds the language once, when the first environment is made.
var standardLanguage = sync.OnceValue(newLanguage)

func newLanguage() *language {
	l := &language{
		functions: map[*Symbol]*Function{}, setters: map[*Symbol]*Function{}, places: map[*Symbol]placeExpander{}, classes: standardClasses(),
		variables: standardVariables(), types: typePredicates(),
		libraries: map[string]*library{
			"CL-PPCRE":   {nicknames: []string{"PPCRE"}, symbols: map[string]*Symbol{}},
			"JSON":       {nicknames: []string{"CL-JSON"}, symbols: map[string]*Symbol{}},
			"LOCAL-TIME": {symbols: map[string]*Symbol{"TIMESTAMP": symTimestamp}},
			"STR":        {symbols: map[string]*Symbol{}},
			"UIOP":       {symbols: map[string]*Symbol{}},
		},
		needs: map[*Symbol]string{},
	}
	l.addLibraryClasses()
	l.addLibraryVariables()
	for _, chapter := range chapters() {
		for i := range chapter.functions {
			l.define(&chapter.functions[i])
		}
		for _, form := range chapter.forms {
			l.symbol(strings.ToUpper(form.name)).asOperator().special = form.compile
		}
		for _, m := range chapter.macros {
			symbol := l.symbol(strings.ToUpper(m.name))
			symbol.asOperator().macro = &macro{name: symbol.name, doc: m.doc, list: m.list, expand: m.expand}
		}
	}
	symQuasiquote.asOperator().special = compileQuasiquote
	symUnquote.asOperator().special, symUnquoteSplicing.asOperator().special = compileUnquote, compileUnquote
	for name, expander := range standardPlaces() {
		l.places[standardSymbol(name)] = expander
	}
	for name, setter := range standardSetters() {
		symbol := standardSymbol(strings.ToUpper(name))
		reader := l.functions[symbol]
		setter.least, setter.most = reader.least+1, -1
		if reader.most >= 0 {
			setter.most = reader.most + 1
		}
		l.setters[symbol] = setter
	}
	l.putf = &Function{name: "(SETF GETF)", least: 3, most: 3, call: putf}
	for _, name := range []string{
		"LAMBDA", "FUNCTION", "FLET", "LABELS", "MACROLET", "SYMBOL-MACROLET", "HANDLER-BIND", "HANDLER-CASE", "RESTART-CASE", "RESTART-BIND",
		"WITH-SIMPLE-RESTART", "DEFUN", "DEFMACRO", "DEFMETHOD", "DEFSTRUCT", "DEFCLASS", "DEFINE-CONDITION", "CERROR", "ASSERT", "CHECK-TYPE",
		"EVAL", "DEFSETF", "DEFINE-SETF-EXPANDER", "DEFINE-COMPILER-MACRO", "DEFINE-MODIFY-MACRO", "CCASE", "CTYPECASE", "DEFTYPE", "WITH-SLOTS", "WITH-ACCESSORS", "DEFGENERIC", "DO-SYMBOLS", "DO-EXTERNAL-SYMBOLS", "DO-ALL-SYMBOLS", "WITH-PACKAGE-ITERATOR", "WITH-CONDITION-RESTARTS", "WITH-HASH-TABLE-ITERATOR",
		"UIOP:WITH-OUTPUT", "UIOP:WITH-INPUT", "UIOP:WHILE-COLLECTING",
	} {
		l.symbol(name).asOperator().capturing = true
	}
	return l
}

// symbol finds the symbol of a name with an optional library prefix.
func (l *language) symbol(name string) *Symbol {
	switch name {
	case "%FOREVER":
		return symForever
	case "%MODIFY":
		return symModify
	}
	prefix, rest, qualified := strings.Cut(name, ":")
	if !qualified {
		return standardSymbol(name)
	}
	table := l.libraries[prefix].symbols
	if table[rest] == nil {
		table[rest] = &Symbol{name: rest, home: prefix}
	}
	return table[rest]
}

func (l *language) define(b *builtin) {
	symbol := l.symbol(strings.ToUpper(b.name))
	if l.functions[symbol] != nil {
		panic("lisp: defined twice: " + b.name)
	}
	parameters, err := parseParameters(b.list)
	if err != nil {
		panic("lisp: " + b.name + ": " + err.Error())
	}
	function := &Function{
		name: symbol.name, doc: b.doc, list: b.list, least: parameters.least(), most: parameters.most(), parameters: parameters,
		call: b.call, named: b.named, one: b.one, two: b.two, many: b.many, open: b.open,
	}
	l.functions[symbol] = function
	if b.needs != "" {
		l.needs[symbol] = b.needs
	}
	if !b.open && b.needs == "" {
		symbol.asOperator().function = function
	}
	if b.check != nil {
		symbol.asOperator().check = b.check
	}
}

// operators calls visit with each symbol of the language that a form can begin with.
func (l *language) operators(visit func(*Symbol)) {
	consider := func(symbol *Symbol) {
		if symbol.operator != nil || l.functions[symbol] != nil {
			visit(symbol)
		}
	}
	for _, symbol := range standardTable {
		consider(symbol)
	}
	for _, library := range l.libraries {
		for _, symbol := range library.symbols {
			consider(symbol)
		}
	}
}
