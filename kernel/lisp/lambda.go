package lisp

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
	return func(c *Call, f *frame) Value {
		c.Charge(ObjectBytes)
		return &Function{name: name, doc: doc, least: least, most: most, lambda: l, frame: f, many: true}
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
	l.weight = cp.weight()
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
	f := newFrame(parent, l.layout.slots)
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
	c.Descend(l.weight)
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
	c.Descend(l.weight)
	v := l.body(c, f)
	c.Ascend(l.weight)
	c.running = outer
	return v
}
