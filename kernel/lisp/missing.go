package lisp

// undefinedFunction signals that symbol names no function, or (setf symbol) none if it
// is a setter that is missing. It returns the function that a restart supplied.
func (c *Call) undefinedFunction(symbol *Symbol, setter bool) *Function {
	name, text := Value(symbol), c.symbolText(symbol)
	place := func(g *global) **Function { return &g.function }
	if setter {
		name, text = Form(symSetf, symbol), "(SETF "+text+")"
		place = func(g *global) **Function { return &g.setter }
	}
	function := place(c.environment.global(symbol))
	return c.supplied(c.newCondition(undefinedClass, "The function "+text+" is undefined.", "NAME", name),
		func() Value {
			if *function == nil {
				return nil
			}
			return *function
		},
		func(v Value) Value { return c.Function(v) },
		func(v Value) {
			c.definable(symbol)
			*function = v.(*Function)
		}).(*Function)
}

// unbound signals that a variable has no value. It returns the one that a restart
// supplied.
func (c *Call) unbound(symbol *Symbol) Value {
	g := c.environment.global(symbol)
	return c.supplied(c.newCondition(unboundVariable, "The variable "+c.symbolText(symbol)+" is unbound.", "NAME", symbol),
		func() Value { return c.special(g) },
		func(v Value) Value { return v },
		func(v Value) { c.setSpecial(g, v) })
}

// What the restarts of something missing are called when they are listed.
var (
	retryReport = NewString("Look again.")
	useReport   = NewString("Use another one this time.")
	storeReport = NewString("Define it, and use it.")
)

// supplied signals that something is missing within the restarts continue, use-value
// and store-value, and returns what they led to: what look finds, nil for nothing yet,
// or the value they were given, as taken takes it.
func (c *Call) supplied(condition *Instance, look func() Value, taken func(Value) Value, store func(Value)) Value {
	if c.handlers == nil {
		c.signalError(condition) // there is nobody to choose
	}
	c.Charge(3 * ObjectBytes)
	for {
		c.Step()
		outer := c.restarts
		serves := []Value{condition}
		inner := &restart{outer: outer, name: symStoreValue, report: storeReport, index: 2, conditions: serves}
		inner = &restart{outer: inner, name: symUseValue, report: useReport, index: 1, conditions: serves}
		inner = &restart{outer: inner, name: symContinue, report: retryReport, conditions: serves}
		_, choice, args := c.runRestartable(inner, outer, func(c *Call, _ *frame) Value {
			c.signalError(condition)
			return nil
		}, nil)
		if choice == 0 {
			if v := look(); v != nil {
				return v
			}
			continue
		}
		values := c.Slice(args)
		if len(values) != 1 {
			c.wrongCount("the restart", len(values))
		}
		v := taken(values[0])
		if choice == 2 {
			store(v)
		}
		return v
	}
}
