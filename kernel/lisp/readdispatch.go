package lisp

import (
	"errors"
	"fmt"

	"org-agent/kernel/plist"
)

// placeholder stands for an object that #n= names until it is read whole.
type placeholder struct{ value Value }

// Label begins the object that #n= names.
func (r *reader) Label(_ plist.Position, number int) error {
	if r.labels == nil {
		r.labels = map[int]*placeholder{}
	}
	if r.labels[number] != nil {
		return fmt.Errorf("the label #%d= is used twice", number)
	}
	if err := r.charge(EntryBytes); err != nil {
		return err
	}
	r.labels[number] = &placeholder{}
	return nil
}

// Reference is the object that a label named, or what stands for it until then.
func (r *reader) Reference(_ plist.Position, number int) (Value, error) {
	p := r.labels[number]
	switch {
	case p == nil:
		return nil, fmt.Errorf("the label #%d= is not there", number)
	case p.value == nil:
		r.forward = true
		return p, nil
	}
	return p.value, nil
}

// Bits is #*1011: with a number as many bits, of which the last given one fills the rest.
func (r *reader) Bits(_ plist.Position, number int, digits string) (Value, error) {
	n := len(digits)
	if number >= 0 {
		if n > number || n == 0 && number > 0 {
			return nil, errors.New("#* has more digits than its length, or none to fill it with")
		}
		n = number
	}
	if err := r.charge(n * ValueBytes); err != nil {
		return nil, err
	}
	v := NewVector(make([]Value, n))
	v.kind = bitElements
	for i := range v.elements {
		v.elements[i] = Integer(int64(digits[min(i, len(digits)-1)] - '0'))
	}
	return v, nil
}

// Dispatch makes the objects that are written as # and another form.
func (r *reader) Dispatch(_ plist.Position, number int, char byte, v Value) (Value, error) {
	switch char {
	case '=':
		return v, r.resolveLabel(number, v)
	case '(':
		return r.filledVector(number, v)
	case 'A':
		return r.array(number, v)
	case 'S':
		return r.structure(v)
	}
	return r.complex(v)
}

// resolveLabel puts the object in all places that referred to it while it was read.
func (r *reader) resolveLabel(number int, v Value) error {
	p := r.labels[number]
	if v == Value(p) {
		return fmt.Errorf("the label #%d= names itself", number)
	}
	p.value = v
	if !r.forward {
		return nil
	}
	seen := map[Value]bool{}
	pending := []Value{v}
	replace := func(place *Value) {
		if *place == Value(p) {
			*place = v
		} else if _, ok := (*place).(*Symbol); !ok {
			pending = append(pending, *place)
		}
	}
	for len(pending) > 0 {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		switch next.(type) {
		case *Cons, *Vector, *Instance:
		default:
			continue
		}
		if seen[next] {
			continue
		}
		if err := r.charge(EntryBytes); err != nil {
			return err
		}
		seen[next] = true
		switch x := next.(type) {
		case *Cons:
			replace(&x.Car)
			replace(&x.Cdr)
		case *Vector:
			for i := range x.elements {
				replace(&x.elements[i])
			}
		case *Instance:
			for i := range x.slots {
				if x.slots[i] != nil {
					replace(&x.slots[i])
				}
			}
		}
	}
	return nil
}

// filledVector is #5(a b): the last element fills the rest.
func (r *reader) filledVector(number int, v Value) (Value, error) {
	items, ok := Slice(v, sourceAtoms)
	if !ok || len(items) > number || len(items) == 0 && number > 0 {
		return nil, errors.New("#( has more elements than its length, or none to fill it with")
	}
	if err := r.charge(number * ValueBytes); err != nil {
		return nil, err
	}
	for len(items) < number {
		items = append(items, items[len(items)-1])
	}
	return NewVector(items), nil
}

// array is #nA and nested lists.
func (r *reader) array(rank int, v Value) (Value, error) {
	if rank < 0 || rank > 64 {
		return nil, errors.New("#A needs a rank, as in #2A((1 2) (3 4))")
	}
	dimensions := make([]int, 0, rank)
	level := []Value{v}
	for range rank {
		var next []Value
		size := -1
		for _, item := range level {
			elements, ok := r.sequenceItems(item)
			if !ok || size >= 0 && len(elements) != size {
				return nil, fmt.Errorf("#%dA has contents of another shape", rank)
			}
			size = len(elements)
			next = append(next, elements...)
		}
		if err := r.charge(len(next) * ValueBytes); err != nil {
			return nil, err
		}
		dimensions = append(dimensions, max(size, 0))
		level = next
	}
	if rank == 1 {
		return NewVector(level), nil
	}
	a := NewVector(level)
	a.dimensions = dimensions
	return a, nil
}

func (r *reader) sequenceItems(v Value) ([]Value, bool) {
	switch x := v.(type) {
	case *Vector:
		return x.elements, x.dimensions == nil
	case *String:
		items := make([]Value, len(x.chars))
		for i, ch := range x.chars {
			items[i] = Character(ch)
		}
		return items, true
	}
	return Slice(v, sourceAtoms)
}

// structure is #S(name slot value …), made by the structure's constructor.
func (r *reader) structure(v Value) (object Value, err error) {
	items, ok := Slice(v, sourceAtoms)
	if !ok || len(items) == 0 {
		return nil, errors.New("#S wants the name of a structure and its slots")
	}
	name, ok := items[0].(*Symbol)
	class := (*Class)(nil)
	if ok {
		class = r.call.environment.class(name)
	}
	if class == nil || class.kind != structureClass {
		return nil, fmt.Errorf("#S: %s is no structure", Sketch(items[0], 40))
	}
	for i := 1; i < len(items); i += 2 {
		if slot, ok := items[i].(*Symbol); ok {
			items[i] = r.call.Keyword(slot.name)
		}
	}
	constructor, ok := r.call.CurrentPackage().Find("MAKE-" + name.name)
	if !ok {
		return nil, fmt.Errorf("#S: %s has no constructor", name.name)
	}
	object, err = r.call.Apply(constructor, items[1:]...)
	var failed *Error
	if errors.As(err, &failed) && !failed.Limit() {
		err = &Error{Class: failed.Class, Message: "#S: " + failed.Message}
	}
	return object, err
}

// complex is #C(real imaginary).
func (r *reader) complex(v Value) (Value, error) {
	parts, ok := Slice(v, 3)
	if !ok || len(parts) != 2 {
		return nil, errors.New("#C wants a list of two real numbers, as in #C(1 2)")
	}
	for _, part := range parts {
		if k := kindOf(part); k == notNumber || k == complexKind {
			return nil, fmt.Errorf("#C: %s is not a real number", Sketch(part, 40))
		}
	}
	return r.call.Apply(symComplex, parts...)
}
