package lisp

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
	return single(c.standard(symSlotMissing, append([]Value{c.classOf(object), object, name, operation}, more...)...))
}

func (c *Call) slotValue(object Value, name *Symbol) Value {
	i, index := c.slotIndex(object, name)
	if index < 0 {
		return c.missingSlot(object, name, symSlotValue)
	}
	v := i.get(index)
	if v == nil {
		return single(c.standard(symSlotUnbound, i.class, i, name))
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
		}
		if len(pair) != 2 || accessors && !isList(item) {
			cp.fail(programError, "malformed slot entry: %s", sketch(item, formLength))
		}
		place := call(symSlotValue, object, call(symQuote, pair[1]))
		if accessors {
			place = call(pair[1], object)
		}
		macros.add(NewList(pair[0], place))
	}
	body := form.Cdr.(*Cons).Cdr.(*Cons).Cdr
	return cp.compile(call(symLet, NewList(NewList(object, parts[1])), callStar(symSymbolMacrolet, body, macros.list())), sc)
}

// slotFunctions reach the slots of objects.
func slotFunctions() []builtin {
	return []builtin{
		{name: "slot-value", list: "(object name)", doc: "The value of a slot.", two: func(c *Call, a, b Value) Value { return c.slotValue(a, c.symbol(b)) }},
		{name: "slot-boundp", list: "(object name)", doc: "True if a slot has a value.", two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.symbol(b))
			if index < 0 {
				return Boolean(c.missingSlot(a, c.symbol(b), standardSymbol("SLOT-BOUNDP")) != Nil)
			}
			return Boolean(i.get(index) != nil)
		}},
		{name: "slot-makunbound", list: "(object name)", doc: "Take the value of a slot away.", two: func(c *Call, a, b Value) Value {
			i, index := c.slotIndex(a, c.symbol(b))
			if index < 0 {
				c.missingSlot(a, c.symbol(b), standardSymbol("SLOT-MAKUNBOUND"))
				return a
			}
			i.set(index, nil)
			return a
		}},
		{name: "slot-exists-p", list: "(object name)", doc: "True if an object has a slot.", two: func(c *Call, a, b Value) Value {
			_, index := c.slotIndex(a, c.symbol(b))
			return Boolean(index >= 0)
		}},
	}
}

// classFunctions find and name classes.
func classFunctions() []builtin {
	return []builtin{
		{name: "find-class", list: "(name &optional error environment)", doc: "The class of that name.", call: func(c *Call, args []Value) Value {
			if class := c.environment.class(c.symbol(args[0])); class != nil {
				return class
			}
			if len(args) == 1 || args[1] != Nil {
				c.noClass(args[0])
			}
			return Nil
		}},
		{name: "class-of", list: "(object)", doc: "The class of an object.", one: func(c *Call, a Value) Value { return c.classOf(a) }},
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
			copied := c.allocate(i.class)
			copy(copied.slots, i.slots)
			return copied
		}},
	}
}
