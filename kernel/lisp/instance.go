package lisp

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
	c.Charge(ObjectBytes + len(class.slots)*ValueBytes)
	return &Instance{class: class, slots: make([]Value, len(class.slots))}
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
			c.Charge(2 * ValueBytes)
			args = append(args[:len(args):len(args)], d.keyword, Single(c.apply(d.value, nil)))
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
		if gf := c.environment.global(operation).function.generic; gf != nil {
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
