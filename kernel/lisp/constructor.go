package lisp

// construct makes an object of a structure from the values of its slots.
func (c *Call) construct(class *Class, r *record, args []Value) Value {
	c.Charge(ObjectBytes + len(args)*ValueBytes)
	for i := range class.slots {
		c.checkSlot(&class.slots[i], args[i])
	}
	if r == nil {
		return &Instance{class: class, slots: append([]Value(nil), args...)}
	}
	c.ChargeMany(r.size, ConsBytes)
	parts := make([]Value, r.size)
	for i := range parts {
		parts[i] = Nil
	}
	for i, position := range r.positions {
		parts[position] = args[i]
	}
	for _, tag := range r.tags {
		parts[tag.position] = tag.name
	}
	if r.vector {
		return c.NewVector(parts)
	}
	return listStar(parts, Nil)
}

func (c *Call) checkSlot(s *slot, v Value) {
	if s.kind != nil && !c.typep(v, s.kind) {
		c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" of the slot "+s.name.name+" is not of type "+c.Shown(s.kind)+".", "DATUM", v, "EXPECTED-TYPE", s.kind))
	}
}

// constructor makes the defun of a constructor: by keywords, or by a lambda list.
func (cp *Compiler) constructor(class *Class, r *record, spec []Value) Value {
	make := NewList(symQuote, &Function{name: "MAKE-STRUCTURE", most: -1, call: func(c *Call, args []Value) Value { return c.construct(class, r, args) }})
	passed := NewListBuilder(cp.Call)
	parameters := NewListBuilder(cp.Call)
	if len(spec) == 1 {
		parameters.Add(symKey)
		for i := range class.slots {
			s := &class.slots[i]
			variable := cp.Gensym(s.name.name) // initial forms do not see each other's slots
			parameters.Add(NewList(NewList(s.initargs[0], variable), s.initialForm()))
			passed.Add(variable)
		}
		return Form(symDefun, spec[0], parameters.List(), FormStar(symFuncall, passed.List(), make))
	}
	named := map[*Symbol]bool{}
	section := symLambda
	for _, item := range cp.Forms(spec[1]) {
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			section = word
			parameters.Add(item)
			continue
		}
		name := item
		if cell, ok := item.(*Cons); ok {
			name = cell.Car
			if pair, ok := name.(*Cons); ok {
				name = nthOf(pair, 1)
			}
		}
		symbol := cp.checkBindable(name)
		at := class.index(symbol)
		defaulted := section == symOptional || section == symKey || section == symAux
		if cell, ok := item.(*Cons); at >= 0 && defaulted && (!ok || cell.Cdr == Nil) {
			if ok {
				name = cell.Car
			}
			item = NewList(name, class.slots[at].initialForm())
		}
		named[symbol] = true
		parameters.Add(item)
	}
	for i := range class.slots {
		if s := &class.slots[i]; named[s.name] {
			passed.Add(s.name)
		} else {
			passed.Add(s.initialForm())
		}
	}
	return Form(symDefun, spec[0], parameters.List(), FormStar(symFuncall, passed.List(), make))
}

// nthOf is an element of a list, Nil if there is none.
func nthOf(list *Cons, n int) Value {
	items, _ := Slice(list, n+1)
	if n < len(items) {
		return items[n]
	}
	return Nil
}

func (s *slot) initialForm() Value {
	if s.form == nil {
		return Nil
	}
	return s.form
}

// structureFunctions is a function that defines accessors, predicate and copier.
func (cp *Compiler) structureFunctions(o *structureOptions, class *Class, r *record) *Function {
	accessors := make([]*Symbol, len(class.slots))
	for i := range class.slots {
		accessors[i] = cp.interned(o.prefix + class.slots[i].name.name)
		cp.definable(accessors[i])
	}
	return &Function{name: "DEFSTRUCT", call: func(c *Call, _ []Value) Value {
		c.ChargeMany(len(accessors), 4*ObjectBytes)
		for i, accessor := range accessors {
			if o.include != nil && c.inheritedAccessor(accessor, class, i) {
				continue
			}
			g := c.environment.global(accessor)
			g.function, g.macro, g.setter = structureReader(accessor.name, class, r, i), nil, nil
			if !class.slots[i].readOnly {
				g.setter = structureWriter(accessor.name, class, r, i)
			}
		}
		if o.predicate != nil {
			c.definable(o.predicate).function = structurePredicate(o.predicate.name, class, r)
		}
		if o.copier != nil {
			c.definable(o.copier).function = structureCopier(o.copier.name, class, r)
		}
		return Nil
	}}
}

// inheritedAccessor reports that the accessor is that of the included structure already.
func (c *Call) inheritedAccessor(accessor *Symbol, class *Class, i int) bool {
	fn := c.environment.global(accessor).function
	return i < len(class.supers[0].slots) && fn != nil && fn.accesses == class.supers[0]
}

func (c *Call) notStructure(v Value, class *Class) {
	c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" is not of type "+class.name.name+".", "DATUM", v, "EXPECTED-TYPE", class.name))
}

func (c *Call) structure(v Value, class *Class) *Instance {
	i, ok := v.(*Instance)
	if !ok || i.class != class && !i.class.isA(class) {
		c.notStructure(v, class)
	}
	return i
}

func structureReader(name string, class *Class, r *record, index int) *Function {
	fn := &Function{name: name, least: 1, most: 1, accesses: class}
	fn.one = func(c *Call, a Value) Value { return c.structure(a, class).slots[index] }
	if r != nil {
		position := r.positions[index]
		fn.one = func(c *Call, a Value) Value { return elt(c, a, Count(position)) }
	}
	return fn
}

func structureWriter(name string, class *Class, r *record, index int) *Function {
	s := &class.slots[index]
	return &Function{name: "(SETF " + name + ")", least: 2, most: 2, two: func(c *Call, v, a Value) Value {
		c.checkSlot(s, v)
		if r != nil {
			c.setElement(a, r.positions[index], v)
		} else {
			c.structure(a, class).slots[index] = v
		}
		return v
	}}
}

func structurePredicate(name string, class *Class, r *record) *Function {
	return &Function{name: name, least: 1, most: 1, one: func(c *Call, a Value) Value {
		if r == nil {
			i, ok := a.(*Instance)
			return Boolean(ok && i.class.isA(class))
		}
		tag := r.tags[len(r.tags)-1]
		if _, isList := a.(*Cons); isList == r.vector || !IsSequence(a) {
			return Nil
		}
		if r.vector {
			return Boolean(c.Length(a) > tag.position && elt(c, a, Count(tag.position)) == Value(tag.name))
		}
		for i := 0; i < tag.position; i++ {
			cell, ok := a.(*Cons)
			if !ok {
				return Nil
			}
			a = cell.Cdr
		}
		cell, ok := a.(*Cons)
		return Boolean(ok && cell.Car == Value(tag.name))
	}}
}

func structureCopier(name string, class *Class, r *record) *Function {
	return &Function{name: name, least: 1, most: 1, one: func(c *Call, a Value) Value {
		if r == nil {
			original := c.structure(a, class)
			copied := c.allocate(original.class)
			copy(copied.slots, original.slots)
			return copied
		}
		return c.funcall(CL("COPY-SEQ"), []Value{a})
	}}
}
