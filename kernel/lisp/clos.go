package lisp

// classForms define classes, conditions and methods, and reach slots.
func classForms() []standardForm {
	return []standardForm{
		{"defclass", "(name superclasses slots &rest options)", "Define a class.", func(cp *compiler, form *Cons, sc *scope) expression { return cp.compileClass(form, sc, standardClass) }},
		{"define-condition", "(name parents slots &rest options)", "Define a class of conditions.", func(cp *compiler, form *Cons, sc *scope) expression { return cp.compileClass(form, sc, conditionClass) }},
		{"defgeneric", "(name lambda-list &rest options)", "Define a generic function.", compileDefgeneric},
		{"defmethod", "(name &rest qualifiers-lambda-list-and-body)", "Define a method of a generic function.", compileDefmethod},
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

// compileClass compiles (operator name supers slots . options).
func (cp *compiler) compileClass(form *Cons, sc *scope, kind classKind) expression {
	parts := cp.arguments(form, 3, -1)
	name := cp.unfrozen(cp.checkBindable(parts[0])).symbol
	var supers []*Symbol
	for _, super := range cp.forms(parts[1]) {
		supers = append(supers, cp.symbol(super))
	}
	if len(supers) == 0 && kind == conditionClass {
		supers = []*Symbol{standardSymbol("CONDITION")}
	}
	var slots []slotDefinition
	for _, item := range cp.forms(parts[2]) {
		slots = append(slots, cp.slotDefinition(item, sc))
	}
	report, defaults := cp.classOptions(parts[3:], sc)
	return simple(func(c *Call, f *frame) Value {
		class := &Class{name: name, kind: kind}
		for _, super := range supers {
			k := c.environment.class(super)
			if k == nil || k.kind != kind {
				c.fail(simpleError, "%s is not a class that %s can inherit from", super.name, name.name)
			}
			class.supers = append(class.supers, k)
		}
		if report != nil {
			class.report = report(c, f)
		}
		for _, d := range defaults {
			class.defaults = append(class.defaults, initial{d.keyword, d.value(c, f).(*Function)})
		}
		var own []slot
		for i := range slots {
			own = append(own, c.makeSlot(&slots[i], f))
		}
		class.inherit(own)
		c.environment.classes[name] = class
		for i := range slots {
			c.defineAccessors(class, &slots[i])
		}
		return class
	})
}

// defaultArgument is an entry of :default-initargs.
type defaultArgument struct {
	keyword *Symbol
	value   code
}

// classOptions reads :report and :default-initargs; other options have no effect.
func (cp *compiler) classOptions(options []Value, sc *scope) (report code, defaults []defaultArgument) {
	for _, option := range options {
		o := cp.forms(option)
		switch {
		case len(o) == 2 && o[0] == kwReport:
			if _, ok := o[1].(*String); ok {
				report = constant(o[1]).run
			} else {
				report = cp.compile(call(symFunction, o[1]), sc).one()
			}
		case len(o) > 0 && o[0] == kwDefaultInitargs:
			for i := 1; i+1 < len(o); i += 2 {
				value := cp.compileLambda("", NewList(Nil, o[i+1]), sc, lambdaKind{})
				defaults = append(defaults, defaultArgument{cp.symbol(o[i]), value})
			}
		}
	}
	return report, defaults
}

var kwDefaultInitargs = standardKeyword("DEFAULT-INITARGS")

func (cp *compiler) slotDefinition(item Value, sc *scope) slotDefinition {
	parts := []Value{item}
	if isList(item) {
		parts = cp.forms(item)
	}
	d := slotDefinition{slot: slot{name: cp.symbol(parts[0])}}
	for i := 1; i+1 < len(parts); i += 2 {
		option, v := cp.name(parts[i]), parts[i+1]
		switch option {
		case "INITARG":
			d.initargs = append(d.initargs, cp.symbol(v))
		case "INITFORM":
			d.initial = cp.compileLambda("", NewList(Nil, v), sc, lambdaKind{})
		case "ACCESSOR":
			d.accessors = append(d.accessors, v)
		case "READER":
			d.readers = append(d.readers, v)
		case "WRITER":
			d.writers = append(d.writers, v)
		case "ALLOCATION":
			d.shared = cp.name(v) == "CLASS"
		case "TYPE", "DOCUMENTATION":
		default:
			cp.fail(programError, "unknown slot option :%s", option)
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
			v = single(c.apply(s.initial, nil))
		}
		s.shared = &v
	}
	return s
}

// defineAccessors makes readers and writers as methods of generic functions.
func (c *Call) defineAccessors(class *Class, d *slotDefinition) {
	name := d.name
	read := &Function{name: name.name, least: 1, most: 1, one: func(c *Call, a Value) Value { return c.slotValue(a, name) }}
	write := &Function{name: name.name, least: 2, most: 2, two: func(c *Call, v, a Value) Value {
		c.setSlot(a, name, v)
		return v
	}}
	for _, reader := range append(d.readers, d.accessors...) {
		c.addMethod(reader, &method{specializers: []specializer{{class: class}}, function: read})
	}
	for _, accessor := range d.accessors {
		c.addMethod(call(symSetf, accessor), &method{specializers: []specializer{{}, {class: class}}, function: write})
	}
	for _, writer := range d.writers {
		c.addMethod(writer, &method{specializers: []specializer{{}, {class: class}}, function: write})
	}
}

// slotIndex finds a slot of an instance by name.
func (c *Call) slotIndex(object Value, name *Symbol) (*Instance, int) {
	i, ok := object.(*Instance)
	if !ok {
		c.typeError(object, "STANDARD-OBJECT")
	}
	index := i.class.index(name)
	if index < 0 {
		for j := range i.class.slots { // standard conditions name theirs in no package
			if i.class.slots[j].name.name == name.name {
				return i, j
			}
		}
		c.fail(simpleError, "the slot %s is missing from an object of class %s", name.name, i.class.name.name)
	}
	return i, index
}

func (c *Call) slotValue(object Value, name *Symbol) Value {
	i, index := c.slotIndex(object, name)
	v := i.get(index)
	if v == nil {
		c.signalError(c.newCondition(unboundSlotClass, "The slot "+name.name+" is unbound in an object of class "+i.class.name.name+".", "NAME", name, "INSTANCE", object))
	}
	return v
}

func (c *Call) setSlot(object Value, name *Symbol, v Value) {
	i, index := c.slotIndex(object, name)
	i.set(index, v)
}

func setSlotValue(c *Call, args []Value) Value {
	c.setSlot(args[1], c.symbol(args[2]), args[0])
	return args[0]
}

// compileWithSlots handles with-slots and with-accessors: names that stand for places.
func compileWithSlots(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	object := cp.gensym("OBJECT")
	accessors := form.Car == standardSymbol("WITH-ACCESSORS")
	var macros builder
	for _, item := range cp.forms(parts[0]) {
		pair := []Value{item, item}
		if isList(item) {
			pair = cp.forms(item)
			if len(pair) != 2 {
				cp.fail(programError, "malformed slot entry: %s", sketch(item, formLength))
			}
		}
		place := call(standardSymbol("SLOT-VALUE"), object, call(symQuote, pair[1]))
		if accessors {
			place = call(pair[1], object)
		}
		macros.add(NewList(pair[0], place))
	}
	body := form.Cdr.(*Cons).Cdr.(*Cons).Cdr
	return cp.compile(call(symLet, NewList(NewList(object, parts[1])), callStar(symSymbolMacrolet, body, macros.list())), sc)
}

// classFunctions make and inspect objects.
func classFunctions() []builtin {
	return []builtin{
		{name: "make-instance", list: "(class &rest initargs)", doc: "A new object of a class.", call: func(c *Call, args []Value) Value {
			class, ok := args[0].(*Class)
			if !ok {
				class = c.environment.class(c.symbol(args[0]))
			}
			if class == nil {
				c.fail(simpleError, "there is no class named %s", c.shown(args[0]))
			}
			object := c.instantiate(class, args[1:])
			c.initialize(object, args[1:])
			return object
		}},
		{name: "slot-value", list: "(object name)", doc: "The value of a slot.", two: func(c *Call, a, b Value) Value { return c.slotValue(a, c.symbol(b)) }},
		{name: "slot-boundp", list: "(object name)", doc: "True if a slot has a value.", two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.symbol(b))
			return Boolean(i.get(index) != nil)
		}},
		{name: "slot-makunbound", list: "(object name)", doc: "Take the value of a slot away.", two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.symbol(b))
			i.set(index, nil)
			return a
		}},
		{name: "slot-exists-p", list: "(object name)", doc: "True if an object has a slot.", two: func(c *Call, a, b Value) Value {
			i, ok := a.(*Instance)
			return Boolean(ok && i.class.index(c.symbol(b)) >= 0)
		}},
		{name: "find-class", list: "(name &optional error environment)", doc: "The class of that name.", call: func(c *Call, args []Value) Value {
			if class := c.environment.class(c.symbol(args[0])); class != nil {
				return class
			}
			if len(args) > 1 && args[1] == Nil {
				return Nil
			}
			c.fail(simpleError, "there is no class named %s", c.shown(args[0]))
			return nil
		}},
		{name: "class-of", list: "(object)", doc: "The class of an object.", one: func(c *Call, a Value) Value {
			if i, ok := a.(*Instance); ok {
				return i.class
			}
			kind := c.typeOf(a)
			if cell, ok := kind.(*Cons); ok {
				kind = cell.Car
			}
			return &Class{name: kind.(*Symbol)}
		}},
		{name: "class-name", list: "(class)", doc: "The name of a class.", one: func(c *Call, a Value) Value {
			class, ok := a.(*Class)
			if !ok {
				c.typeError(a, "CLASS")
			}
			return class.name
		}},
		{name: "copy-structure", list: "(structure)", doc: "A copy of a structure.", one: func(c *Call, a Value) Value {
			i, ok := a.(*Instance)
			if !ok || i.class.kind != structureClass {
				c.typeError(a, "STRUCTURE-OBJECT")
			}
			c.charge(closureBytes + len(i.slots)*valueBytes)
			return &Instance{class: i.class, slots: append([]Value(nil), i.slots...)}
		}},
	}
}

// initialize runs the note's methods on initialize-instance, if it has any.
func (c *Call) initialize(object *Instance, args []Value) {
	g := c.environment.global(standardSymbol("INITIALIZE-INSTANCE"))
	if g.function != nil && g.function.generic != nil {
		c.apply(g.function, append([]Value{object}, args...))
	}
}
