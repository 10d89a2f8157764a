package lisp

// method is one method of a generic function.
type method struct {
	qualifiers   []Value
	specializers []specializer
	function     *Function
	parameters   parameterShape
	generic      *Function
	// chained says that the body uses call-next-method or next-method-p.
	chained bool
}

// specializer is what a required argument must be: of a class, or one object.
type specializer struct {
	class  *Class
	object Value
}

var (
	kwBefore = Keyword("BEFORE")
	kwAfter  = Keyword("AFTER")
	kwAround = Keyword("AROUND")

	symCallNext = CL("CALL-NEXT-METHOD")
	symNextP    = CL("NEXT-METHOD-P")
)

// qualifier is the only qualifier of a method, Nil for none.
func (m *method) qualifier() Value {
	if len(m.qualifiers) == 0 {
		return Nil
	}
	return m.qualifiers[0]
}

func compileDefmethod(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	if _, ok := setfName(parts[0]); !ok {
		cp.checkBindable(parts[0])
	}
	rest := form.Cdr.(*Cons).Cdr.(*Cons)
	var qualifiers []Value
	for !IsList(rest.Car) {
		qualifiers = append(qualifiers, rest.Car)
		next, ok := rest.Cdr.(*Cons)
		if !ok {
			cp.Fail(ProgramError, "malformed method %s", Sketch(form, formLength))
		}
		rest = next
	}
	list, kinds := cp.specialized(rest.Car)
	shape := shapeOf(cp.parseLambdaList(list, false))
	chained := cp.mentions(rest.Cdr, symCallNext) || cp.mentions(rest.Cdr, symNextP)
	var function code
	name := definitionName(parts[0])
	lambda := &Cons{Car: list, Cdr: rest.Cdr}
	if chained {
		function = cp.compileChained(name, lambda, sc, cp.blockName(parts[0]))
	} else {
		function = cp.compileLambda(name, lambda, sc, lambdaKind{block: cp.blockName(parts[0]), method: true})
	}
	return simple(func(c *Call, f *frame) Value {
		m := &method{qualifiers: qualifiers, function: function(c, f).(*Function), parameters: shape, chained: chained}
		for _, kind := range kinds {
			m.specializers = append(m.specializers, c.specializer(kind))
		}
		c.addMethod(c.generic(parts[0]), m)
		return m
	})
}

// compileChained compiles a method that calls the next one. Its first two arguments are
// the functions that call-next-method and next-method-p name in its body.
func (cp *Compiler) compileChained(name string, lambda *Cons, sc *scope, block *Symbol) code {
	inner := sc.withFrame()
	slots := [2]int{inner.slot(), inner.slot()}
	inner.functions = append(inner.functions, localFunction{name: symCallNext, slot: slots[0]}, localFunction{name: symNextP, slot: slots[1]})
	body := cp.compileLambda(name, lambda, inner, lambdaKind{block: block, method: true})
	return func(c *Call, f *frame) Value {
		c.Charge(ObjectBytes)
		return &Function{name: name, least: 2, most: -1, many: true, call: func(c *Call, args []Value) Value {
			g := newFrame(f, inner.layout.slots)
			g.slots[slots[0]], g.slots[slots[1]] = args[0], args[1]
			return c.apply(body(c, g).(*Function), args[2:])
		}}
	}
}

// specialized splits a specialised lambda list.
func (cp *Compiler) specialized(list Value) (plain Value, kinds []Value) {
	parameters := NewListBuilder(cp.Call)
	required := true
	for _, item := range cp.Forms(list) {
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			required = false
		}
		if cell, ok := item.(*Cons); ok && required {
			pair := cp.Forms(cell)
			if len(pair) > 2 {
				cp.Fail(ProgramError, "malformed parameter %s", Sketch(item, formLength))
			}
			parameters.Add(pair[0])
			if len(pair) == 1 {
				pair = append(pair, T)
			}
			kinds = append(kinds, pair[1])
			continue
		}
		if required {
			kinds = append(kinds, T)
		}
		parameters.Add(item)
	}
	return parameters.List(), kinds
}

func (c *Call) specializer(kind Value) specializer {
	if cell, ok := kind.(*Cons); ok {
		if form, ok := marked(cell, symEql); ok {
			return specializer{object: Single(c.evaluate(form))}
		}
		c.Fail(ProgramError, "%s is neither a class nor (eql form)", c.Shown(kind))
	}
	return specializer{class: c.namedClass(kind)}
}

// mentions reports that a symbol occurs in forms.
func (cp *Compiler) mentions(form Value, symbol *Symbol) bool {
	cp.Descend(2)
	defer cp.Ascend(2)
	for {
		cp.Step()
		switch x := form.(type) {
		case *Symbol:
			return x == symbol
		case *Cons:
			if cp.mentions(x.Car, symbol) {
				return true
			}
			form = x.Cdr
		default:
			return false
		}
	}
}

// methodFunctions are about methods as objects.
func methodFunctions() []Builtin {
	return []Builtin{
		{Name: "method-qualifiers", LambdaList: "(method)", Doc: "The qualifiers of a method.", One: func(c *Call, a Value) Value { return c.NewList(c.method(a).qualifiers) }},
		{Name: "ensure-generic-function", LambdaList: "(name &key lambda-list documentation argument-precedence-order method-combination generic-function-class method-class declare environment)", Doc: "The generic function of that name, made if there is none.", Named: ensureGenericFunction},
		{Name: "find-method", LambdaList: "(function qualifiers specializers &optional error)", Doc: "The method with these qualifiers and specializers.", Call: findMethod},
		{Name: "add-method", LambdaList: "(function method)", Doc: "Add a method to a generic function.", Two: func(c *Call, a, b Value) Value {
			fn, m := c.genericFunction(a), c.method(b)
			if m.generic != nil && m.generic != fn {
				c.Fail(SimpleError, "the method belongs to another generic function")
			}
			c.addMethod(fn, m)
			return fn
		}},
		{Name: "remove-method", LambdaList: "(function method)", Doc: "Remove a method from a generic function.", Two: func(c *Call, a, b Value) Value {
			fn, m := c.genericFunction(a), c.method(b)
			for i, other := range fn.generic.methods {
				if other == m {
					kept := append([]*method(nil), fn.generic.methods[:i]...)
					fn.generic.methods, m.generic = append(kept, fn.generic.methods[i+1:]...), nil
					break
				}
			}
			return fn
		}},
		{Name: "compute-applicable-methods", LambdaList: "(function arguments)", Doc: "The methods that apply to arguments, most specific first.", Two: func(c *Call, a, b Value) Value {
			fn := c.genericFunction(a)
			args := c.Slice(b)
			if fn.generic.shape != nil && fn.generic.shape.refuses(len(args)) {
				c.wrongCount(fn.name, len(args))
			}
			var found []Value
			for _, m := range c.applicable(fn.generic, args) {
				found = append(found, m)
			}
			return c.NewList(found)
		}},
		{Name: "function-keywords", LambdaList: "(method)", Doc: "The keywords a method takes, and whether it takes others.", Many: true, One: func(c *Call, a Value) Value {
			m := c.method(a)
			var keys []Value
			for _, key := range m.parameters.keys {
				keys = append(keys, key)
			}
			return c.Values(c.NewList(keys), Boolean(m.parameters.open && m.parameters.hasKeys))
		}},
	}
}

func (c *Call) method(v Value) *method {
	m, ok := v.(*method)
	if !ok {
		c.TypeError(v, "METHOD")
	}
	return m
}

func (c *Call) genericFunction(v Value) *Function {
	fn, ok := v.(*Function)
	if !ok || fn.generic == nil {
		c.TypeError(v, "GENERIC-FUNCTION")
	}
	return fn
}

func findMethod(c *Call, args []Value) Value {
	fn := c.genericFunction(args[0])
	qualifiers := c.Slice(args[1])
	var kinds []specializer
	for _, kind := range c.Slice(args[2]) {
		if cell, ok := kind.(*Cons); ok {
			if object, ok := marked(cell, symEql); ok {
				kinds = append(kinds, specializer{object: object})
				continue
			}
		}
		kinds = append(kinds, specializer{class: c.namedClass(kind)})
	}
	if fn.generic.shape != nil && len(kinds) != fn.generic.shape.required {
		c.Fail(SimpleError, "%s has methods with %d specializers", fn.name, fn.generic.shape.required)
	}
	for _, m := range fn.generic.methods {
		c.Step()
		if sameQualifiers(m.qualifiers, qualifiers) && sameSpecializers(m.specializers, kinds) {
			return m
		}
	}
	if len(args) < 4 || args[3] != Nil {
		c.Fail(SimpleError, "%s has no such method", fn.name)
	}
	return Nil
}
