package lisp

// Function is a Lisp function: a builtin, a function of the kernel or a closure.
type Function struct {
	name string
	doc  string
	// list is the lambda list as text, for documentation.
	list string
	// least and most count the arguments; most is -1 when there is no limit.
	least, most int

	// call gets the arguments as they are, named those that parameters bind.
	call       func(c *Call, args []Value) Value
	named      func(c *Call, args Args) Value
	parameters *parameters
	// one and two are call for functions of exactly that many arguments, without a slice.
	one func(c *Call, a Value) Value
	two func(c *Call, a, b Value) Value
	// many says that call may return a *multiple.
	many bool
	// open functions of the standard may get methods, so that calls look them up.
	open bool

	lambda  *lambda
	frame   *frame
	generic *generic
	// Data is what a library made the function of, for the library.
	Data any
	// accesses is the structure whose slot an accessor reads.
	accesses *Class
}

// funcall calls a function designator. The result may be a *multiple.
func (c *Call) funcall(function Value, args []Value) Value {
	return c.apply(c.Function(function), args)
}

// Call1 and call2 call a function for its first value, as predicates and keys are.
func (c *Call) Call1(fn *Function, a Value) Value {
	if fn.one != nil {
		c.Step()
		return fn.one(c, a)
	}
	base := len(c.stack)
	c.stack = append(c.stack, a)
	c.stackGrew()
	v := Single(c.apply(fn, c.stack[base:len(c.stack):len(c.stack)]))
	c.stack = c.stack[:base]
	return v
}

// Call2 is Call1 for a function of two arguments.
func (c *Call) Call2(fn *Function, a, b Value) Value {
	if fn.two != nil {
		c.Step()
		return fn.two(c, a, b)
	}
	base := len(c.stack)
	c.stack = append(c.stack, a, b)
	c.stackGrew()
	v := Single(c.apply(fn, c.stack[base:len(c.stack):len(c.stack)]))
	c.stack = c.stack[:base]
	return v
}

// apply calls fn. args belongs to the caller and is not kept.
func (c *Call) apply(fn *Function, args []Value) Value {
	c.Step()
	if fn.lambda != nil {
		return fn.lambda.apply(c, fn.frame, args)
	}
	if len(args) < fn.least || fn.most >= 0 && len(args) > fn.most {
		c.wrongCount(fn.name, len(args))
	}
	c.nest(2)
	var v Value
	switch {
	case fn.call != nil:
		v = fn.call(c, args)
	case fn.one != nil && len(args) == 1:
		v = fn.one(c, args[0])
	case fn.named != nil:
		base := len(c.stack)
		v = fn.named(c, c.bound(fn.parameters, args))
		c.stack = c.stack[:base]
	default:
		v = fn.two(c, args[0], args[1])
	}
	c.Ascend(2)
	return v
}

func (c *Call) wrongCount(name string, n int) {
	c.Fail(ProgramError, "invalid number of arguments: %d (calling %s)", n, name)
}

// Function resolves a function designator.
func (c *Call) Function(v Value) *Function {
	switch x := v.(type) {
	case *Function:
		return x
	case *Symbol:
		g := c.global(x)
		if g.function == nil {
			return c.undefinedFunction(x, false)
		}
		return g.function
	case *Cons:
		if x.Car == symLambda {
			return Single(c.evaluate(NewList(symFunction, x))).(*Function)
		}
		if name, ok := setfName(x); ok {
			if g := c.global(name); g.setter != nil {
				return g.setter
			}
			return c.undefinedFunction(name, true)
		}
	}
	c.TypeError(v, "FUNCTION")
	return nil
}

// fixedFunction is the standard function of that name, unless notes may add methods to it
// or it is there only where it was granted.
func (s *Symbol) fixedFunction() *Function {
	if s.operator == nil {
		return nil
	}
	return s.operator.function
}

// compileCall compiles a call of a global function.
func (cp *Compiler) compileCall(name *Symbol, form *Cons, sc *scope) expression {
	builtin := name.fixedFunction()
	if builtin != nil && builtin.two != nil {
		if e, ok := cp.compileWithConstant(builtin, form, sc); ok {
			return e
		}
	}
	args := cp.compileAll(cp.Forms(form.Cdr), sc)
	at := cp.site(form)
	if builtin != nil {
		cp.checkCount(builtin.name, builtin.least, builtin.most, len(args), at)
		if check := name.operator.check; check != nil {
			check(cp, form)
		}
		if call := keywordCall(form); call != nil {
			if wrong := (&Error{}).keywordProblem(builtin, call); wrong != nil {
				cp.environment.refer(reference{at: at, function: cp.functionName(), problem: wrong.Message, hint: wrong.Hint})
			}
		}
		return compileBuiltin(builtin, args, at)
	}
	g := cp.global(name)
	if name.operator != nil && name.operator.check != nil {
		name.operator.check(cp, form)
	}
	_, _, bound := sc.variable(name)
	cp.environment.refer(reference{symbol: name, arguments: len(args), at: at, function: cp.functionName(), form: keywordCall(form), bound: bound})
	return expression{many: true, run: func(c *Call, f *frame) Value {
		fn := g.function
		if fn == nil {
			c.at = at
			fn = c.undefinedFunction(name, false)
		}
		return c.invoke(fn, args, f, at)
	}}
}

// invoke evaluates args and calls fn, straight into the callee's frame if it takes
// nothing but required arguments.
func (c *Call) invoke(fn *Function, args []code, f *frame, at *site) Value {
	if l := fn.lambda; l != nil && l.plain && l.required == len(args) {
		var callee *frame
		if l.heavy {
			callee = c.heavyFrame(fn.frame, l.layout)
		} else {
			callee = newFrame(fn.frame, l.layout.slots)
		}
		for i, arg := range args {
			callee.slots[i] = arg(c, f)
		}
		c.at = at
		c.Step()
		return l.run(c, callee)
	}
	c.stackGrew()
	base := len(c.stack)
	for _, arg := range args {
		v := arg(c, f)
		c.stack = append(c.stack, v)
	}
	c.at = at
	v := c.apply(fn, c.stack[base:len(c.stack):len(c.stack)])
	c.stack = c.stack[:base]
	return v
}

// compileWithConstant compiles (function form constant), as in (- n 1).
func (cp *Compiler) compileWithConstant(fn *Function, form *Cons, sc *scope) (e expression, ok bool) {
	parts := cp.Forms(form.Cdr)
	if len(parts) != 2 {
		return e, false
	}
	switch x := parts[1].(type) {
	case *Cons:
		return e, false
	case *Symbol:
		if !x.Keyword() && x != Nil {
			return e, false
		}
	}
	two, y, at := fn.two, parts[1], cp.site(form)
	a := cp.compile(parts[0], sc).one()
	return expression{many: fn.many, run: func(c *Call, f *frame) Value {
		x := a(c, f)
		c.at = at
		c.Step()
		return two(c, x, y)
	}}, true
}

// compileBuiltin compiles a call of a standard function, which nothing can redefine.
func compileBuiltin(fn *Function, args []code, at *site) expression {
	switch {
	case fn.one != nil && len(args) == 1:
		one, a := fn.one, args[0]
		return expression{many: fn.many, run: func(c *Call, f *frame) Value {
			x := a(c, f)
			c.at = at
			c.Step()
			return one(c, x)
		}}
	case fn.two != nil && len(args) == 2:
		two, a, b := fn.two, args[0], args[1]
		return expression{many: fn.many, run: func(c *Call, f *frame) Value {
			x := a(c, f)
			y := b(c, f)
			c.at = at
			c.Step()
			return two(c, x, y)
		}}
	}
	return expression{many: fn.many, run: func(c *Call, f *frame) Value { return c.invoke(fn, args, f, at) }}
}

func (cp *Compiler) compileLocalCall(local localFunction, depth int, form *Cons, sc *scope) expression {
	args := cp.compileAll(cp.Forms(form.Cdr), sc)
	at := cp.site(form)
	slot := local.slot
	return expression{many: true, run: func(c *Call, f *frame) Value {
		return c.invoke(f.up(depth).slots[slot].(*Function), args, f, at)
	}}
}

func (cp *Compiler) compileLambdaCall(operator, form *Cons, sc *scope) expression {
	function := cp.compileLambda("", operator.Cdr, sc, lambdaKind{})
	args := cp.compileAll(cp.Forms(form.Cdr), sc)
	at := cp.site(form)
	return expression{many: true, run: func(c *Call, f *frame) Value {
		return c.invoke(function(c, f).(*Function), args, f, at)
	}}
}

// lambda is a compiled function body, shared by all closures made from it.
type lambda struct {
	name string
	doc  Value
	// parameters is the lambda list as written, for documentation.
	parameters Value
	binder     *binder
	layout     *layout
	required   int
	// plain says that the arguments are simply the first slots of the frame.
	plain bool
	// heavy says that the frame is large, or that closures may hold it.
	heavy bool
	// macro says that the only argument is a macro form to be taken apart.
	macro bool
	// literals are the constants and the functions in the body.
	literals []any
	body     code
	weight   int
}

// lambdaKind says what a lambda expression is compiled for.
type lambdaKind struct {
	// block is the name of the implicit block around the body, nil for none.
	block *Symbol
	// macro says that the lambda list destructures the arguments of a macro form.
	macro bool
	// values says that a macro's function may return several, as setf expanders do.
	values bool
	// star says that parameters not given are *, as in type specifiers.
	star bool
	// method says that keywords are not checked: others may be for other methods.
	method bool
}

// compileLambda compiles (lambda-list . body) and returns code that makes the closure.
func (cp *Compiler) compileLambda(name string, list Value, sc *scope, kind lambdaKind) code {
	l := cp.newLambda(name, list, sc, kind)
	least, most := l.binder.counts()
	if kind.macro {
		least, most = 1, 1
	}
	doc := ""
	if text, ok := l.doc.(*String); ok {
		doc = text.String()
	}
	for s := sc; s != nil; s = s.parent {
		if s.layout != nil {
			s.layout.captured = true
		}
	}
	return func(c *Call, f *frame) Value {
		return Allocate(c, Function{name: name, doc: doc, least: least, most: most, lambda: l, frame: f, many: true})
	}
}

func (cp *Compiler) newLambda(name string, list Value, sc *scope, kind lambdaKind) *lambda {
	parts, ok := list.(*Cons)
	if !ok {
		cp.Fail(ProgramError, "a function needs a lambda list")
	}
	nesting, deepest, outer := cp.nesting, cp.deepest, cp.literals
	cp.literals = nil
	cp.nesting, cp.deepest = 0, 0
	running := cp.running
	if name != "" || running == nil {
		cp.running = &lambda{name: name}
	}

	inner := sc.withFrame()
	specials, doc, body := cp.declarations(parts.Cdr, true)
	parameters := cp.parseLambdaList(parts.Car, kind.macro)
	if parameters.whole != nil { // a pattern stands there in destructuring-bind only
		cp.checkBindable(parameters.whole)
	}
	if kind.star {
		parameters.starred()
	}
	b := cp.compileBinder(parameters, inner, specials, ProgramError)
	b.name = name
	b.open = b.open || kind.method
	for _, symbol := range specials {
		if _, depth, ok := inner.variable(symbol); !ok || depth > 0 {
			inner.addVariable(symbol, true)
		}
	}
	l := &lambda{name: name, doc: doc, parameters: parts.Car, binder: b, layout: inner.layout, required: len(b.required)}
	l.plain, l.macro = b.plain() && !kind.macro, kind.macro
	if kind.block != nil {
		l.body = cp.compileBlock(kind.block, body, inner).run
	} else {
		l.body = cp.body(body, inner).run
	}
	if kind.macro && !kind.values {
		l.body = single1(l.body)
	}
	l.weight = cp.weight() + l.layout.slots*ValueBytes/levelBytes
	l.heavy = l.layout.captured || l.layout.slots > smallFrame
	if name == "" && running != nil {
		// Errors inside an anonymous function are told as the named one's around it.
		l.name = running.name
	}
	cp.running = running
	l.literals = cp.literals
	cp.literals = append(outer, l)
	cp.nesting, cp.deepest = nesting, max(deepest, nesting)
	return l
}

// starred makes * the initial value of parameters that have none.
func (l *lambdaList) starred() {
	for _, parameters := range [][]parameter{l.optional, l.keys} {
		for i := range parameters {
			if !parameters[i].given {
				parameters[i].initial = Form(symQuote, symStar)
			}
		}
	}
}

func single1(run code) code {
	return func(c *Call, f *frame) Value { return Single(run(c, f)) }
}

func (l *lambda) apply(c *Call, parent *frame, args []Value) Value {
	var f *frame
	if l.heavy {
		f = c.heavyFrame(parent, l.layout)
	} else {
		f = newFrame(parent, l.layout.slots)
	}
	if l.plain {
		if len(args) != l.required {
			c.wrongCount(l.name, len(args))
		}
		copy(f.slots, args)
		return l.run(c, f)
	}
	mark := len(c.bindings)
	outer := c.running
	c.running = l
	c.nest(l.weight)
	if l.macro {
		l.binder.destructureForm(c, f, args[0])
	} else {
		l.binder.bind(c, f, args, Nil)
	}
	v := l.body(c, f)
	c.Ascend(l.weight)
	c.running = outer
	if len(c.bindings) > mark {
		c.unbind(mark)
	}
	return v
}

// run evaluates the body of a plain lambda in a frame that has its arguments.
func (l *lambda) run(c *Call, f *frame) Value {
	outer := c.running
	c.running = l
	c.nest(l.weight)
	v := l.body(c, f)
	c.Ascend(l.weight)
	c.running = outer
	return v
}
