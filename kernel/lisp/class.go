package lisp

import "slices"

// Class is a structure, condition or standard class, or a class of built-in objects.
type Class struct {
	name *Symbol
	kind classKind
	// supers are the direct superclasses, precedence the class and all its ancestors,
	// most specific first.
	supers, precedence []*Class
	// direct are the slots of the class's own definition, slots all of its instances.
	direct, slots []slot
	// report tells a condition of this class, a string or a function; nil: inherited.
	report Value
	// defaults are :default-initargs, those of the class itself first.
	defaults []initial
	// printer is the function a structure asks to be printed by.
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
	// kind is the type a structure's slot is declared to have, nil for any.
	kind Value
	// readOnly slots of a structure cannot be stored into.
	readOnly bool
}

type initial struct {
	keyword *Symbol
	value   *Function
}

func (k *Class) isA(ancestor *Class) bool {
	return slices.Contains(k.precedence, ancestor)
}

func (k *Class) index(name *Symbol) int {
	for i := range k.slots {
		if k.slots[i].name == name {
			return i
		}
	}
	return -1
}

// inherit computes precedence, slots and default arguments from the direct
// superclasses. It fails when the order of superclasses contradicts itself.
func (k *Class) inherit(own []slot) bool {
	k.direct = own
	var ok bool
	if k.precedence, ok = k.linearise(); !ok {
		return false
	}
	k.slots = nil
	for i := len(k.precedence) - 1; i >= 0; i-- {
		k.merge(k.precedence[i].direct)
	}
	for _, super := range k.precedence[1:] {
		for _, d := range super.defaults {
			if !k.hasDefault(d.keyword) {
				k.defaults = append(k.defaults, d)
			}
		}
	}
	return true
}

func (k *Class) hasDefault(keyword *Symbol) bool {
	for _, d := range k.defaults {
		if d.keyword == keyword {
			return true
		}
	}
	return false
}

// linearise sorts the class and its ancestors so that each stands before its
// superclasses, and those in the order they were named. Among several that could be
// next it takes the one with a subclass furthest to the right, as the standard says.
func (k *Class) linearise() (order []*Class, ok bool) {
	all := k.ancestors()
	remaining := slices.Clone(all)
	for len(remaining) > 0 {
		best, bestAt := -1, -1
		for i, class := range remaining {
			if class.precededBy(remaining, all) {
				continue
			}
			at := -1
			for j, before := range order {
				if slices.Contains(before.supers, class) {
					at = j
				}
			}
			if best < 0 || at > bestAt {
				best, bestAt = i, at
			}
		}
		if best < 0 {
			return nil, false
		}
		order = append(order, remaining[best])
		remaining = slices.Delete(remaining, best, best+1)
	}
	return order, true
}

// ancestors are the class and all its superclasses, each once.
func (k *Class) ancestors() []*Class {
	found := []*Class{k}
	for _, super := range k.supers {
		for _, class := range super.precedence {
			if !slices.Contains(found, class) {
				found = append(found, class)
			}
		}
	}
	return found
}

// precededBy reports that one of the remaining classes must come before the class: a
// subclass, or one that some class names in front of it.
func (k *Class) precededBy(remaining, all []*Class) bool {
	for _, class := range all {
		before := class
		for _, super := range class.supers {
			if super == k && slices.Contains(remaining, before) {
				return true
			}
			before = super
		}
	}
	return false
}

// merge adds slots, or what they say more of slots there are.
func (k *Class) merge(slots []slot) {
	for _, s := range slots {
		i := k.index(s.name)
		if i < 0 {
			k.slots = append(k.slots, s)
			continue
		}
		inherited := k.slots[i]
		s.initargs = append(s.initargs[:len(s.initargs):len(s.initargs)], inherited.initargs...)
		if s.initial == nil {
			s.initial = inherited.initial
		}
		if s.kind == nil {
			s.kind = inherited.kind
		}
		s.readOnly = s.readOnly || inherited.readOnly
		k.slots[i] = s
	}
}

// class returns the class named by symbol, nil if there is none.
func (e *Environment) class(symbol *Symbol) *Class {
	if class, ok := e.classes[symbol]; ok {
		return class
	}
	return e.language.classes[symbol]
}

// namedClass takes a class or the name of one.
func (c *Call) namedClass(v Value) *Class {
	if class, ok := v.(*Class); ok {
		return class
	}
	class := c.environment.class(c.TakeSymbol(v))
	if class == nil {
		c.noClass(v)
	}
	return class
}

func (c *Call) noClass(name Value) {
	c.signalError(c.newCondition(cellError, "There is no class named "+c.Shown(name)+".", "NAME", name))
}

// inheritClass is inherit, paid for.
func (c *Call) inheritClass(class *Class, own []slot) {
	size := 1
	for _, super := range class.supers {
		size += len(super.precedence) + len(super.slots)
	}
	c.ChargeMany(size, ObjectBytes)
	c.Work(size * size)
	if !class.inherit(own) {
		c.Fail(SimpleError, "the superclasses of %s contradict each other in their order", class.name.name)
	}
}
