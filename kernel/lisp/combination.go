package lisp

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
			called := &Function{name: gf.name, many: true, call: func(c *Call, _ []Value) Value { return c.callMethod(m, nil, args) }}
			c.Charge(ObjectBytes + 4*ConsBytes)
			calls.Add(Form(symFuncall, called))
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
