package lisp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Builtin is one row of the tables that say what the language has. Documentation and
// completion are made from the same rows.
type Builtin struct {
	Name       string
	LambdaList string
	Doc        string
	// One of these does it. call gets the arguments as they were given, named by the names
	// in list; one and two are for exactly that many, without a slice.
	Call  func(c *Call, args []Value) Value
	Named func(c *Call, args Args) Value
	One   func(c *Call, a Value) Value
	Two   func(c *Call, a, b Value) Value
	// Many says that it may return other than one value.
	Many bool
	// Open says that notes may add methods to it.
	Open bool
	// Needs is the capability without which a note does not have it, "" for none.
	Needs string
	// Check, if set, looks at the form of a call while it is compiled.
	Check func(cp *Compiler, form *Cons)
}

// Language is everything that is the same in all environments made of it: the standard, and
// libraries beside it. It does not change once it is made.
type Language struct {
	chapters  []chapter
	functions map[*Symbol]*Function
	setters   map[*Symbol]*Function
	places    map[*Symbol]placeExpander
	classes   map[*Symbol]*Class
	variables map[*Symbol]standardVariable
	types     map[*Symbol]func(Value) bool
	libraries map[string]*libraryPackage
	// keywords are those that the program knows, of these libraries and of others.
	keywords map[string]*Symbol
	// needs are the capabilities that functions need.
	needs map[*Symbol]string
	// putf stores into a property list and returns it.
	putf *Function
}

// libraryPackage is the package of a library.
type libraryPackage struct {
	nicknames []string
	symbols   map[string]*Symbol
}

type standardVariable struct {
	value    Value
	constant bool
	doc      string
}

// standardLanguage builds the language without libraries once, when it is first needed.
var standardLanguage = sync.OnceValue(newLanguage)

// NewLanguage makes a language of the standard and libraries, which come after those that
// they need. It fails when one of them cannot be: a name that is taken, a malformed lambda
// list, a library that is missing.
func NewLanguage(libraries ...Library) (*Language, error) {
	standard := standardLanguage()
	if len(libraries) == 0 {
		return standard, nil
	}
	l := &Language{
		chapters: standard.chapters, functions: maps.Clone(standard.functions), setters: standard.setters, places: standard.places,
		classes: maps.Clone(standard.classes), variables: maps.Clone(standard.variables), types: standard.types,
		libraries: map[string]*libraryPackage{}, needs: maps.Clone(standard.needs), putf: standard.putf,
	}
	for _, library := range libraries {
		if err := l.add(library); err != nil {
			return nil, fmt.Errorf("add the library %s: %w", library.Package, err)
		}
	}
	l.keywords = knownKeywords()
	return l, nil
}

func newLanguage() *Language {
	l := &Language{
		chapters: chapters(), functions: map[*Symbol]*Function{}, setters: map[*Symbol]*Function{}, places: map[*Symbol]placeExpander{}, classes: standardClasses(),
		variables: standardVariables(), types: typePredicates(), libraries: map[string]*libraryPackage{}, needs: map[*Symbol]string{},
	}
	for _, chapter := range l.chapters {
		for i := range chapter.functions {
			row := &chapter.functions[i]
			if err := l.define(standardSymbolOf(row.Name), row); err != nil {
				panic("lisp: " + err.Error())
			}
		}
		for _, form := range chapter.forms {
			standardSymbolOf(form.name).asOperator().special = form.compile
		}
		for i := range chapter.macros {
			l.defineMacro(standardSymbolOf(chapter.macros[i].Name), &chapter.macros[i])
		}
	}
	symQuasiquote.asOperator().special = compileQuasiquote
	symUnquote.asOperator().special, symUnquoteSplicing.asOperator().special = compileUnquote, compileUnquote
	for name, expander := range standardPlaces() {
		l.places[CL(name)] = expander
	}
	setters := standardSetters()
	for i := range setters {
		l.setters[CL(strings.ToUpper(setters[i].Name))] = l.setter(&setters[i])
	}
	l.putf = &Function{name: "(SETF GETF)", least: 3, most: 3, call: putf}
	for _, name := range []string{
		"LAMBDA", "FUNCTION", "FLET", "LABELS", "MACROLET", "SYMBOL-MACROLET", "HANDLER-BIND", "HANDLER-CASE", "RESTART-CASE", "RESTART-BIND",
		"WITH-SIMPLE-RESTART", "DEFUN", "DEFMACRO", "DEFMETHOD", "DEFSTRUCT", "DEFCLASS", "DEFINE-CONDITION", "CERROR", "ASSERT", "CHECK-TYPE",
		"EVAL", "DEFSETF", "DEFINE-SETF-EXPANDER", "DEFINE-COMPILER-MACRO", "DEFINE-MODIFY-MACRO", "CCASE", "CTYPECASE", "DEFTYPE", "WITH-SLOTS", "WITH-ACCESSORS", "DEFGENERIC", "DO-SYMBOLS", "DO-EXTERNAL-SYMBOLS", "DO-ALL-SYMBOLS", "WITH-PACKAGE-ITERATOR", "WITH-CONDITION-RESTARTS", "WITH-HASH-TABLE-ITERATOR",
	} {
		CL(name).asOperator().capturing = true
	}
	l.keywords = knownKeywords()
	return l
}

// standardSymbolOf finds the symbol that a row of the standard defines.
func standardSymbolOf(name string) *Symbol {
	switch name {
	case "%forever":
		return symForever
	case "%modify":
		return symModify
	}
	return CL(strings.ToUpper(name))
}

// symbol finds a symbol by its name, with its package if that is a library's; nil if there
// is none.
func (l *Language) symbol(name string) *Symbol {
	prefix, rest, qualified := strings.Cut(name, ":")
	if !qualified {
		return standardTable[name]
	}
	if library := l.libraries[prefix]; library != nil {
		return library.symbols[rest]
	}
	return nil
}

func (l *Language) define(symbol *Symbol, b *Builtin) error {
	if l.functions[symbol] != nil {
		return fmt.Errorf("%s is defined twice", b.Name)
	}
	parameters, err := parseParameters(b.LambdaList)
	if err != nil {
		return fmt.Errorf("define %s: %w", b.Name, err)
	}
	function := b.function(symbol.name, parameters)
	l.functions[symbol] = function
	if b.Needs != "" {
		l.needs[symbol] = b.Needs
	}
	if !b.Open && b.Needs == "" {
		symbol.asOperator().function = function
	}
	if b.Check != nil {
		symbol.asOperator().check = b.Check
	}
	return nil
}

// function is the function of a row.
func (b *Builtin) function(name string, p *parameters) *Function {
	return &Function{
		name: name, doc: b.Doc, list: b.LambdaList, least: p.least(), most: p.most(), parameters: p,
		call: b.Call, named: b.Named, one: b.One, two: b.Two, many: b.Many, open: b.Open,
	}
}

func (l *Language) defineMacro(symbol *Symbol, m *Macro) {
	symbol.asOperator().macro = &macro{name: symbol.name, doc: m.Doc, list: m.LambdaList, expand: m.Expand}
}

// operators calls visit with each symbol of the language that a form can begin with.
func (l *Language) operators(visit func(*Symbol)) {
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

// chapter is a part of the language: the tables that define it. What is told about the
// language is told in this order.
type chapter struct {
	title string
	// home is the package of the names, "" for the standard.
	home      string
	functions []Builtin
	forms     []standardForm
	macros    []Macro
}

// grantedChapter is about what needs a capability.
const grantedChapter = "Files, the environment and servers, as granted"

// chapters are those of the standard.
func chapters() []chapter {
	return []chapter{
		{title: "Evaluation, binding and choice", forms: slices.Concat(controlForms(), localForms()), macros: conditionalMacros()},
		{title: "Definitions", forms: definitionForms()},
		{title: "Places", forms: placeForms(), macros: placeMacros(), functions: placeFunctions()},
		{title: "Functions, values and exits", forms: exitForms(), functions: controlFunctions()},
		{title: "Iteration", forms: loopForms(), macros: iterationMacros()},
		{title: "Conditions and restarts", forms: slices.Concat(handlingForms(), restartForms()), functions: slices.Concat(conditionFunctions(), restartFunctions())},
		{title: "Conses and lists", functions: slices.Concat(consFunctions(), listFunctions(), setFunctions(), treeFunctions(), plistFunctions())},
		{title: "Sequences", functions: slices.Concat(sequenceFunctions(), searchFunctions(), editFunctions(), mappingFunctions(), sortFunctions())},
		{title: "Strings and characters", functions: slices.Concat(stringFunctions(), stringComparisons(), characterFunctions())},
		{title: "Numbers", functions: slices.Concat(numberFunctions(), numberPredicates(), bitFunctions(), byteFunctions(), roundingFunctions(), floatFunctions(), floatPartFunctions(), complexFunctions(), randomFunctions())},
		{title: "Arrays", functions: slices.Concat(arrayFunctions(), arrayMakers(), fillPointerFunctions(), bitArrayFunctions())},
		{title: "Hash tables and equality", functions: slices.Concat(hashFunctions(), equalityFunctions())},
		{title: "Symbols and packages", functions: slices.Concat(symbolFunctions(), packageFunctions(), packageChanges()), macros: packageMacros()},
		{title: "Types", functions: typeFunctions()},
		{title: "Classes, structures and methods", forms: classForms(), functions: slices.Concat(classFunctions(), slotFunctions(), methodFunctions(), protocolFunctions())},
		{title: "Streams, printing and reading", functions: slices.Concat(streamFunctions(), outputFunctions(), inputFunctions(), byteStreamFunctions(), compoundStreamFunctions(), printFunctions(), prettyFunctions(), readFunctions(), readtableFunctions()), macros: slices.Concat(resourceMacros(), streamMacros(), prettyMacros())},
		{title: "Pathnames", functions: pathnameFunctions()},
		{title: "Time and surroundings", functions: slices.Concat(timeFunctions(), surroundingFunctions()), macros: surroundingMacros()},
		{title: grantedChapter, functions: fileFunctions(), macros: fileMacros()},
	}
}
