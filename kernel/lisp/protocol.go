package lisp

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
	return c.apply(c.environment.global(name).function, args)
}

// HasMethods reports that the note added methods to a standard generic function.
func (c *Call) HasMethods(name *Symbol) bool {
	return c.environment.global(name).function.generic != nil
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
		{Name: "slot-unbound", LambdaList: "(class object name)", Doc: "Called for the value of a slot that has none: an error.", Open: true, Many: true, Call: func(c *Call, args []Value) Value {
			name := c.TakeSymbol(args[2])
			c.signalError(c.newCondition(unboundSlotClass, "The slot "+name.name+" is unbound in an object of class "+c.classOf(args[1]).name.name+".", "NAME", name, "INSTANCE", args[1]))
			return nil
		}},
		{Name: "slot-missing", LambdaList: "(class object name operation &optional value)", Doc: "Called for a slot that an object does not have: an error.", Open: true, Many: true, Call: func(c *Call, args []Value) Value {
			name := c.TakeSymbol(args[2])
			c.signalError(c.newCondition(cellError, "The slot "+name.name+" is missing from an object of class "+c.classOf(args[1]).name.name+".", "NAME", name))
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
			c.Write(c.OutputStream(stream), append(c.printedRunes(object, true), '\n'))
			return noValues
		}},
		{Name: "make-load-form", LambdaList: "(object &optional environment)", Doc: "An error: objects of notes have none.", Open: true, Many: true, Call: func(c *Call, args []Value) Value {
			c.Fail(SimpleError, "there is no load form for %s", c.Shown(args[0]))
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
