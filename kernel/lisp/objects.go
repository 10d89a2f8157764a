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
		c.global(d.name).document(symTypeWord, d.doc)
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

// Instance is an object of a structure, condition or standard class.
type Instance struct {
	class *Class
	slots []Value // nil: unbound
	// message is what a condition made by the evaluator says; cause the Go error
	// behind it.
	message string
	cause   error
}

// get returns the value of a slot, nil if it is unbound.
func (i *Instance) get(index int) Value {
	if shared := i.class.slots[index].shared; shared != nil {
		return *shared
	}
	return i.slots[index]
}

func (i *Instance) set(index int, v Value) {
	if shared := i.class.slots[index].shared; shared != nil {
		*shared = v
		return
	}
	i.slots[index] = v
}

// Slot returns the value of a slot by name, Nil when there is none.
func (i *Instance) Slot(name string) Value {
	for j := range i.class.slots {
		if i.class.slots[j].name.name == name {
			if v := i.get(j); v != nil {
				return v
			}
			return Nil
		}
	}
	return Nil
}

// allocate makes an instance without values.
func (c *Call) allocate(class *Class) *Instance {
	return Allocate(c, Instance{class: class, slots: MakeSlice[Value](c, len(class.slots))})
}

// instantiate makes a condition from initialisation arguments, which no methods of the
// note take part in.
func (c *Call) instantiate(class *Class, args []Value) *Instance {
	if len(args)%2 != 0 {
		c.Fail(ProgramError, "odd number of initialisation arguments for %s", class.name.name)
	}
	object := c.allocate(class)
	c.fillSlots(object, T, c.withDefaults(class, args))
	return object
}

// withDefaults adds the default arguments that args does not give.
func (c *Call) withDefaults(class *Class, args []Value) []Value {
	for _, d := range class.defaults {
		if _, given := initarg(args, d.keyword); !given {
			args = Append(c, args[:len(args):len(args)], Value(d.keyword), Single(c.apply(d.value, nil)))
		}
	}
	return args
}

// initarg finds a keyword among initialisation arguments.
func initarg(args []Value, keywords ...*Symbol) (Value, bool) {
	for i := 0; i+1 < len(args); i += 2 {
		for _, keyword := range keywords {
			if args[i] == keyword {
				return args[i+1], true
			}
		}
	}
	return nil, false
}

// fillSlots is what shared-initialize does: slots get the values of their arguments,
// and those named, T for all, that have none yet get their initial value.
func (c *Call) fillSlots(object *Instance, names Value, args []Value) {
	c.Work(len(object.slots) * len(args))
	var chosen []Value
	if names != T {
		chosen = c.Slice(names)
	}
	for i := range object.class.slots {
		s := &object.class.slots[i]
		if v, given := initarg(args, s.initargs...); given {
			object.set(i, v)
			continue
		}
		if s.initial == nil || object.get(i) != nil {
			continue
		}
		wanted := names == T
		for _, name := range chosen {
			wanted = wanted || name == s.name
		}
		if wanted {
			object.set(i, Single(c.apply(s.initial, nil)))
		}
	}
}

// checkInitargs refuses arguments that neither a slot nor a method of the operations
// takes.
func (c *Call) checkInitargs(class *Class, object Value, args []Value, operations ...*Symbol) {
	if len(args)%2 != 0 {
		c.Fail(ProgramError, "odd number of initialisation arguments for %s", class.name.name)
	}
	if open, _ := initarg(args, kwAllowOtherKeys); open != nil && open != Nil {
		return
	}
	known := &keySet{}
	for _, operation := range operations {
		if gf := c.global(operation).function.generic; gf != nil {
			c.methodKeys(gf, object, args, known)
		}
	}
	if known.open {
		return
	}
	for i := 0; i < len(args); i += 2 {
		c.Work(len(class.slots))
		if args[i] != kwAllowOtherKeys && !class.takes(args[i]) && !known.has(args[i]) {
			c.Fail(ProgramError, "unknown initialisation argument %s for %s", c.Shown(args[i]), class.name.name)
		}
	}
}

// takes reports that a slot is given its value by keyword.
func (k *Class) takes(keyword Value) bool {
	for i := range k.slots {
		for _, known := range k.slots[i].initargs {
			if keyword == known {
				return true
			}
		}
	}
	return false
}

// methodKeys collects the keywords of the methods of gf that apply to an object,
// whatever their other arguments.
func (c *Call) methodKeys(gf *generic, object Value, args []Value, known *keySet) {
	for _, m := range gf.methods {
		c.Step()
		if len(m.specializers) == 0 {
			continue
		}
		if _, ok := c.distance(&m.specializers[0], object); ok {
			known.add(m)
		}
	}
}

// keySet is the keywords that some methods take.
type keySet struct {
	keys []*Symbol
	open bool
}

func (k *keySet) add(m *method) {
	k.keys = append(k.keys, m.parameters.keys...)
	k.open = k.open || m.parameters.open
}

func (k *keySet) has(keyword Value) bool {
	for _, known := range k.keys {
		if keyword == known {
			return true
		}
	}
	return false
}

// The standard generic functions by which objects are made, changed and missed. Each
// is a builtin that does what its standard method does; when a note adds a method, the
// builtin becomes the least specific one.

var (
	symAllocate        = CL("ALLOCATE-INSTANCE")
	symInitialize      = CL("INITIALIZE-INSTANCE")
	symReinitialize    = CL("REINITIALIZE-INSTANCE")
	symShared          = CL("SHARED-INITIALIZE")
	symUpdateDifferent = CL("UPDATE-INSTANCE-FOR-DIFFERENT-CLASS")
	symSlotUnbound     = CL("SLOT-UNBOUND")
	symSlotMissing     = CL("SLOT-MISSING")
	symNoApplicable    = CL("NO-APPLICABLE-METHOD")
	symNoNext          = CL("NO-NEXT-METHOD")
	symPrintObject     = CL("PRINT-OBJECT")
	symSlotValue       = CL("SLOT-VALUE")
)

// standard calls a standard generic function, methods of the note included.
func (c *Call) standard(name *Symbol, args ...Value) Value {
	return c.apply(c.global(name).function, args)
}

// HasMethods reports that the note added methods to a standard generic function.
func (c *Call) HasMethods(name *Symbol) bool {
	return c.global(name).function.generic != nil
}

func protocolFunctions() []Builtin {
	return []Builtin{
		{Name: "make-instance", LambdaList: "(class &rest initargs)", Doc: "A new object of a class.", Open: true, Check: checkClassNamed, Call: makeInstance},
		{Name: "allocate-instance", LambdaList: "(class &rest initargs)", Doc: "A new object without values.", Open: true, Call: func(c *Call, args []Value) Value {
			class := c.namedClass(args[0])
			if class.kind == builtinClass {
				c.Fail(SimpleError, "objects of %s cannot be made by make-instance", class.name.name)
			}
			return c.allocate(class)
		}},
		{Name: "initialize-instance", LambdaList: "(object &rest initargs)", Doc: "Fill a new object.", Open: true, Call: func(c *Call, args []Value) Value {
			return c.standard(symShared, append([]Value{args[0], T}, args[1:]...)...)
		}},
		{Name: "reinitialize-instance", LambdaList: "(object &rest initargs)", Doc: "Fill an object again.", Open: true, Call: func(c *Call, args []Value) Value {
			object := c.instance(args[0])
			c.checkInitargs(object.class, object, args[1:], symReinitialize, symShared)
			return c.standard(symShared, append([]Value{object, Nil}, args[1:]...)...)
		}},
		{Name: "shared-initialize", LambdaList: "(object slot-names &rest initargs)", Doc: "Fill slots by arguments and the named ones by their initial values.", Open: true, Call: func(c *Call, args []Value) Value {
			if len(args)%2 != 0 {
				c.Fail(ProgramError, "odd number of initialisation arguments")
			}
			c.fillSlots(c.instance(args[0]), args[1], args[2:])
			return args[0]
		}},
		{Name: "change-class", LambdaList: "(object class &rest initargs)", Doc: "Make an object one of another class.", Open: true, Call: changeClass},
		{Name: "update-instance-for-different-class", LambdaList: "(previous current &rest initargs)", Doc: "Fill the new slots of an object whose class changed.", Open: true, Call: updateDifferent},
		{Name: "update-instance-for-redefined-class", LambdaList: "(object added discarded properties &rest initargs)", Doc: "Fill the new slots of an object.", Open: true, Call: func(c *Call, args []Value) Value {
			return c.standard(symShared, append([]Value{args[0], args[1]}, args[4:]...)...)
		}},
		{Name: "make-instances-obsolete", LambdaList: "(class)", Doc: "The class.", Open: true, One: func(c *Call, a Value) Value {
			c.namedClass(a)
			return a
		}},
		{Name: "slot-unbound", LambdaList: "(class object name)", Doc: "Called for the value of a slot that has none: an error.", Open: true, Many: true, Named: func(c *Call, args Args) Value {
			name, object := c.TakeSymbol(args.Get("name")), args.Get("object")
			c.signalError(c.newCondition(unboundSlotClass, "The slot "+name.name+" is unbound in an object of class "+c.classOf(object).name.name+".", "NAME", name, "INSTANCE", object))
			return nil
		}},
		{Name: "slot-missing", LambdaList: "(class object name operation &optional value)", Doc: "Called for a slot that an object does not have: an error.", Open: true, Many: true, Named: func(c *Call, args Args) Value {
			name := c.TakeSymbol(args.Get("name"))
			c.signalError(c.newCondition(cellError, "The slot "+name.name+" is missing from an object of class "+c.classOf(args.Get("object")).name.name+".", "NAME", name))
			return nil
		}},
		{Name: "no-applicable-method", LambdaList: "(function &rest arguments)", Doc: "Called when no method applies: an error.", Open: true, Many: true, Call: func(c *Call, args []Value) Value {
			c.Fail(SimpleError, "there is no applicable method for the generic function %s when called with arguments %s", c.Function(args[0]).name, c.Shown(NewList(args[1:]...)))
			return nil
		}},
		{Name: "no-next-method", LambdaList: "(function method &rest arguments)", Doc: "Called by call-next-method when there is none: an error.", Open: true, Many: true, Call: func(c *Call, args []Value) Value {
			c.Fail(SimpleError, "there is no next method for the generic function %s", c.Function(args[0]).name)
			return nil
		}},
		{Name: "print-object", LambdaList: "(object stream)", Doc: "Print an object.", Open: true, Two: func(c *Call, object, stream Value) Value {
			p := printer{call: c, printControl: c.printControl(), plain: object}
			p.print(object)
			c.Write(c.OutputStream(stream), p.out)
			return object
		}},
		{Name: "describe-object", LambdaList: "(object stream)", Doc: "Describe an object.", Open: true, Many: true, Two: func(c *Call, object, stream Value) Value {
			s := c.OutputStream(stream)
			c.Write(s, c.printedRunes(object, true))
			c.Write(s, []rune{'\n'})
			return noValues
		}},
		{Name: "make-load-form", LambdaList: "(object &optional environment)", Doc: "An error: objects of notes have none.", Open: true, Many: true, Named: func(c *Call, args Args) Value {
			c.Fail(SimpleError, "there is no load form for %s", c.Shown(args.Get("object")))
			return nil
		}},
	}
}

func (c *Call) instance(v Value) *Instance {
	i, ok := v.(*Instance)
	if !ok {
		c.TypeError(v, "STANDARD-OBJECT")
	}
	return i
}

func makeInstance(c *Call, args []Value) Value {
	class := c.namedClass(args[0])
	given := c.withDefaults(class, append([]Value(nil), args[1:]...))
	var object Value
	if class.kind == builtinClass || c.HasMethods(symAllocate) {
		object = c.standard(symAllocate, append([]Value{class}, given...)...)
	} else {
		object = c.allocate(class)
	}
	c.checkInitargs(class, object, given, symInitialize, symShared, symAllocate)
	object = Single(object)
	switch {
	case c.HasMethods(symInitialize):
		c.standard(symInitialize, append([]Value{object}, given...)...)
	case c.HasMethods(symShared):
		c.standard(symShared, append([]Value{object, T}, given...)...)
	default:
		c.fillSlots(c.instance(object), T, given)
	}
	return object
}

func changeClass(c *Call, args []Value) Value {
	object, class := c.instance(args[0]), c.namedClass(args[1])
	if class.kind != standardClass || object.class.kind != standardClass {
		c.Fail(SimpleError, "an object of class %s cannot become one of %s", object.class.name.name, class.name.name)
	}
	previous := c.allocate(object.class)
	copy(previous.slots, object.slots)
	changed := c.allocate(class)
	c.Work(len(class.slots) * len(previous.slots))
	for i := range class.slots {
		if j := previous.class.index(class.slots[i].name); j >= 0 && class.slots[i].shared == nil {
			changed.slots[i] = previous.get(j)
		}
	}
	object.class, object.slots = class, changed.slots
	c.standard(symUpdateDifferent, append([]Value{previous, object}, args[2:]...)...)
	return object
}

func updateDifferent(c *Call, args []Value) Value {
	previous, current := c.instance(args[0]), c.instance(args[1])
	c.checkInitargs(current.class, current, args[2:], symShared)
	added := NewListBuilder(c)
	for i := range current.class.slots {
		if s := &current.class.slots[i]; s.shared == nil && previous.class.index(s.name) < 0 {
			added.Add(s.name)
		}
	}
	return c.standard(symShared, append([]Value{current, added.List()}, args[2:]...)...)
}
