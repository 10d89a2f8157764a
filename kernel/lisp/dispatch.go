package lisp

import (
	"slices"
)

// distance tells how far v's own class is from the specializer; ok is false if it does
// not apply. Smaller is more specific.
func (c *Call) distance(s *specializer, v Value) (n int, ok bool) {
	if s.object != nil {
		return 0, eql(s.object, v)
	}
	for n, class := range c.classOf(v).precedence {
		if class.same(s.class) {
			return n + 1, true
		}
	}
	return 0, false
}

// candidate is an applicable method and its distance by argument.
type candidate struct {
	method *method
	rank   []int
}

// applicable returns the methods for args, the most specific first.
func (c *Call) applicable(gf *generic, args []Value) []*method {
	var found []candidate
	for _, m := range gf.methods {
		if len(args) < len(m.specializers) {
			continue
		}
		k := candidate{method: m, rank: MakeSlice[int](c, len(m.specializers))[:0]}
		applies := true
		for i := range m.specializers {
			c.Step()
			if gf.precedence != nil {
				i = gf.precedence[i]
			}
			n, ok := c.distance(&m.specializers[i], args[i])
			if !ok {
				applies = false
				break
			}
			k.rank = append(k.rank, n)
		}
		if applies {
			found = Append(c, found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return slices.Compare(a.rank, b.rank) })
	methods := make([]*method, len(found))
	for i := range found {
		methods[i] = found[i].method
	}
	return methods
}

// dispatch calls the methods that apply, combined as the generic function says.
func (c *Call) dispatch(fn *Function, args []Value) Value {
	gf := fn.generic
	if gf.fallback == nil && gf.shape != nil && gf.shape.refuses(len(args)) {
		c.wrongCount(gf.name, len(args))
	}
	own := Clone(c, args)
	c.Descend(8)
	defer c.Ascend(8)
	all := c.applicable(gf, own)
	if len(all) > 0 {
		c.checkKeywords(gf, all, own)
	}
	if gf.combination != nil {
		return c.combined(fn, all, own)
	}
	var around, before, primary, after []*method
	for _, m := range all {
		switch m.qualifier() {
		case Nil:
			primary = append(primary, m)
		case kwBefore:
			before = append(before, m)
		case kwAfter:
			after = append(after, m)
		case kwAround:
			around = append(around, m)
		default:
			c.Fail(SimpleError, "%s has a method with the qualifier %s, which its combination does not know", gf.name, c.Shown(m.qualifier()))
		}
	}
	if gf.fallback != nil {
		primary = append(primary, &method{function: gf.fallback, generic: fn})
	}
	if len(primary) == 0 {
		return c.standard(symNoApplicable, append([]Value{fn}, own...)...)
	}
	if len(before)+len(after)+len(around) == 0 {
		return c.callMethod(primary[0], primary[1:], own)
	}
	main := func(c *Call, args []Value) Value {
		for _, m := range before {
			c.callMethod(m, nil, args)
		}
		v := c.callMethod(primary[0], primary[1:], args)
		for i := len(after) - 1; i >= 0; i-- {
			c.callMethod(after[i], nil, args)
		}
		return v
	}
	return c.callAround(fn, around, main, own)
}

// callAround calls the around methods, of which the last goes on with main.
func (c *Call) callAround(fn *Function, around []*method, main func(c *Call, args []Value) Value, args []Value) Value {
	if len(around) == 0 {
		return main(c, args)
	}
	last := &method{generic: fn, function: &Function{name: fn.name, most: -1, many: true, call: main}}
	return c.callMethod(around[0], append(around[1:len(around):len(around)], last), args)
}

// checkKeywords refuses keywords that none of the methods called takes.
func (c *Call) checkKeywords(gf *generic, methods []*method, args []Value) {
	if gf.shape == nil || !gf.shape.hasKeys || gf.fallback != nil {
		return
	}
	first := gf.shape.required + gf.shape.optional
	if len(args) <= first {
		return
	}
	args = args[first:]
	known := keySet{keys: gf.shape.keys, open: gf.shape.open}
	for _, m := range methods {
		known.add(m)
	}
	if len(args)%2 != 0 {
		c.Fail(ProgramError, "odd number of keyword arguments (calling %s)", gf.name)
	}
	if allowed, _ := initarg(args, kwAllowOtherKeys); known.open || allowed != nil && allowed != Nil {
		return
	}
	c.Work(len(args) * len(known.keys))
	for i := 0; i < len(args); i += 2 {
		if args[i] != kwAllowOtherKeys && !known.has(args[i]) {
			c.Fail(ProgramError, "unknown keyword argument %s (calling %s)", c.Shown(args[i]), gf.name)
		}
	}
}

// callMethod calls one method. Its body gets call-next-method and next-method-p as
// functions in front of the arguments, if it uses them.
func (c *Call) callMethod(m *method, next []*method, args []Value) Value {
	if !m.chained {
		return c.apply(m.function, args)
	}
	proceed := Allocate(c, Function{name: symCallNext.name, most: -1, many: true, frame: Allocate(c, frame{slots: args}), call: func(c *Call, given []Value) Value {
		if len(given) == 0 {
			given = args
		}
		if len(next) == 0 {
			return c.standard(symNoNext, Append(c, []Value{m.generic, m}, given...)...)
		}
		return c.callMethod(next[0], next[1:], Clone(c, given))
	}})
	present := Allocate(c, Function{name: symNextP.name, call: func(*Call, []Value) Value { return Boolean(len(next) > 0) }})
	return c.apply(m.function, Append(c, []Value{proceed, present}, args...))
}

// printsObjects reports that the note has methods on print-object.
func (e *Environment) printsObjects() bool {
	g, ok := e.globals[symPrintObject]
	return ok && g.function != nil && g.function.generic != nil
}

var symPrintEscape = CL("*PRINT-ESCAPE*")

// printObject prints an instance by the note's own print-object or print function.
func (c *Call) printObject(p *printer, i *Instance) bool {
	var fn *Function
	switch {
	case p.plain == Value(i):
		return false
	case i.class.printer != nil:
		fn = c.Function(i.class.printer)
	case c.environment.printsObjects():
		fn = c.global(symPrintObject).function
		if len(c.applicable(fn.generic, []Value{i, Nil})) == 0 {
			return false
		}
	default:
		return false
	}
	stream := c.NewOutput()
	c.Descend(24)
	mark := len(c.bindings)
	c.bind(c.global(symPrintEscape), Boolean(p.escape))
	c.Call2(fn, i, stream)
	c.unbind(mark)
	c.Ascend(24)
	p.call.ChargeOutput(len(stream.out))
	p.out = Append(p.call, p.out, stream.out...)
	return true
}

// combination is a way to combine methods by an operator, as progn or + do.
type combination struct {
	name     *Symbol
	operator *Symbol
	// identity says that the value of a single method is the value.
	identity bool
}

// standardCombinations are the combinations every generic function may name, with
// whether one value is left as it is.
var standardCombinations = map[string]bool{
	"PROGN": true, "AND": true, "OR": true, "MAX": true, "MIN": true, "+": true, "APPEND": true, "NCONC": true, "LIST": false,
}

// findCombination takes what stands behind :method-combination; nil is the standard.
func (c *Call) findCombination(option []Value) (k *combination, lastFirst bool) {
	name := c.TakeSymbol(option[0])
	if len(option) > 1 {
		lastFirst = option[1] == kwMostSpecificLast
		if !lastFirst && option[1] != kwMostSpecificFirst || len(option) > 2 {
			c.Fail(SimpleError, "unknown order of methods: %s", c.Shown(option[1]))
		}
	}
	if name.name == "STANDARD" && name.home == standardPackage {
		if len(option) > 1 {
			c.Fail(SimpleError, "the standard method combination takes no options")
		}
		return nil, false
	}
	if k := c.environment.combinations[name]; k != nil {
		return k, lastFirst
	}
	if identity, ok := standardCombinations[name.name]; ok && name.home == standardPackage {
		return &combination{name: name, operator: name, identity: identity}, lastFirst
	}
	c.Fail(SimpleError, "there is no method combination named %s", name.name)
	return nil, false
}

// combined calls all primary methods, which the name of the combination qualifies, and
// gives their values to the operator.
func (c *Call) combined(fn *Function, all []*method, args []Value) Value {
	gf := fn.generic
	var around, primary []*method
	for _, m := range all {
		switch {
		case m.qualifier() == Value(gf.combination.name) && len(m.qualifiers) == 1:
			primary = append(primary, m)
		case m.qualifier() == kwAround:
			around = append(around, m)
		default:
			c.Fail(SimpleError, "%s has a method with the qualifier %s, which its combination does not know", gf.name, c.Shown(m.qualifier()))
		}
	}
	if len(primary) == 0 {
		if len(all) > 0 {
			c.Fail(SimpleError, "there is no primary method of %s for %s", gf.name, c.Shown(NewList(args...)))
		}
		return c.standard(symNoApplicable, append([]Value{fn}, args...)...)
	}
	if gf.lastFirst {
		for i, j := 0, len(primary)-1; i < j; i, j = i+1, j-1 {
			primary[i], primary[j] = primary[j], primary[i]
		}
	}
	main := func(c *Call, args []Value) Value {
		if len(primary) == 1 && gf.combination.identity {
			return c.callMethod(primary[0], nil, args)
		}
		// The operator may be a macro or special form, which decides what is called.
		calls := NewListBuilder(c)
		for _, m := range primary {
			called := Allocate(c, Function{name: gf.name, many: true, call: func(c *Call, _ []Value) Value { return c.callMethod(m, nil, args) }})
			calls.Add(c.NewList([]Value{symFuncall, called}))
		}
		return c.evaluate(&Cons{Car: gf.combination.operator, Cdr: calls.List()})
	}
	return c.callAround(fn, around, main, args)
}

// compileDefineMethodCombination defines a combination by an operator: the short form.
// The long form, whose body computes the combination, is refused.
func compileDefineMethodCombination(cp *Compiler, form *Cons, _ *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	name := cp.unfrozen(cp.TakeSymbol(parts[0])).symbol
	k := &combination{name: name, operator: name}
	if len(parts)%2 != 1 || len(parts) > 1 && IsList(parts[1]) {
		cp.Fail(ProgramError, "only the short form of define-method-combination exists: %s", Sketch(form, formLength))
	}
	for i := 1; i < len(parts); i += 2 {
		switch parts[i] {
		case kwOperator:
			k.operator = cp.TakeSymbol(parts[i+1])
		case kwIdentityWithOne:
			k.identity = parts[i+1] != Nil
		case kwDocumentation:
		default:
			cp.Fail(ProgramError, "unknown option %s of define-method-combination", Sketch(parts[i], formLength))
		}
	}
	return simple(func(c *Call, _ *frame) Value {
		c.environment.combinations[name] = k
		return name
	})
}
