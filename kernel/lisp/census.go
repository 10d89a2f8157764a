package lisp

import (
	"fmt"
	"math/big"
	"sync/atomic"
)

// census measures what can be reached from an environment.
type census struct {
	// round marks the conses that were counted; everything else is in seen.
	round       uint32
	seen        map[any]struct{}
	pending     []any
	size, limit int64
}

// takeCensus measures after a call that allocated the given number of bytes, if it is
// time to.
func (e *Environment) takeCensus(allocated int64, limits Limits) error {
	e.unmeasured += allocated
	if e.unmeasured > limits.Retained/4 {
		e.unmeasured = 0
		e.full = e.retained(limits.Retained) > limits.Retained
	}
	if e.full {
		return &Error{Class: storageCondition, Message: fmt.Sprintf("the note's variables hold more than the limit of %d bytes", limits.Retained),
			Hint: "it must be loaded again"}
	}
	return nil
}

// retained returns about how many bytes the environment holds. It stops counting beyond
// limit.
func (e *Environment) retained(limit int64) int64 {
	e.censuses++
	n := &census{round: e.censuses, seen: map[any]struct{}{}, limit: limit}
	for symbol, g := range e.globals {
		n.size += EntryBytes + int64(len(symbol.name))
		n.global(g)
	}
	for _, class := range e.classes {
		n.add(class)
	}
	for _, function := range e.types {
		n.add(function)
	}
	for len(n.pending) > 0 && n.size <= n.limit {
		last := len(n.pending) - 1
		next := n.pending[last]
		n.pending = n.pending[:last]
		n.visit(next)
	}
	return n.size
}

func (n *census) global(g *global) {
	n.add(g.value)
	n.add(g.expansion)
	n.add(g.plist)
	n.add(g.function)
	n.add(g.setter)
	n.add(g.compilerMacro)
	if g.macro != nil {
		n.add(g.macro.function)
	}
	for _, doc := range g.docs {
		n.add(doc)
	}
}

// add plans a visit to an object that is not counted yet.
func (n *census) add(v any) {
	switch x := v.(type) {
	case *Cons:
		if atomic.SwapUint32(&x.counted, n.round) != n.round {
			n.size += ConsBytes
			n.pending = append(n.pending, x)
		}
		return
	case *Function:
		if x == nil {
			return
		}
	case *frame:
		if x == nil {
			return
		}
	case *lambda:
		if x == nil {
			return
		}
	case *String, *Vector, *HashTable, *Instance, *Class, *Stream, *big.Int, *big.Rat, *Complex:
	default:
		return // it has no parts, or is not of this environment alone
	}
	if _, counted := n.seen[v]; !counted {
		n.seen[v] = struct{}{}
		n.size += ObjectBytes
		n.pending = append(n.pending, v)
	}
}

func (n *census) addAll(values []Value) {
	n.size += int64(len(values)) * ValueBytes
	for _, v := range values {
		n.add(v)
	}
}

// visit counts the storage of an object and adds its parts.
func (n *census) visit(v any) {
	switch x := v.(type) {
	case *Cons:
		n.add(x.Car)
		n.add(x.Cdr)
	case *String:
		n.size += int64(len(x.all())) * RuneBytes
		if x.header != nil {
			n.add(x.header.target)
		}
	case *Vector:
		n.addAll(x.all())
		if x.header != nil {
			n.add(x.header.target)
		}
	case *HashTable:
		n.size += int64(len(x.entries)) * EntryBytes
		for _, entry := range x.entries {
			n.add(entry.key)
			n.add(entry.value)
		}
	case *Instance:
		n.add(x.class)
		n.size += int64(len(x.message))
		n.addAll(x.slots)
	case *big.Int:
		n.size += int64(x.BitLen() / 8)
	case *big.Rat:
		n.size += int64((x.Num().BitLen() + x.Denom().BitLen()) / 8)
	case *Complex:
		n.add(x.real)
		n.add(x.imaginary)
	case *Stream:
		n.size += int64(len(x.out)+len(x.input)) * RuneBytes
		if x.binary != nil {
			n.size += int64(len(x.binary.data))
		}
		for _, part := range x.parts {
			n.add(part)
		}
	case *frame:
		n.add(x.parent)
		n.addAll(x.slots)
	case *lambda:
		for _, part := range x.literals {
			n.add(part)
		}
	case *Function:
		n.add(x.frame)
		n.add(x.lambda)
		if x.generic != nil {
			for _, method := range x.generic.methods {
				n.add(method.function)
			}
		}
	case *Class:
		n.class(x)
	}
}

func (n *census) class(k *Class) {
	n.add(k.report)
	n.add(k.printer)
	for _, initial := range k.defaults {
		n.add(initial.value)
	}
	for _, slot := range k.slots {
		n.add(slot.initial)
		n.add(slot.form)
		if slot.shared != nil {
			n.add(*slot.shared)
		}
	}
}
