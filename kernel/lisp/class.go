package lisp

// Class is a structure, condition or standard class, or a built-in type that methods
// can specialise on.
type Class struct {
	name *Symbol
	kind classKind
	// supers are the direct superclasses, precedence the class and all its ancestors,
	// most specific first.
	supers, precedence []*Class
	slots              []slot
	// report tells a condition of this class, a string or a function; nil: inherited.
	report Value
	// defaults are :default-initargs: keyword, function of no arguments, …
	defaults []initial
	// printed is the name structures print by after #S, and prefix of accessors.
	printer Value
}

type classKind int

const (
	builtinClass classKind = iota
	conditionClass
	structureClass
	standardClass
)

// slot is one slot of an instance, its own or inherited.
type slot struct {
	name     *Symbol
	initargs []*Symbol
	// initial makes the value when no initarg is given; nil leaves it unbound.
	initial *Function
	shared  *Value // :allocation :class
	// form is the initial form of a structure, which its constructors evaluate.
	form Value
}

type initial struct {
	keyword *Symbol
	value   *Function
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

func (k *Class) isA(ancestor *Class) bool {
	for _, class := range k.precedence {
		if class == ancestor {
			return true
		}
	}
	return false
}

func (k *Class) index(name *Symbol) int {
	for i := range k.slots {
		if k.slots[i].name == name {
			return i
		}
	}
	return -1
}

// inherit computes precedence and inherited slots from the direct superclasses: depth
// first, duplicates removed except the last, which orders any consistent hierarchy
// notes have as the standard does.
func (k *Class) inherit(own []slot) {
	var order []*Class
	for _, super := range k.supers {
		order = append(order, super.precedence...)
	}
	k.precedence = []*Class{k}
	for i, class := range order {
		repeated := false
		for _, later := range order[i+1:] {
			repeated = repeated || later == class
		}
		if !repeated {
			k.precedence = append(k.precedence, class)
		}
	}
	k.slots = nil
	for i := len(k.supers) - 1; i >= 0; i-- {
		k.merge(k.supers[i].slots)
	}
	k.merge(own)
	for i := len(k.precedence) - 1; i > 0; i-- {
		k.defaults = append(k.precedence[i].defaults[:len(k.precedence[i].defaults):len(k.precedence[i].defaults)], k.defaults...)
	}
}

func (k *Class) merge(slots []slot) {
	for _, s := range slots {
		i := k.index(s.name)
		if i < 0 {
			k.slots = append(k.slots, s)
			continue
		}
		s.initargs = append(s.initargs, k.slots[i].initargs...)
		if s.initial == nil {
			s.initial = k.slots[i].initial
		}
		k.slots[i] = s
	}
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

// named returns the value of a slot by name, Nil when there is none.
func (i *Instance) named(name string) Value {
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

// instantiate makes an instance from initialisation arguments.
func (c *Call) instantiate(class *Class, args []Value) *Instance {
	if len(args)%2 != 0 {
		c.fail(programError, "odd number of initialisation arguments for %s", class.name.name)
	}
	c.charge(closureBytes + len(class.slots)*valueBytes)
	object := &Instance{class: class, slots: make([]Value, len(class.slots))}
	for i := 0; i < len(args); i += 2 {
		c.checkInitarg(class, args[i])
	}
	for i := range class.slots {
		s := &class.slots[i]
		if v := initarg(s, args); v != nil {
			object.set(i, v)
			continue
		}
		if v := c.defaultInitarg(class, s); v != nil {
			object.set(i, v)
			continue
		}
		if s.initial != nil && object.get(i) == nil {
			object.set(i, single(c.apply(s.initial, nil)))
		}
	}
	return object
}

func initarg(s *slot, args []Value) Value {
	for i := 0; i+1 < len(args); i += 2 {
		for _, keyword := range s.initargs {
			if args[i] == keyword {
				return args[i+1]
			}
		}
	}
	return nil
}

func (c *Call) defaultInitarg(class *Class, s *slot) Value {
	for i := len(class.defaults) - 1; i >= 0; i-- {
		for _, keyword := range s.initargs {
			if class.defaults[i].keyword == keyword {
				return single(c.apply(class.defaults[i].value, nil))
			}
		}
	}
	return nil
}

func (c *Call) checkInitarg(class *Class, keyword Value) {
	if keyword == kwAllowOtherKeys {
		return
	}
	for i := range class.slots {
		for _, known := range class.slots[i].initargs {
			if keyword == known {
				return
			}
		}
	}
	c.fail(programError, "unknown initialisation argument %s for %s", c.shown(keyword), class.name.name)
}

// class returns the class named by symbol, nil if there is none.
func (e *Environment) class(symbol *Symbol) *Class {
	if class, ok := e.classes[symbol]; ok {
		return class
	}
	return e.language.classes[symbol]
}
