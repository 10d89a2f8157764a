package lisp

import (
	"math/big"
	"slices"
)

// Class is a structure, condition or standard class, or a class of built-in objects.
type Class struct {
	name *Symbol
	kind classKind
	// supers are the direct superclasses, precedence the class and all its ancestors,
	// most specific first.
	supers, precedence []*Class
	// direct are the slots of the class's own definition, slots all of its instances.
	direct, slots []slot
	// report tells a condition of this class, a string or a function; nil: inherited.
	report Value
	// defaults are :default-initargs, those of the class itself first.
	defaults []initial
	// printer is the function a structure asks to be printed by.
	printer Value
}

type classKind int

const (
	builtinClass classKind = iota
	conditionClass
	structureClass
	standardClass
)

// slot is one slot of an instance, its own or inherited.
type slot struct {
	name     *Symbol
	initargs []*Symbol
	// initial makes the value when no initarg is given; nil leaves it unbound.
	initial *Function
	shared  *Value // :allocation :class
	// form is the initial form of a structure, which its constructors evaluate.
	form Value
	// kind is the type a structure's slot is declared to have, nil for any.
	kind Value
	// readOnly slots of a structure cannot be stored into.
	readOnly bool
}

type initial struct {
	keyword *Symbol
	value   *Function
}

func (k *Class) isA(ancestor *Class) bool {
	return slices.Contains(k.precedence, ancestor)
}

func (k *Class) index(name *Symbol) int {
	for i := range k.slots {
		if k.slots[i].name == name {
			return i
		}
	}
	return -1
}

// inherit computes precedence, slots and default arguments from the direct
// superclasses. It fails when the order of superclasses contradicts itself.
func (k *Class) inherit(own []slot) bool {
	k.direct = own
	var ok bool
	if k.precedence, ok = k.linearise(); !ok {
		return false
	}
	k.slots = nil
	for i := len(k.precedence) - 1; i >= 0; i-- {
		k.merge(k.precedence[i].direct)
	}
	for _, super := range k.precedence[1:] {
		for _, d := range super.defaults {
			if !k.hasDefault(d.keyword) {
				k.defaults = append(k.defaults, d)
			}
		}
	}
	return true
}

func (k *Class) hasDefault(keyword *Symbol) bool {
	for _, d := range k.defaults {
		if d.keyword == keyword {
			return true
		}
	}
	return false
}

// linearise sorts the class and its ancestors so that each stands before its
// superclasses, and those in the order they were named. Among several that could be
// next it takes the one with a subclass furthest to the right, as the standard says.
func (k *Class) linearise() (order []*Class, ok bool) {
	all := k.ancestors()
	remaining := slices.Clone(all)
	for len(remaining) > 0 {
		best, bestAt := -1, -1
		for i, class := range remaining {
			if class.precededBy(remaining, all) {
				continue
			}
			at := -1
			for j, before := range order {
				if slices.Contains(before.supers, class) {
					at = j
				}
			}
			if best < 0 || at > bestAt {
				best, bestAt = i, at
			}
		}
		if best < 0 {
			return nil, false
		}
		order = append(order, remaining[best])
		remaining = slices.Delete(remaining, best, best+1)
	}
	return order, true
}

// ancestors are the class and all its superclasses, each once.
func (k *Class) ancestors() []*Class {
	found := []*Class{k}
	for _, super := range k.supers {
		for _, class := range super.precedence {
			if !slices.Contains(found, class) {
				found = append(found, class)
			}
		}
	}
	return found
}

// precededBy reports that one of the remaining classes must come before the class: a
// subclass, or one that some class names in front of it.
func (k *Class) precededBy(remaining, all []*Class) bool {
	for _, class := range all {
		before := class
		for _, super := range class.supers {
			if super == k && slices.Contains(remaining, before) {
				return true
			}
			before = super
		}
	}
	return false
}

// merge adds slots, or what they say more of slots there are.
func (k *Class) merge(slots []slot) {
	for _, s := range slots {
		i := k.index(s.name)
		if i < 0 {
			k.slots = append(k.slots, s)
			continue
		}
		inherited := k.slots[i]
		s.initargs = append(s.initargs[:len(s.initargs):len(s.initargs)], inherited.initargs...)
		if s.initial == nil {
			s.initial = inherited.initial
		}
		if s.kind == nil {
			s.kind = inherited.kind
		}
		s.readOnly = s.readOnly || inherited.readOnly
		k.slots[i] = s
	}
}

// class returns the class named by symbol, nil if there is none.
func (e *Environment) class(symbol *Symbol) *Class {
	if class, ok := e.classes[symbol]; ok {
		return class
	}
	return e.language.classes[symbol]
}

// namedClass takes a class or the name of one.
func (c *Call) namedClass(v Value) *Class {
	if class, ok := v.(*Class); ok {
		return class
	}
	class := c.environment.class(c.TakeSymbol(v))
	if class == nil {
		c.noClass(v)
	}
	return class
}

func (c *Call) noClass(name Value) {
	c.signalError(c.newCondition(cellError, "There is no class named "+c.Shown(name)+".", "NAME", name))
}

// inheritClass is inherit, paid for.
func (c *Call) inheritClass(class *Class, own []slot) {
	size := 1
	for _, super := range class.supers {
		size += len(super.precedence) + len(super.slots)
	}
	c.ChargeMany(size, ObjectBytes)
	c.Work(size * size)
	if !class.inherit(own) {
		c.Fail(SimpleError, "the superclasses of %s contradict each other in their order", class.name.name)
	}
}

// builtinClasses lists the classes of objects that notes do not define: name and
// direct superclasses.
var builtinClasses = []struct {
	name   string
	supers []string
}{
	{"T", nil},
	{"STANDARD-OBJECT", []string{"T"}}, {"STRUCTURE-OBJECT", []string{"T"}},
	{"FUNCTION", []string{"T"}}, {"GENERIC-FUNCTION", []string{"FUNCTION", "STANDARD-OBJECT"}}, {"STANDARD-GENERIC-FUNCTION", []string{"GENERIC-FUNCTION"}},
	{"CLASS", []string{"STANDARD-OBJECT"}}, {"STANDARD-CLASS", []string{"CLASS"}}, {"BUILT-IN-CLASS", []string{"CLASS"}}, {"STRUCTURE-CLASS", []string{"CLASS"}},
	{"METHOD", []string{"STANDARD-OBJECT"}}, {"STANDARD-METHOD", []string{"METHOD"}}, {"METHOD-COMBINATION", []string{"STANDARD-OBJECT"}},
	{"SYMBOL", []string{"T"}}, {"CHARACTER", []string{"T"}}, {"HASH-TABLE", []string{"T"}}, {"PACKAGE", []string{"T"}}, {"PATHNAME", []string{"T"}}, {"LOGICAL-PATHNAME", []string{"PATHNAME"}},
	{"RANDOM-STATE", []string{"T"}}, {"READTABLE", []string{"T"}}, {"RESTART", []string{"T"}},
	{"STREAM", []string{"T"}}, {"STRING-STREAM", []string{"STREAM"}}, {"BROADCAST-STREAM", []string{"STREAM"}}, {"CONCATENATED-STREAM", []string{"STREAM"}},
	{"ECHO-STREAM", []string{"STREAM"}}, {"FILE-STREAM", []string{"STREAM"}}, {"SYNONYM-STREAM", []string{"STREAM"}}, {"TWO-WAY-STREAM", []string{"STREAM"}},
	{"SEQUENCE", []string{"T"}}, {"LIST", []string{"SEQUENCE"}}, {"CONS", []string{"LIST"}}, {"NULL", []string{"SYMBOL", "LIST"}},
	{"ARRAY", []string{"T"}}, {"VECTOR", []string{"ARRAY", "SEQUENCE"}}, {"STRING", []string{"VECTOR"}}, {"BIT-VECTOR", []string{"VECTOR"}},
	{"NUMBER", []string{"T"}}, {"REAL", []string{"NUMBER"}}, {"RATIONAL", []string{"REAL"}}, {"INTEGER", []string{"RATIONAL"}}, {"FIXNUM", []string{"INTEGER"}},
	{"BIGNUM", []string{"INTEGER"}}, {"RATIO", []string{"RATIONAL"}}, {"FLOAT", []string{"REAL"}}, {"SINGLE-FLOAT", []string{"FLOAT"}}, {"DOUBLE-FLOAT", []string{"FLOAT"}},
	{"COMPLEX", []string{"NUMBER"}},
}

// standardClasses builds the classes that all environments share.
func standardClasses() map[*Symbol]*Class {
	classes := map[*Symbol]*Class{}
	for _, k := range builtinClasses {
		class := &Class{name: CL(k.name), kind: builtinClass}
		for _, super := range k.supers {
			class.supers = append(class.supers, classes[CL(super)])
		}
		class.inherit(nil)
		classes[class.name] = class
	}
	addConditionClasses(classes)
	return classes
}

// classNames are the names of the classes that objects which are no instances have.
var classNames = struct {
	symbol, null, cons, fixnum, bignum, ratio, single, double, character, str, array, vector, bits, table, generic, function, class, structure, builtin, method, pkg, restart, complex *Symbol
}{
	symbol: CL("SYMBOL"), null: CL("NULL"), cons: CL("CONS"), fixnum: CL("FIXNUM"), bignum: CL("BIGNUM"),
	ratio: CL("RATIO"), single: CL("SINGLE-FLOAT"), double: CL("DOUBLE-FLOAT"), character: CL("CHARACTER"),
	str: CL("STRING"), array: CL("ARRAY"), vector: CL("VECTOR"), bits: CL("BIT-VECTOR"), table: CL("HASH-TABLE"),
	generic: CL("STANDARD-GENERIC-FUNCTION"), function: CL("FUNCTION"), class: CL("STANDARD-CLASS"), structure: CL("STRUCTURE-CLASS"),
	builtin: CL("BUILT-IN-CLASS"), method: CL("STANDARD-METHOD"), pkg: CL("PACKAGE"), restart: CL("RESTART"),
	complex: CL("COMPLEX"),
}

// className is the name of the class of an object that is no instance.
func (c *Call) className(v Value) *Symbol {
	n := &classNames
	switch x := v.(type) {
	case *Symbol:
		if x == Nil {
			return n.null
		}
		return n.symbol
	case *Cons:
		return n.cons
	case int64:
		if x < -1<<62 || x >= 1<<62 {
			return n.bignum
		}
		return n.fixnum
	case *big.Int:
		return n.bignum
	case *big.Rat:
		return n.ratio
	case float32:
		return n.single
	case float64:
		return n.double
	case *Complex:
		return n.complex
	case Character:
		return n.character
	case *String:
		return n.str
	case *Vector:
		return vectorClass(x)
	case *HashTable:
		return n.table
	case *Function:
		if x.generic != nil {
			return n.generic
		}
		return n.function
	case *Class:
		return metaclass(x)
	case *method:
		return n.method
	case *Package:
		return n.pkg
	case *Stream:
		return CL(streamTypes[x.kind])
	case *Pathname:
		return CL("PATHNAME")
	case *restart:
		return n.restart
	case *readtable:
		return CL("READTABLE")
	case *randomState:
		return CL("RANDOM-STATE")
	case Object:
		if name := x.LispClass(); name != "" {
			return c.Lookup(name)
		}
	}
	return T
}

func vectorClass(v *Vector) *Symbol {
	switch {
	case v.bits():
		return classNames.bits
	case v.dimensions != nil:
		return classNames.array
	}
	return classNames.vector
}

func metaclass(class *Class) *Symbol {
	switch class.kind {
	case structureClass:
		return classNames.structure
	case builtinClass:
		return classNames.builtin
	}
	return classNames.class
}

// classOf returns the class of an object.
func (c *Call) classOf(v Value) *Class {
	if i, ok := v.(*Instance); ok {
		return i.class
	}
	return c.environment.language.classes[c.className(v)]
}

// slotIndex finds a slot of an instance by name, -1 if there is none.
func (c *Call) slotIndex(object Value, name *Symbol) (*Instance, int) {
	i, ok := object.(*Instance)
	if !ok {
		return nil, -1
	}
	index := i.class.index(name)
	if index < 0 && i.class.kind == conditionClass {
		for j := range i.class.slots { // standard conditions name theirs in no package
			if i.class.slots[j].name.name == name.name {
				return i, j
			}
		}
	}
	return i, index
}

// missingSlot asks slot-missing about an operation on a slot that does not exist.
func (c *Call) missingSlot(object Value, name, operation *Symbol, more ...Value) Value {
	return Single(c.standard(symSlotMissing, append([]Value{c.classOf(object), object, name, operation}, more...)...))
}

func (c *Call) slotValue(object Value, name *Symbol) Value {
	i, index := c.slotIndex(object, name)
	if index < 0 {
		return c.missingSlot(object, name, symSlotValue)
	}
	v := i.get(index)
	if v == nil {
		return Single(c.standard(symSlotUnbound, i.class, i, name))
	}
	return v
}

func (c *Call) setSlot(object Value, name *Symbol, v Value) {
	i, index := c.slotIndex(object, name)
	if index < 0 {
		c.missingSlot(object, name, symSetf, v)
		return
	}
	i.set(index, v)
}

// compileWithSlots handles with-slots and with-accessors: names that stand for places.
func compileWithSlots(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	object := cp.Gensym("OBJECT")
	accessors := form.Car == CL("WITH-ACCESSORS")
	macros := NewListBuilder(cp.Call)
	for _, item := range cp.Forms(parts[0]) {
		pair := []Value{item, item}
		if IsList(item) {
			pair = cp.Forms(item)
		}
		if len(pair) != 2 || accessors && !IsList(item) {
			cp.Fail(ProgramError, "malformed slot entry: %s", Sketch(item, formLength))
		}
		place := Form(symSlotValue, object, Form(symQuote, pair[1]))
		if accessors {
			place = Form(pair[1], object)
		}
		macros.Add(NewList(pair[0], place))
	}
	body := form.Cdr.(*Cons).Cdr.(*Cons).Cdr
	return cp.compile(Form(symLet, NewList(NewList(object, parts[1])), FormStar(symSymbolMacrolet, body, macros.List())), sc)
}

// slotFunctions reach the slots of objects.
func slotFunctions() []Builtin {
	return []Builtin{
		{Name: "slot-value", LambdaList: "(object name)", Doc: "The value of a slot.", Two: func(c *Call, a, b Value) Value { return c.slotValue(a, c.TakeSymbol(b)) }},
		{Name: "slot-boundp", LambdaList: "(object name)", Doc: "True if a slot has a value.", Two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.TakeSymbol(b))
			if index < 0 {
				return Boolean(c.missingSlot(a, c.TakeSymbol(b), CL("SLOT-BOUNDP")) != Nil)
			}
			return Boolean(i.get(index) != nil)
		}},
		{Name: "slot-makunbound", LambdaList: "(object name)", Doc: "Take the value of a slot away.", Two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.TakeSymbol(b))
			if index < 0 {
				c.missingSlot(a, c.TakeSymbol(b), CL("SLOT-MAKUNBOUND"))
				return a
			}
			i.set(index, nil)
			return a
		}},
		{Name: "slot-exists-p", LambdaList: "(object name)", Doc: "True if an object has a slot.", Two: func(c *Call, a, b Value) Value {
			_, index := c.slotIndex(a, c.TakeSymbol(b))
			return Boolean(index >= 0)
		}},
	}
}

// classFunctions find and name classes.
func classFunctions() []Builtin {
	return []Builtin{
		{Name: "find-class", LambdaList: "(name &optional error environment)", Doc: "The class of that name.", Named: func(c *Call, args Args) Value {
			name := args.Get("name")
			if class := c.environment.class(c.TakeSymbol(name)); class != nil {
				return class
			}
			if args.Get("error") != Nil {
				c.noClass(name)
			}
			return Nil
		}},
		{Name: "class-of", LambdaList: "(object)", Doc: "The class of an object.", One: func(c *Call, a Value) Value { return c.classOf(a) }},
		{Name: "class-name", LambdaList: "(class)", Doc: "The name of a class.", One: func(c *Call, a Value) Value {
			class, ok := a.(*Class)
			if !ok {
				c.TypeError(a, "CLASS")
			}
			return class.name
		}},
		{Name: "copy-structure", LambdaList: "(structure)", Doc: "A copy of a structure.", One: func(c *Call, a Value) Value {
			i, ok := a.(*Instance)
			if !ok || i.class.kind != structureClass {
				c.TypeError(a, "STRUCTURE-OBJECT")
			}
			copied := c.allocate(i.class)
			copy(copied.slots, i.slots)
			return copied
		}},
	}
}
