package lisp

import (
	"errors"
	"fmt"
	"iter"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Library is a package of functions, macros, variables and classes beside the standard,
// written in Go. Its names are spelled without the package, in lower case where notes do so.
type Library struct {
	// Package is the name of its package, in upper case.
	Package   string
	Nicknames []string
	// Title is that of its chapter in the manual.
	Title string
	// Needs are the packages of the libraries that must have been added before it.
	Needs     []string
	Functions []Builtin
	Macros    []Macro
	// Capturing are the macros whose use means that a closure may be made.
	Capturing  []string
	Variables  []Variable
	Conditions []ConditionClass
	// Classes are the names of the classes of its objects; see [Object].
	Classes []string
	// Others are symbols that it has beside those of its rows.
	Others []string
}

// Variable is a variable of a library, which notes may read, bind and set.
type Variable struct {
	Name string
	// Value is what it is at first; a SymbolNamed stands for a symbol of the library.
	Value Value
	Doc   string
}

// SymbolNamed is the name of a symbol of the library that it is used in.
type SymbolNamed string

// ConditionClass is a class of conditions of a library. Supers are its superclasses, of the
// standard or of the library; each slot is filled by the keyword of its name.
type ConditionClass struct {
	Name   string
	Supers []string
	Slots  []string
}

// Object is a value that a library brings, beside those of the standard. Objects are
// compared by identity.
type Object interface {
	// LispClass is the class that type-of tells, as "LOCAL-TIME:TIMESTAMP"; "" is T.
	LispClass() string
	// LispText is what is printed, by prin1 if escape is set.
	LispText(c *Call, escape bool) string
}

// add adds a library to a language that is being made.
func (l *Language) add(library Library) error {
	if library.Package == standardPackage || library.Package == keywordPackage || library.Package == userPackage || library.Package == kernelPackage || l.libraries[library.Package] != nil {
		return errors.New("the name is taken")
	}
	for _, other := range library.Needs {
		if l.libraries[other] == nil {
			return fmt.Errorf("it needs the library %s", other)
		}
	}
	p := &libraryPackage{nicknames: library.Nicknames, symbols: map[string]*Symbol{}}
	l.libraries[library.Package] = p
	symbol := func(name string) *Symbol {
		name = strings.ToUpper(name)
		if p.symbols[name] == nil {
			p.symbols[name] = &Symbol{name: name, home: library.Package, ofLibrary: true}
		}
		return p.symbols[name]
	}
	for _, name := range library.Others {
		symbol(name)
	}
	for i := range library.Functions {
		if err := l.define(symbol(library.Functions[i].Name), &library.Functions[i]); err != nil {
			return err
		}
	}
	for i := range library.Macros {
		l.defineMacro(symbol(library.Macros[i].Name), &library.Macros[i])
	}
	for _, name := range library.Capturing {
		symbol(name).asOperator().capturing = true
	}
	for _, v := range library.Variables {
		if name, ok := v.Value.(SymbolNamed); ok {
			v.Value = symbol(string(name))
		}
		l.variables[symbol(v.Name)] = standardVariable{value: v.Value, doc: v.Doc}
	}
	for _, name := range library.Classes {
		class := &Class{name: symbol(name), kind: builtinClass, supers: []*Class{l.classes[CL("STANDARD-OBJECT")]}}
		class.inherit(nil)
		l.classes[class.name] = class
	}
	for _, k := range library.Conditions {
		if err := l.addCondition(symbol, k); err != nil {
			return err
		}
	}
	l.addChapter(library)
	return nil
}

func (l *Language) addCondition(symbol func(string) *Symbol, k ConditionClass) error {
	class := &Class{name: symbol(k.Name), kind: conditionClass}
	for _, name := range k.Supers {
		super, ok := standardTable[name]
		if !ok {
			super = symbol(name)
		}
		if l.classes[super] == nil {
			return fmt.Errorf("the class %s has the superclass %s, which is none", k.Name, name)
		}
		class.supers = append(class.supers, l.classes[super])
	}
	var own []slot
	for _, name := range k.Slots {
		own = append(own, slot{name: internalSymbol(name), initargs: []*Symbol{Keyword(name)}})
	}
	class.inherit(own)
	l.classes[class.name] = class
	return nil
}

// addChapter adds what the manual tells of a library; functions that need a capability are
// told with the standard's.
func (l *Language) addChapter(library Library) {
	own := chapter{title: library.Title, home: library.Package, macros: library.Macros}
	granted := chapter{title: grantedChapter, home: library.Package}
	for _, row := range library.Functions {
		if row.Needs != "" {
			granted.functions = append(granted.functions, row)
		} else {
			own.functions = append(own.functions, row)
		}
	}
	l.chapters = append(slices.Clip(l.chapters), own, granted)
}

// NewFunction makes a function of a row, for a library to hand to notes. It panics when the
// lambda list is malformed.
func NewFunction(row Builtin) *Function {
	parameters, err := parseParameters(row.LambdaList)
	if err != nil {
		panic("lisp: " + row.Name + ": " + err.Error())
	}
	return row.function(row.Name, parameters)
}

// NewFunction is [NewFunction] for a call.
func (c *Call) NewFunction(row Builtin) *Function {
	c.Charge(rowBytes)
	return NewFunction(row)
}

// rowBytes is what the function of a row takes, with its parameters.
const rowBytes = 512

// What follows are the methods of Call that libraries need beside those which take and make
// values. They end the call, or make a non-local exit, by a panic that only the evaluator
// recovers.

// Lookup returns the symbol of a library, as "JSON:*JSON-OUTPUT*"; nil if the language has
// none of that name.
func (c *Call) Lookup(name string) *Symbol { return c.environment.language.symbol(name) }

// Funcall calls a function, a symbol naming one or a lambda expression. What it returns may
// be several values: see [Single] and [Every].
func (c *Call) Funcall(function Value, args ...Value) Value {
	c.Charge(len(args) * ValueBytes)
	return c.funcall(function, args)
}

// Standard calls the function of the standard of that name, in upper case.
func (c *Call) Standard(name string, args ...Value) Value {
	c.Charge(len(args) * ValueBytes)
	return c.funcall(CL(name), args)
}

// Signal signals an error of a class, of the standard or of a library, as
// "JSON:JSON-SYNTAX-ERROR". Slots are pairs of a name and a value. It does not return.
func (c *Call) Signal(class, message string, slots ...any) {
	c.signalError(c.conditionOf(c.environment.language.classes[c.Lookup(class)], message, slots...))
}

// SetVariable sets a special variable.
func (c *Call) SetVariable(symbol *Symbol, v Value) Value {
	c.setSpecial(c.global(symbol), v)
	return v
}

// InitialValue is the value that a variable of the language has at first.
func (c *Call) InitialValue(symbol *Symbol) Value {
	return c.environment.language.variables[symbol].value
}

// Property is a property of a symbol, nil if it has none.
func (c *Call) Property(symbol, indicator *Symbol) Value {
	if g, ok := c.environment.globals[symbol]; ok {
		return c.getf(g.plist, indicator, Nil)
	}
	return Nil
}

// StateOf is what a library keeps in the environment between calls, one value of each of
// its types; at first a new one.
func StateOf[T any](c *Call) *T {
	e := c.environment
	key := reflect.TypeFor[T]()
	if state, ok := e.states[key].(*T); ok {
		return state
	}
	if e.states == nil {
		e.states = map[reflect.Type]any{}
	}
	state := new(T)
	e.states[key] = state
	return state
}

// Now is the time by the clock of the environment.
func (c *Call) Now() time.Time { return c.environment.config.Now() }

// FindPackage is the package that a value names or is, nil if there is none.
func (c *Call) FindPackage(v Value) *Package {
	name := ""
	if p, ok := v.(*Package); ok {
		name = p.name
	} else {
		name = c.Name(v)
	}
	return c.environment.packages[name]
}

// Decimal is what an integer is in decimal digits.
func (c *Call) Decimal(v Value) string {
	p := printer{call: c, printControl: plainControl(10)}
	return p.digits(c.Integer(v))
}

// Characters takes a character, or the characters of a sequence.
func (c *Call) Characters(v Value) []rune {
	if ch, ok := v.(Character); ok {
		return []rune{rune(ch)}
	}
	if s, ok := v.(*String); ok {
		return s.chars
	}
	items := c.Elements(v)
	bag := MakeSlice[rune](c, len(items))
	for i, item := range items {
		bag[i] = rune(c.Character(item))
	}
	return bag
}

// CharacterBag is the test of the characters in a sequence.
func (c *Call) CharacterBag(v Value) func(rune) bool {
	characters := c.Characters(v)
	bag := Clone(c, characters)
	slices.Sort(bag)
	return func(r rune) bool {
		_, found := slices.BinarySearch(bag, r)
		return found
	}
}

// Ahead is what a stream has still to give, without taking it.
func (c *Call) Ahead(s *Stream) []rune {
	var chars []rune
	for i, from := range c.sources(s) {
		if i == 0 {
			chars = from.input[from.pos:len(from.input):len(from.input)]
			continue
		}
		chars = Append(c, chars, from.input[from.pos:]...)
	}
	return chars
}

// Rest takes everything that a stream has still to give.
func (c *Call) Rest(s *Stream) []rune {
	var text []rune
	for _, from := range c.sources(s) {
		text = Append(c, text, from.input[from.pos:]...)
		from.pos = len(from.input)
	}
	return text
}

// ReadForm reads a form from a stream; false if only blanks are left.
func (c *Call) ReadForm(s *Stream) (Value, bool) {
	form, err := c.readForm(s)
	if err != nil && !endOfText(err) {
		c.readError(err, s)
	}
	return form, err == nil
}

// Appending is a stream that appends to a string with a fill pointer.
func (c *Call) Appending(s *String) *Stream { return appendingStream.one(c, s).(*Stream) }

// EnvironmentVariable reads a variable of the process, which must have been granted.
func (c *Call) EnvironmentVariable(name string) (value string, set bool) {
	value, set, err := c.environment.config.Access.variable(c.reason, name)
	if err != nil {
		c.Fail(SimpleError, "%v", err)
	}
	return value, set
}

// WorkingDirectory is the directory that relative names of files are relative to.
func (c *Call) WorkingDirectory() string {
	path, err := c.environment.config.Access.absolute(".")
	if err != nil {
		c.Fail(SimpleError, "%v", err)
	}
	return path
}

// DeleteFile deletes a file and reports whether there was one.
func (c *Call) DeleteFile(p *Pathname) bool {
	at := c.located(p, kindWrite)
	info, err := at.stat()
	if err != nil {
		c.fileError(p, err)
	}
	if info == nil {
		return false
	}
	c.removeFile(p, at)
	return true
}

// Name is the name of the package.
func (p *Package) Name() string { return p.name }

// Drop closes a stream; what was written to a file is not stored.
func (s *Stream) Drop() { s.closed = true }

// Runes are the characters of a string, which must not be changed.
func (s *String) Runes() []rune { return s.chars }

// Elements are the elements of a vector, which must not be changed.
func (v *Vector) Elements() []Value { return v.elements }

// All are the keys and values of a table as they are now.
func (h *HashTable) All(c *Call) iter.Seq2[Value, Value] {
	pairs := h.pairs(c)
	return func(yield func(key, value Value) bool) {
		for _, e := range pairs {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// Every returns all values of what a form or function returned, [Single] the first.
func Every(v Value) []Value { return every(v) }

// BigInteger is an integer of any size as a Value. It must not be changed any more.
func BigInteger(n *big.Int) Value { return normal(n) }

// Handled reports that the form stands in one that handles errors.
func (cp *Compiler) Handled() bool { return cp.handled > 0 }

// Put stores a value.
func (h *HashTable) Put(c *Call, key, value Value) { h.put(c, key, value) }

// ClassName is the name of an object's class.
func (i *Instance) ClassName() *Symbol { return i.class.name }

// Slots are the names and values of the slots that are bound.
func (i *Instance) Slots() iter.Seq2[*Symbol, Value] {
	return func(yield func(name *Symbol, value Value) bool) {
		for j := range i.class.slots {
			if v := i.get(j); v != nil && !yield(i.class.slots[j].name, v) {
				return
			}
		}
	}
}
