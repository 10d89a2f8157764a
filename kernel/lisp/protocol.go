package lisp

// The standard generic functions by which objects are made, changed and missed. Each
// is a builtin that does what its standard method does; when a note adds a method, the
// builtin becomes the least specific one.

var (
	symAllocate        = standardSymbol("ALLOCATE-INSTANCE")
	symInitialize      = standardSymbol("INITIALIZE-INSTANCE")
	symReinitialize    = standardSymbol("REINITIALIZE-INSTANCE")
	symShared          = standardSymbol("SHARED-INITIALIZE")
	symUpdateDifferent = standardSymbol("UPDATE-INSTANCE-FOR-DIFFERENT-CLASS")
	symSlotUnbound     = standardSymbol("SLOT-UNBOUND")
	symSlotMissing     = standardSymbol("SLOT-MISSING")
	symNoApplicable    = standardSymbol("NO-APPLICABLE-METHOD")
	symNoNext          = standardSymbol("NO-NEXT-METHOD")
	symPrintObject     = standardSymbol("PRINT-OBJECT")
	symSlotValue       = standardSymbol("SLOT-VALUE")
)

// standard calls a standard generic function, methods of the note included.
func (c *Call) standard(name *Symbol, args ...Value) Value {
	return c.apply(c.environment.global(name).function, args)
}

// hasMethods reports that the note added methods to a standard generic function.
func (c *Call) hasMethods(name *Symbol) bool {
	return c.environment.global(name).function.generic != nil
}

func protocolFunctions() []builtin {
	return []builtin{
		{name: "make-instance", list: "(class &rest initargs)", doc: "A new object of a class.", open: true, check: checkClassNamed, call: makeInstance},
		{name: "allocate-instance", list: "(class &rest initargs)", doc: "A new object without values.", open: true, call: func(c *Call, args []Value) Value {
			class := c.namedClass(args[0])
			if class.kind == builtinClass {
				c.fail(simpleError, "objects of %s cannot be made by make-instance", class.name.name)
			}
			return c.allocate(class)
		}},
		{name: "initialize-instance", list: "(object &rest initargs)", doc: "Fill a new object.", open: true, call: func(c *Call, args []Value) Value {
			return c.standard(symShared, append([]Value{args[0], T}, args[1:]...)...)
		}},
		{name: "reinitialize-instance", list: "(object &rest initargs)", doc: "Fill an object again.", open: true, call: func(c *Call, args []Value) Value {
			object := c.instance(args[0])
			c.checkInitargs(object.class, object, args[1:], symReinitialize, symShared)
			return c.standard(symShared, append([]Value{object, Nil}, args[1:]...)...)
		}},
		{name: "shared-initialize", list: "(object slot-names &rest initargs)", doc: "Fill slots by arguments and the named ones by their initial values.", open: true, call: func(c *Call, args []Value) Value {
			if len(args)%2 != 0 {
				c.fail(programError, "odd number of initialisation arguments")
			}
			c.fillSlots(c.instance(args[0]), args[1], args[2:])
			return args[0]
		}},
		{name: "change-class", list: "(object class &rest initargs)", doc: "Make an object one of another class.", open: true, call: changeClass},
		{name: "update-instance-for-different-class", list: "(previous current &rest initargs)", doc: "Fill the new slots of an object whose class changed.", open: true, call: updateDifferent},
		{name: "update-instance-for-redefined-class", list: "(object added discarded properties &rest initargs)", doc: "Fill the new slots of an object.", open: true, call: func(c *Call, args []Value) Value {
			return c.standard(symShared, append([]Value{args[0], args[1]}, args[4:]...)...)
		}},
		{name: "make-instances-obsolete", list: "(class)", doc: "The class.", open: true, one: func(c *Call, a Value) Value {
			c.namedClass(a)
			return a
		}},
		{name: "slot-unbound", list: "(class object name)", doc: "Called for the value of a slot that has none: an error.", open: true, many: true, call: func(c *Call, args []Value) Value {
			name := c.symbol(args[2])
			c.signalError(c.newCondition(unboundSlotClass, "The slot "+name.name+" is unbound in an object of class "+c.classOf(args[1]).name.name+".", "NAME", name, "INSTANCE", args[1]))
			return nil
		}},
		{name: "slot-missing", list: "(class object name operation &optional value)", doc: "Called for a slot that an object does not have: an error.", open: true, many: true, call: func(c *Call, args []Value) Value {
			name := c.symbol(args[2])
			c.signalError(c.newCondition(cellError, "The slot "+name.name+" is missing from an object of class "+c.classOf(args[1]).name.name+".", "NAME", name))
			return nil
		}},
		{name: "no-applicable-method", list: "(function &rest arguments)", doc: "Called when no method applies: an error.", open: true, many: true, call: func(c *Call, args []Value) Value {
			c.fail(simpleError, "there is no applicable method for the generic function %s when called with arguments %s", c.function(args[0]).name, c.shown(NewList(args[1:]...)))
			return nil
		}},
		{name: "no-next-method", list: "(function method &rest arguments)", doc: "Called by call-next-method when there is none: an error.", open: true, many: true, call: func(c *Call, args []Value) Value {
			c.fail(simpleError, "there is no next method for the generic function %s", c.function(args[0]).name)
			return nil
		}},
		{name: "print-object", list: "(object stream)", doc: "Print an object.", open: true, two: func(c *Call, object, stream Value) Value {
			p := printer{call: c, printControl: c.printControl(), plain: object}
			p.print(object)
			c.write(c.outputStream(stream), p.out)
			return object
		}},
		{name: "describe-object", list: "(object stream)", doc: "Describe an object.", open: true, many: true, two: func(c *Call, object, stream Value) Value {
			c.write(c.outputStream(stream), append(c.printedRunes(object, true), '\n'))
			return noValues
		}},
		{name: "make-load-form", list: "(object &optional environment)", doc: "An error: objects of notes have none.", open: true, many: true, call: func(c *Call, args []Value) Value {
			c.fail(simpleError, "there is no load form for %s", c.shown(args[0]))
			return nil
		}},
	}
}

func (c *Call) instance(v Value) *Instance {
	i, ok := v.(*Instance)
	if !ok {
		c.typeError(v, "STANDARD-OBJECT")
	}
	return i
}

func makeInstance(c *Call, args []Value) Value {
	class := c.namedClass(args[0])
	given := c.withDefaults(class, append([]Value(nil), args[1:]...))
	var object Value
	if class.kind == builtinClass || c.hasMethods(symAllocate) {
		object = c.standard(symAllocate, append([]Value{class}, given...)...)
	} else {
		object = c.allocate(class)
	}
	c.checkInitargs(class, object, given, symInitialize, symShared, symAllocate)
	object = single(object)
	switch {
	case c.hasMethods(symInitialize):
		c.standard(symInitialize, append([]Value{object}, given...)...)
	case c.hasMethods(symShared):
		c.standard(symShared, append([]Value{object, T}, given...)...)
	default:
		c.fillSlots(c.instance(object), T, given)
	}
	return object
}

func changeClass(c *Call, args []Value) Value {
	object, class := c.instance(args[0]), c.namedClass(args[1])
	if class.kind != standardClass || object.class.kind != standardClass {
		c.fail(simpleError, "an object of class %s cannot become one of %s", object.class.name.name, class.name.name)
	}
	previous := c.allocate(object.class)
	copy(previous.slots, object.slots)
	changed := c.allocate(class)
	c.work(len(class.slots) * len(previous.slots))
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
	var added builder
	for i := range current.class.slots {
		if s := &current.class.slots[i]; s.shared == nil && previous.class.index(s.name) < 0 {
			added.add(s.name)
		}
	}
	return c.standard(symShared, append([]Value{current, added.list()}, args[2:]...)...)
}
