package lisp

import (
	"math/big"
)

// controlFunctions call functions and evaluate forms.
func controlFunctions() []Builtin {
	return []Builtin{
		{Name: "funcall", LambdaList: "(function &rest arguments)", Doc: "Call a function.", Many: true, Call: func(c *Call, args []Value) Value { return c.funcall(args[0], args[1:]) }},
		{Name: "apply", LambdaList: "(function argument &rest more)", Doc: "Call a function with the elements of the last argument.", Many: true, Call: applyFunction},
		{Name: "values", LambdaList: "(&rest objects)", Doc: "Return the objects as values.", Many: true, Call: func(c *Call, args []Value) Value { return c.Values(args...) }},
		{Name: "values-list", LambdaList: "(list)", Doc: "Return the elements as values.", Many: true, One: func(c *Call, a Value) Value { return c.Values(c.Slice(a)...) }},
		{Name: "identity", LambdaList: "(object)", Doc: "The object.", One: func(_ *Call, a Value) Value { return a }},
		{Name: "constantly", LambdaList: "(value)", Doc: "A function that always returns value.", One: func(c *Call, a Value) Value {
			return Allocate(c, Function{name: "CONSTANTLY", most: -1, frame: c.frameOf(a), call: func(*Call, []Value) Value { return a }})
		}},
		{Name: "complement", LambdaList: "(predicate)", Doc: "The function that is true where predicate is not.", One: func(c *Call, a Value) Value {
			fn := c.Function(a)
			return Allocate(c, Function{name: "COMPLEMENT", most: -1, frame: c.frameOf(fn), call: func(c *Call, args []Value) Value { return Boolean(Single(c.apply(fn, args)) == Nil) }})
		}},
		{Name: "eval", LambdaList: "(form)", Doc: "Evaluate a form.", Many: true, One: func(c *Call, a Value) Value { return c.evaluate(a) }},
		{Name: "compile", LambdaList: "(name &optional definition)", Doc: "The function; everything is compiled already.", Many: true, Named: func(c *Call, args Args) Value {
			name, fn := args.Get("name"), args.Get("definition")
			if fn == nil {
				c.Function(name)
				return c.Values(name, Nil, Nil)
			}
			if list, ok := fn.(*Cons); ok && list.Car == symLambda {
				fn = Single(c.evaluate(Form(symFunction, list)))
			}
			if symbol, ok := name.(*Symbol); ok && symbol != Nil {
				c.definable(symbol).function = c.Function(fn)
				return c.Values(symbol, Nil, Nil)
			}
			return c.Values(c.Function(fn), Nil, Nil)
		}},
		{Name: "macroexpand-1", LambdaList: "(form &optional environment)", Doc: "Expand a macro form once; true if it was one.", Many: true, Named: func(c *Call, args Args) Value {
			form, expanded := c.expandOnce(args.Get("form"), c.scopeArgument(args.Get("environment")))
			return c.Values(form, Boolean(expanded))
		}},
		{Name: "macroexpand", LambdaList: "(form &optional environment)", Doc: "Expand until it is no macro form.", Many: true, Named: func(c *Call, args Args) Value {
			form, any := args.Get("form"), false
			sc := c.scopeArgument(args.Get("environment"))
			for {
				c.Step()
				next, expanded := c.expandOnce(form, sc)
				if !expanded {
					return c.Values(form, Boolean(any))
				}
				form, any = next, true
			}
		}},
		{Name: "proclaim", LambdaList: "(declaration)", Doc: "Declare a variable special; other declarations do nothing.", One: func(c *Call, a Value) Value {
			c.proclaim(a)
			return Nil
		}},
		{Name: "documentation", LambdaList: "(object &optional kind)", Doc: "The documentation string, or nil.", Named: documentation},
		{Name: "provide", LambdaList: "(name)", Doc: "Does nothing: a note is one module.", One: func(*Call, Value) Value { return T }},
	}
}

func applyFunction(c *Call, args []Value) Value {
	last := args[len(args)-1]
	all := append([]Value(nil), args[1:len(args)-1]...)
	for cell, ok := c.next(last); ok; cell, ok = c.next(cell.Cdr) {
		all = Append(c, all, cell.Car)
	}
	return c.funcall(args[0], all)
}

func (c *Call) proclaim(declaration Value) {
	parts := c.Slice(declaration)
	if len(parts) > 0 && parts[0] == symSpecial {
		for _, part := range parts[1:] {
			c.global(c.TakeSymbol(part)).special = true
		}
	}
}

func documentation(c *Call, args Args) Value {
	object := args.Get("object")
	switch x := object.(type) {
	case *Function:
		return c.docOf(x.doc)
	case *Package:
		if x.doc == nil {
			return Nil
		}
		return x.doc
	}
	symbol, ok := object.(*Symbol)
	if !ok {
		return Nil
	}
	g := c.global(symbol)
	kind, _ := args.Get("kind").(*Symbol)
	if doc, ok := g.docs[kind]; ok {
		return doc
	}
	if kind == symFunction {
		switch m := c.environment.macro(symbol); {
		case g.function != nil:
			return c.docOf(g.function.doc)
		case m != nil:
			return c.docOf(m.doc)
		}
	}
	return Nil
}

func (c *Call) docOf(text string) Value {
	if text == "" {
		return Nil
	}
	return c.Text(text)
}

// exitForms are the special operators that transfer control.
func exitForms() []standardForm {
	return []standardForm{
		{"block", "(name &body body)", "Evaluate body, which return-from can leave.", compileBlockForm},
		{"return-from", "(name &optional value)", "Leave the block of that name with the values of value.", compileReturnFrom},
		{"return", "(&optional value)", "Leave the block named nil with the values of value.", compileReturn},
		{"tagbody", "(&rest tags-and-forms)", "Evaluate forms; go jumps to tags.", compileTagbody},
		{"go", "(tag)", "Jump to a tag of the tagbody around it.", compileGo},
		{"catch", "(tag &body body)", "Evaluate body, which throw can leave.", compileCatch},
		{"throw", "(tag value)", "Leave the catch with that tag with the values of value.", compileThrow},
		{"unwind-protect", "(protected &body cleanup)", "Evaluate protected, and cleanup however it was left.", compileUnwindProtect},
	}
}

func compileBlockForm(cp *Compiler, form *Cons, sc *scope) expression {
	name := cp.Arguments(form, 1, -1)[0]
	symbol, ok := name.(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "a block's name must be a symbol, not %s", Sketch(name, formLength))
	}
	return cp.compileBlock(symbol, form.Cdr.(*Cons).Cdr, sc)
}

// compileBlock costs nothing at run time unless something returns from the block, or
// might from a closure: each time round needs its own token then, or a closure that
// outlives its block would find the one of a later round.
func (cp *Compiler) compileBlock(name *Symbol, forms Value, sc *scope) expression {
	inner, own := cp.exitScope(forms, sc)
	used := false
	slot := inner.slot()
	inner.blocks = append(inner.blocks, localBlock{name: name, slot: slot, used: &used})
	body := cp.body(forms, inner)
	run := body.run
	if own {
		run = inFrame(inner, run)
	}
	if !used {
		return expression{many: body.many, run: run, constant: body.constant}
	}
	run = body.run
	return expression{many: true, run: func(c *Call, f *frame) (result Value) {
		if own {
			f = c.newFrame(f, inner.layout.slots)
		}
		point := c.newExitPoint()
		f.slots[slot] = point
		defer func() {
			if e, ok := c.landed(point); ok {
				recover()
				result = e.value
			}
		}()
		return run(c, f)
	}}
}

// exitScope opens the scope of a block or tagbody: with its own frame if a closure may
// capture the token.
func (cp *Compiler) exitScope(forms Value, sc *scope) (inner *scope, own bool) {
	if cp.captures(forms, sc) {
		return sc.withFrame(), true
	}
	return sc.nested(), false
}

// inFrame runs code in a frame of its own.
func inFrame(inner *scope, run code) code {
	return func(c *Call, f *frame) Value {
		return run(c, c.newFrame(f, inner.layout.slots))
	}
}

func compileReturn(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 0, 1)
	return cp.returnFrom(Nil, parts, sc)
}

func compileReturnFrom(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, 2)
	name, ok := parts[0].(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "a block's name must be a symbol, not %s", Sketch(parts[0], formLength))
	}
	return cp.returnFrom(name, parts[1:], sc)
}

func (cp *Compiler) returnFrom(name *Symbol, value []Value, sc *scope) expression {
	block, depth, ok := sc.block(name)
	if !ok {
		cp.Fail(ProgramError, "return for unknown block: %s", name.name)
	}
	*block.used = true
	result := constant(Nil)
	if len(value) > 0 {
		result = cp.compile(value[0], sc)
	}
	slot := block.slot
	at := cp.site(nil)
	return simple(func(c *Call, f *frame) Value {
		v := result.run(c, f)
		point, ok := f.up(depth).slots[slot].(*exitPoint)
		if !ok || point.dead {
			c.at = at
			c.Fail(controlError, "attempt to return from block %s, which has been left", name.name)
		}
		c.leave(point, v, 0)
		return nil
	})
}

// segment is the code between two tags.
type segment []code

func compileTagbody(cp *Compiler, form *Cons, sc *scope) expression {
	used := false
	inner, own := cp.exitScope(form.Cdr, sc)
	slot := inner.slot()
	items := cp.Forms(form.Cdr)
	tags := 0
	for _, item := range items {
		cp.checkTag(item)
		if isTag(item) {
			tags++
			inner.tags = append(inner.tags, localTag{tag: item, slot: slot, pc: tags, used: &used})
		}
	}
	segments := make([]segment, tags+1)
	pc := 0
	for _, item := range items {
		if isTag(item) {
			pc++
			continue
		}
		segments[pc] = append(segments[pc], cp.compile(item, inner).run)
	}
	run := func(c *Call, f *frame) Value {
		for _, s := range segments {
			for _, step := range s {
				step(c, f)
			}
		}
		return Nil
	}
	if used {
		run = func(c *Call, f *frame) Value {
			for pc := 0; pc < len(segments); {
				c.Step()
				pc = c.runSegments(segments, pc, f, slot)
			}
			return Nil
		}
	}
	if own {
		run = inFrame(inner, run)
	}
	return simple(run)
}

func isTag(item Value) bool {
	switch item.(type) {
	case *Symbol, int64, *big.Int:
		return true
	}
	return false
}

// checkTag refuses what is neither a tag nor a form.
func (cp *Compiler) checkTag(item Value) {
	if _, ok := item.(*Cons); !ok && !isTag(item) {
		cp.Fail(ProgramError, "a tag must be a symbol or an integer, not %s", Sketch(item, formLength))
	}
}

// runSegments runs from segment pc on and returns where to go next.
func (c *Call) runSegments(segments []segment, pc int, f *frame, slot int) (next int) {
	point := c.newExitPoint()
	f.slots[slot] = point
	defer func() {
		if e, ok := c.landed(point); ok {
			recover()
			next = e.index
		}
	}()
	for _, s := range segments[pc:] {
		for _, step := range s {
			step(c, f)
		}
	}
	return len(segments)
}

func compileGo(cp *Compiler, form *Cons, sc *scope) expression {
	name := cp.Arguments(form, 1, 1)[0]
	tag, depth, ok := sc.tag(name)
	if !ok {
		cp.Fail(ProgramError, "attempt to go to nonexistent tag: %s", Sketch(name, formLength))
	}
	*tag.used = true
	at := cp.site(form)
	return simple(func(c *Call, f *frame) Value {
		point, ok := f.up(depth).slots[tag.slot].(*exitPoint)
		if !ok || point.dead {
			c.at = at
			c.Fail(controlError, "attempt to go to a tag of a tagbody that has been left")
		}
		c.leave(point, Nil, tag.pc)
		return nil
	})
}

// catchTag is an active catch.
type catchTag struct {
	tag   Value
	point *exitPoint
}

func compileCatch(cp *Compiler, form *Cons, sc *scope) expression {
	tag := cp.compile(cp.Arguments(form, 1, -1)[0], sc).one()
	body := cp.body(form.Cdr.(*Cons).Cdr, sc).run
	return expression{many: true, run: func(c *Call, f *frame) (result Value) {
		t := tag(c, f)
		point := c.newExitPoint()
		c.catches = Append(c, c.catches, &catchTag{tag: t, point: point})
		defer func() {
			if e, ok := c.landed(point); ok {
				recover()
				result = e.value
			}
		}()
		result = body(c, f)
		c.catches = c.catches[:len(c.catches)-1]
		return result
	}}
}

func compileThrow(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 2)
	tag, value := cp.compile(parts[0], sc).one(), cp.compile(parts[1], sc).run
	at := cp.site(form)
	return simple(func(c *Call, f *frame) Value {
		t := tag(c, f)
		v := value(c, f)
		for i := len(c.catches) - 1; i >= 0; i-- {
			if c.catches[i].tag == t || eql(c.catches[i].tag, t) {
				c.leave(c.catches[i].point, v, 0)
			}
		}
		c.at = at
		c.Fail(controlError, "attempt to THROW to a tag that does not exist: %s", Sketch(t, formLength))
		return nil
	})
}

func compileUnwindProtect(cp *Compiler, form *Cons, sc *scope) expression {
	protected := cp.compile(cp.Arguments(form, 1, -1)[0], sc)
	cleanup := cp.body(form.Cdr.(*Cons).Cdr, sc).run
	return expression{many: protected.many, run: func(c *Call, f *frame) Value {
		saved := c.state()
		finished := false
		defer func() {
			if !finished {
				c.cleanUp(saved, cleanup, f)
			}
		}()
		v := protected.run(c, f)
		finished = true
		cleanup(c, f)
		return v
	}}
}

// cleanUp runs cleanup forms while a non-local exit passes. An exceeded limit and a
// fault of the evaluator run none. A new exit out of the cleanup replaces the old one.
func (c *Call) cleanUp(saved state, cleanup code, f *frame) {
	passing := c.exit
	if passing.target == nil && passing.failed == nil || passing.failed != nil && !passing.orderly {
		return
	}
	c.restore(saved)
	c.exit = exit{}
	cleanup(c, f)
	c.exit = passing
}
