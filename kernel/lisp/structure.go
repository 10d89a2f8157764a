package lisp

import "strings"

// structureOptions are what (defstruct (name options…)) asks for.
type structureOptions struct {
	name         *Symbol
	prefix       string
	constructors [][]Value // name and, for a BOA constructor, its lambda list
	copier       string
	predicate    string
	include      *Symbol
	overrides    []Value
	printer      Value
}

// expandDefstruct turns a structure into its class and functions. The class is made
// while expanding, as accessors of the note's later forms need it.
func expandDefstruct(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	o := cp.structureOptions(parts[0])
	slots := parts[1:]
	if len(slots) > 0 {
		if _, ok := slots[0].(*String); ok {
			slots = slots[1:]
		}
	}
	class := &Class{name: o.name, kind: structureClass, supers: []*Class{cp.language.classes[standardSymbol("STRUCTURE-OBJECT")]}}
	if o.include != nil {
		super := cp.environment.class(o.include)
		if super == nil || super.kind != structureClass {
			cp.fail(simpleError, "%s is not a structure", o.include.name)
		}
		class.supers = []*Class{super}
	}
	own := append(cp.structureSlots(o.overrides), cp.structureSlots(slots)...)
	cp.inheritClass(class, own)
	cp.environment.classes[o.name] = class

	forms := []Value{symProgn}
	for _, constructor := range o.constructors {
		forms = append(forms, cp.constructor(class, constructor))
	}
	object := cp.gensym("OBJECT")
	quoted := call(symQuote, class)
	for i := range class.slots {
		accessor := cp.Symbol(o.prefix + class.slots[i].name.name)
		read := call(symFuncall, call(symQuote, structureReader(class, i)), object)
		forms = append(forms, call(symDefun, accessor, NewList(object), read))
		value := cp.gensym("VALUE")
		write := call(symFuncall, call(symQuote, structureWriter(class, i)), value, object)
		forms = append(forms, call(symDefun, call(symSetf, accessor), NewList(value, object), write))
	}
	if o.predicate != "" {
		forms = append(forms, call(symDefun, cp.Symbol(o.predicate), NewList(object), call(symTypep, object, quoted)))
	}
	if o.copier != "" {
		forms = append(forms, call(symDefun, cp.Symbol(o.copier), NewList(object), call(standardSymbol("COPY-STRUCTURE"), object)))
	}
	if o.printer != nil {
		forms = append(forms, call(symFuncall, call(symQuote, setPrinter), quoted, o.printer))
	}
	return NewList(append(forms, call(symQuote, o.name))...)
}

var setPrinter = &Function{name: "SET-PRINTER", least: 2, most: 2, two: func(_ *Call, a, b Value) Value {
	a.(*Class).printer = b
	return b
}}

func (cp *compiler) structureOptions(spec Value) *structureOptions {
	options := []Value{spec}
	if isList(spec) {
		options = cp.forms(spec)
	}
	if len(options) == 0 {
		cp.fail(programError, "a structure needs a name")
	}
	name := cp.unfrozen(cp.checkBindable(options[0])).symbol
	o := &structureOptions{name: name, prefix: name.name + "-", copier: "COPY-" + name.name, predicate: name.name + "-P"}
	for _, option := range options[1:] {
		parts := []Value{option}
		if isList(option) {
			parts = cp.forms(option)
		}
		cp.structureOption(o, cp.name(parts[0]), parts[1:])
	}
	if o.constructors == nil {
		o.constructors = [][]Value{{cp.Symbol("MAKE-" + name.name)}}
	}
	return o
}

func (cp *compiler) structureOption(o *structureOptions, option string, args []Value) {
	text := func(fallback string) string {
		if len(args) == 0 {
			return fallback
		}
		if args[0] == Nil {
			return ""
		}
		return cp.name(args[0])
	}
	switch option {
	case "CONC-NAME":
		o.prefix = text("")
	case "CONSTRUCTOR":
		switch {
		case len(args) == 0:
			o.constructors = append(o.constructors, []Value{cp.Symbol("MAKE-" + o.name.name)})
		case args[0] == Nil:
			o.constructors = [][]Value{}
		default:
			o.constructors = append(o.constructors, args)
		}
	case "COPIER":
		o.copier = text(o.copier)
	case "PREDICATE":
		o.predicate = text(o.predicate)
	case "INCLUDE":
		if len(args) == 0 {
			cp.fail(programError, ":include needs the name of a structure")
		}
		o.include, o.overrides = cp.symbol(args[0]), args[1:]
	case "PRINT-FUNCTION", "PRINT-OBJECT":
		if len(args) > 0 {
			function := Value(call(symFunction, args[0]))
			if option == "PRINT-FUNCTION" {
				object, stream := cp.gensym("OBJECT"), cp.gensym("STREAM")
				function = call(symLambda, NewList(object, stream), call(symFuncall, function, object, stream, Integer(0)))
			}
			o.printer = function
		}
	case "TYPE", "NAMED", "INITIAL-OFFSET":
		cp.fail(simpleError, "defstruct option %s is not supported", strings.ToLower(option))
	}
}

// structureSlots reads slot descriptions: name or (name initial . options).
func (cp *compiler) structureSlots(items []Value) []slot {
	var slots []slot
	for _, item := range items {
		parts := []Value{item}
		if isList(item) {
			parts = cp.forms(item)
		}
		name := cp.symbol(parts[0])
		s := slot{name: name, initargs: []*Symbol{cp.environment.Keyword(name.name)}}
		if len(parts) > 1 && parts[1] != Nil {
			s.form = parts[1]
		}
		slots = append(slots, s)
	}
	return slots
}

// constructor makes the defun of a constructor: by keywords, or by a lambda list.
func (cp *compiler) constructor(class *Class, spec []Value) Value {
	make := NewList(symQuote, &Function{name: "MAKE-STRUCTURE", most: -1, call: func(c *Call, args []Value) Value {
		c.charge(closureBytes + len(args)*valueBytes)
		return &Instance{class: class, slots: append([]Value(nil), args...)}
	}})
	initial := func(s *slot) Value {
		if s.form == nil {
			return Nil
		}
		return s.form
	}
	var passed, parameters builder
	if len(spec) == 1 {
		parameters.add(symKey)
		for i := range class.slots {
			s := &class.slots[i]
			parameters.add(NewList(s.name, initial(s)))
			passed.add(s.name)
		}
		return call(symDefun, spec[0], parameters.list(), callStar(symFuncall, passed.list(), make))
	}
	named := map[*Symbol]bool{}
	section := symLambda
	for _, item := range cp.forms(spec[1]) {
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			section = word
			parameters.add(item)
			continue
		}
		name, ok := item.(*Symbol)
		if cell, isCons := item.(*Cons); isCons {
			name, ok = cell.Car.(*Symbol)
		} else if i := class.index(name); i >= 0 && section != symLambda && section != symRest {
			item = NewList(name, initial(&class.slots[i]))
		}
		if !ok {
			cp.fail(programError, "malformed constructor %s", sketch(spec[1], formLength))
		}
		named[name] = true
		parameters.add(item)
	}
	for i := range class.slots {
		if s := &class.slots[i]; named[s.name] {
			passed.add(s.name)
		} else {
			passed.add(initial(s))
		}
	}
	return call(symDefun, spec[0], parameters.list(), callStar(symFuncall, passed.list(), make))
}

func (c *Call) structure(v Value, class *Class) *Instance {
	i, ok := v.(*Instance)
	if !ok || i.class != class && !i.class.isA(class) {
		c.signalError(c.newCondition(typeErrorClass, "The value "+c.shown(v)+" is not of type "+class.name.name+".", "DATUM", v, "EXPECTED-TYPE", class.name))
	}
	return i
}

func structureReader(class *Class, index int) *Function {
	return &Function{name: class.slots[index].name.name, least: 1, most: 1, one: func(c *Call, a Value) Value {
		return c.structure(a, class).slots[index]
	}}
}

func structureWriter(class *Class, index int) *Function {
	return &Function{name: class.slots[index].name.name, least: 2, most: 2, two: func(c *Call, v, a Value) Value {
		c.structure(a, class).slots[index] = v
		return v
	}}
}
