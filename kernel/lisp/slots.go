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

func setSlotValue(c *Call, args []Value) Value {
	c.setSlot(args[1], c.TakeSymbol(args[2]), args[0])
	return args[0]
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
		{Name: "find-class", LambdaList: "(name &optional error environment)", Doc: "The class of that name.", Call: func(c *Call, args []Value) Value {
			if class := c.environment.class(c.TakeSymbol(args[0])); class != nil {
				return class
			}
			if len(args) == 1 || args[1] != Nil {
				c.noClass(args[0])
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
