package lisp

// classForms define classes, conditions and methods, and reach slots.
func classForms() []standardForm {
	return []standardForm{
		{"defclass", "(name superclasses slots &rest options)", "Define a class.", func(cp *Compiler, form *Cons, sc *scope) expression { return cp.compileClass(form, sc, standardClass) }},
		{"define-condition", "(name parents slots &rest options)", "Define a class of conditions.", func(cp *Compiler, form *Cons, sc *scope) expression { return cp.compileClass(form, sc, conditionClass) }},
		{"defgeneric", "(name lambda-list &rest options)", "Define a generic function.", compileDefgeneric},
		{"defmethod", "(name &rest qualifiers-lambda-list-and-body)", "Define a method of a generic function.", compileDefmethod},
		{"define-method-combination", "(name &key operator identity-with-one-argument documentation)", "Define a way to combine methods by an operator.", compileDefineMethodCombination},
		{"with-slots", "(slots instance &body body)", "Let names stand for slots of an instance.", compileWithSlots},
		{"with-accessors", "(slots instance &body body)", "Let names stand for calls of accessors on an instance.", compileWithSlots},
	}
}

// slotDefinition is a slot as written, with its initial form compiled.
type slotDefinition struct {
	slot
	initial            code
	shared             bool
	readers, accessors []Value
	writers            []Value
}

// classDefinition is a defclass or define-condition as written.
type classDefinition struct {
	name     *Symbol
	kind     classKind
	supers   []*Symbol
	slots    []slotDefinition
	report   code
	defaults []defaultArgument
	doc      Value
}

// compileClass compiles (operator name supers slots . options).
func (cp *Compiler) compileClass(form *Cons, sc *scope, kind classKind) expression {
	parts := cp.Arguments(form, 3, -1)
	d := &classDefinition{name: cp.unfrozen(cp.checkBindable(parts[0])).symbol, kind: kind}
	for _, super := range cp.Forms(parts[1]) {
		d.supers = append(d.supers, cp.TakeSymbol(super))
	}
	if len(d.supers) == 0 {
		d.supers = []*Symbol{CL(map[classKind]string{conditionClass: "CONDITION", standardClass: "STANDARD-OBJECT"}[kind])}
	}
	seen := map[*Symbol]bool{}
	for _, item := range cp.Forms(parts[2]) {
		s := cp.slotDefinition(item, sc)
		if seen[s.name] {
			cp.Fail(ProgramError, "the slot %s is defined twice", s.name.name)
		}
		seen[s.name] = true
		d.slots = append(d.slots, s)
	}
	cp.classOptions(d, parts[3:], sc)
	at := cp.site(form)
	return simple(func(c *Call, f *frame) Value {
		c.at = at
		class := c.defineClass(d, f)
		if kind == conditionClass {
			return class.name
		}
		return class
	})
}

func (c *Call) defineClass(d *classDefinition, f *frame) *Class {
	class := &Class{name: d.name, kind: d.kind}
	for _, super := range d.supers {
		k := c.environment.class(super)
		if k == nil || k.kind != d.kind && k.name.name != "STANDARD-OBJECT" {
			text := super.name + " is not a class that " + d.name.name + " can inherit from"
			if hint := c.environment.suggestClass(super); k == nil && hint != "" {
				text += "; " + hint
			}
			c.Fail(SimpleError, "%s", text)
		}
		class.supers = append(class.supers, k)
	}
	if d.report != nil {
		class.report = d.report(c, f)
	}
	for _, argument := range d.defaults {
		class.defaults = append(class.defaults, initial{argument.keyword, argument.value(c, f).(*Function)})
	}
	var own []slot
	for i := range d.slots {
		own = append(own, c.makeSlot(&d.slots[i], f))
	}
	c.inheritClass(class, own)
	c.environment.classes[d.name] = class
	if d.doc != nil {
		c.environment.global(d.name).document(symTypeWord, d.doc)
	}
	for i := range d.slots {
		c.defineAccessors(class, &d.slots[i])
	}
	return class
}

// defaultArgument is an entry of :default-initargs.
type defaultArgument struct {
	keyword *Symbol
	value   code
}

var (
	kwDefaultInitargs = Keyword("DEFAULT-INITARGS")
	kwDocumentation   = Keyword("DOCUMENTATION")
	kwMetaclass       = Keyword("METACLASS")
	symTypeWord       = CL("TYPE")
)

// classOptions reads the options behind the slots.
func (cp *Compiler) classOptions(d *classDefinition, options []Value, sc *scope) {
	seen := map[Value]bool{}
	for _, option := range options {
		o := cp.Forms(option)
		if len(o) == 0 || seen[o[0]] {
			cp.Fail(ProgramError, "malformed or repeated option %s in the definition of %s", Sketch(option, formLength), d.name.name)
		}
		seen[o[0]] = true
		switch {
		case o[0] == kwReport && d.kind == conditionClass && len(o) == 2:
			if _, ok := o[1].(*String); ok {
				d.report = constant(o[1]).run
			} else {
				d.report = cp.compile(Form(symFunction, o[1]), sc).one()
			}
		case o[0] == kwDefaultInitargs && len(o)%2 == 1:
			given := map[Value]bool{}
			for i := 1; i+1 < len(o); i += 2 {
				if given[o[i]] {
					cp.Fail(ProgramError, "the default argument %s is given twice", Sketch(o[i], formLength))
				}
				given[o[i]] = true
				value := cp.compileLambda("", NewList(Nil, o[i+1]), sc, lambdaKind{})
				d.defaults = append(d.defaults, defaultArgument{cp.TakeSymbol(o[i]), value})
			}
		case o[0] == kwDocumentation && len(o) == 2:
			d.doc = o[1]
		case o[0] == kwMetaclass && len(o) == 2:
		default:
			cp.Fail(ProgramError, "unknown option %s in the definition of %s", Sketch(option, formLength), d.name.name)
		}
	}
}

func (cp *Compiler) slotDefinition(item Value, sc *scope) slotDefinition {
	parts := []Value{item}
	if IsList(item) {
		parts = cp.Forms(item)
	}
	if len(parts)%2 != 1 {
		cp.Fail(ProgramError, "malformed slot %s", Sketch(item, formLength))
	}
	d := slotDefinition{slot: slot{name: cp.checkBindable(parts[0])}}
	seen := map[string]bool{}
	for i := 1; i+1 < len(parts); i += 2 {
		option, v := cp.Name(parts[i]), parts[i+1]
		switch option {
		case "INITARG", "ACCESSOR", "READER", "WRITER":
		default:
			if seen[option] {
				cp.Fail(ProgramError, "the slot option :%s is given twice", option)
			}
		}
		seen[option] = true
		switch option {
		case "INITARG":
			d.initargs = append(d.initargs, cp.TakeSymbol(v))
		case "INITFORM":
			d.initial = cp.compileLambda("", NewList(Nil, v), sc, lambdaKind{})
		case "ACCESSOR":
			d.accessors = append(d.accessors, cp.TakeSymbol(v))
		case "READER":
			d.readers = append(d.readers, cp.TakeSymbol(v))
		case "WRITER":
			d.writers = append(d.writers, v)
		case "ALLOCATION":
			d.shared = cp.Name(v) == "CLASS"
		case "TYPE", "DOCUMENTATION":
		default:
			cp.Fail(ProgramError, "unknown slot option :%s", option)
		}
	}
	return d
}

func (c *Call) makeSlot(d *slotDefinition, f *frame) slot {
	s := d.slot
	if d.initial != nil {
		s.initial = d.initial(c, f).(*Function)
	}
	if d.shared {
		var v Value
		if s.initial != nil {
			v = Single(c.apply(s.initial, nil))
		}
		s.shared = &v
	}
	return s
}

// defineAccessors makes readers and writers as methods of generic functions.
func (c *Call) defineAccessors(class *Class, d *slotDefinition) {
	name := d.name
	object, value := specializer{class: class}, specializer{class: c.environment.language.classes[T]}
	reads := func(reader Value) {
		read := &Function{name: definitionName(reader), least: 1, most: 1, one: func(c *Call, a Value) Value { return c.slotValue(a, name) }}
		c.addMethod(c.generic(reader), &method{specializers: []specializer{object}, function: read, parameters: parameterShape{required: 1}})
	}
	writes := func(writer Value) {
		write := &Function{name: definitionName(writer), least: 2, most: 2, two: func(c *Call, v, a Value) Value {
			c.setSlot(a, name, v)
			return v
		}}
		c.addMethod(c.generic(writer), &method{specializers: []specializer{value, object}, function: write, parameters: parameterShape{required: 2}})
	}
	for _, reader := range d.readers {
		reads(reader)
	}
	for _, accessor := range d.accessors {
		reads(accessor)
		writes(Form(symSetf, accessor))
	}
	for _, writer := range d.writers {
		writes(writer)
	}
}
