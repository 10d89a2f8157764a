package lisp

// generic is the methods of a generic function and how they are combined.
type generic struct {
	name    string
	methods []*method
	// shape is what all lambda lists agree in, nil before there is one.
	shape *parameterShape
	// combination is nil for the standard one.
	combination *combination
	lastFirst   bool // :most-specific-last
	// precedence is the order in which arguments decide, nil for left to right.
	precedence []int
	// fallback is the standard function that the note added methods to.
	fallback *Function
}

// parameterShape is what the lambda lists of a generic function and its methods must
// agree in.
type parameterShape struct {
	required, optional int
	rest, hasKeys      bool
	keys               []*Symbol
	open               bool
}

func shapeOf(l *lambdaList) parameterShape {
	s := parameterShape{required: len(l.required), optional: len(l.optional), rest: l.rest != nil, hasKeys: l.hasKeys, open: l.open || l.rest != nil && !l.hasKeys}
	for _, key := range l.keys {
		s.keys = append(s.keys, key.keyword)
	}
	return s
}

// congruent reports that a method's lambda list fits the generic function's.
func (s *parameterShape) congruent(m *parameterShape) bool {
	if s.required != m.required || s.optional != m.optional || (s.rest || s.hasKeys) != (m.rest || m.hasKeys) {
		return false
	}
	if !s.hasKeys || m.open {
		return true
	}
	known := keySet{keys: m.keys}
	for _, key := range s.keys {
		if !known.has(key) {
			return false
		}
	}
	return true
}

func (s *parameterShape) refuses(n int) bool {
	return n < s.required || n > s.required+s.optional && !s.rest && !s.hasKeys
}

// generic finds the generic function of that name, or makes it.
func (c *Call) generic(name Value) *Function {
	var place **Function
	text := definitionName(name)
	if symbol, ok := setfName(name); ok {
		g := c.global(symbol)
		if symbol.home == standardPackage && g.setter != nil {
			c.Fail(packageError, "%s belongs to Common Lisp and cannot get methods", text)
		}
		place = &g.setter
	} else {
		g := c.global(c.TakeSymbol(name))
		if g.function == nil || !g.function.open {
			g = c.unfrozen(g.symbol)
		}
		if g.macro != nil || c.environment.macro(g.symbol) != nil {
			c.Fail(ProgramError, "%s is a macro and cannot be a generic function", text)
		}
		place = &g.function
	}
	old := *place
	if old != nil && old.generic != nil {
		return old
	}
	gf := Allocate(c, generic{name: text})
	fn := Allocate(c, Function{name: text, most: -1, many: true, generic: gf})
	if old != nil {
		if !old.open {
			c.Fail(ProgramError, "%s is an ordinary function and cannot get methods", text)
		}
		fn.open, gf.fallback = true, old
	}
	fn.call = func(c *Call, args []Value) Value { return c.dispatch(fn, args) }
	*place = fn
	return fn
}

func (c *Call) addMethod(fn *Function, m *method) {
	gf := fn.generic
	if gf.shape == nil {
		shape := m.parameters
		shape.keys, shape.open = nil, false
		gf.shape = &shape
		if gf.fallback == nil {
			fn.bounds(gf.shape)
		}
	}
	if gf.fallback == nil && !gf.shape.congruent(&m.parameters) {
		c.Fail(ProgramError, "the lambda list of the method does not agree with that of the generic function %s", gf.name)
	}
	m.generic = fn
	for i := range c.Rounds(len(gf.methods)) {
		other := gf.methods[i]
		if sameQualifiers(other.qualifiers, m.qualifiers) && sameSpecializers(other.specializers, m.specializers) {
			gf.methods = Clone(c, gf.methods)
			gf.methods[i] = m
			return
		}
	}
	gf.methods = Append(c, gf.methods[:len(gf.methods):len(gf.methods)], m)
}

// bounds sets how many arguments a function takes, so that wrong calls are found when
// the note is loaded.
func (fn *Function) bounds(s *parameterShape) {
	fn.least, fn.most = s.required, s.required+s.optional
	if s.rest || s.hasKeys {
		fn.most = -1
	}
}

func sameQualifiers(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func sameSpecializers(a, b []specializer) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if (a[i].object == nil) != (b[i].object == nil) || a[i].object != nil && !eql(a[i].object, b[i].object) ||
			a[i].object == nil && !a[i].class.same(b[i].class) {
			return false
		}
	}
	return true
}

// same reports that two classes are one, or definitions of the same name.
func (k *Class) same(other *Class) bool { return k == other || k.name == other.name }

var (
	kwMethod             = Keyword("METHOD")
	kwMethodCombination  = Keyword("METHOD-COMBINATION")
	kwArgumentPrecedence = Keyword("ARGUMENT-PRECEDENCE-ORDER")
	kwGenericClass       = Keyword("GENERIC-FUNCTION-CLASS")
	kwMethodClass        = Keyword("METHOD-CLASS")
	kwMostSpecificLast   = Keyword("MOST-SPECIFIC-LAST")
	kwMostSpecificFirst  = Keyword("MOST-SPECIFIC-FIRST")
	kwIdentityWithOne    = Keyword("IDENTITY-WITH-ONE-ARGUMENT")
	kwOperator           = Keyword("OPERATOR")
)

// genericDefinition is a defgeneric as written.
type genericDefinition struct {
	name        Value
	list        *lambdaList
	methods     []code
	doc         Value
	combination []Value
	precedence  []int
}

func compileDefgeneric(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	if _, ok := setfName(parts[0]); !ok {
		cp.checkBindable(parts[0])
	}
	d := &genericDefinition{name: parts[0], list: cp.genericLambdaList(parts[1])}
	seen := map[Value]bool{}
	for _, part := range parts[2:] {
		option := cp.Forms(part)
		if len(option) == 0 || seen[option[0]] && option[0] != kwMethod && option[0] != symDeclare {
			cp.Fail(ProgramError, "malformed or repeated option %s in defgeneric", Sketch(part, formLength))
		}
		seen[option[0]] = true
		cp.genericOption(d, option, sc)
	}
	return simple(func(c *Call, f *frame) Value { return c.defineGeneric(d, f) })
}

// genericLambdaList parses a lambda list without default values.
func (cp *Compiler) genericLambdaList(list Value) *lambdaList {
	l := cp.parseLambdaList(list, false)
	bare := len(l.aux) == 0
	for _, p := range append(l.optional[:len(l.optional):len(l.optional)], l.keys...) {
		bare = bare && p.initial == Nil && p.supplied == nil
	}
	if !bare {
		cp.Fail(ProgramError, "the lambda list of a generic function has no default values: %s", Sketch(list, formLength))
	}
	return l
}

func (cp *Compiler) genericOption(d *genericDefinition, option []Value, sc *scope) {
	switch option[0] {
	case kwMethod:
		definition := FormStar(CL("DEFMETHOD"), NewList(option[1:]...), d.name).(*Cons)
		d.methods = append(d.methods, compileDefmethod(cp, definition, sc).run)
	case kwDocumentation:
		if len(option) != 2 {
			cp.Fail(ProgramError, "malformed :documentation")
		}
		d.doc = option[1]
	case kwMethodCombination:
		d.combination = option[1:]
	case kwArgumentPrecedence:
		used := map[int]bool{}
		for _, name := range option[1:] {
			at := -1
			for i, required := range d.list.required {
				if required == name && !used[i] {
					at = i
				}
			}
			if at < 0 {
				cp.Fail(ProgramError, "%s is not a required parameter, or named twice", Sketch(name, formLength))
			}
			used[at] = true
			d.precedence = append(d.precedence, at)
		}
		if len(d.precedence) != len(d.list.required) {
			cp.Fail(ProgramError, ":argument-precedence-order must name all required parameters")
		}
	case symDeclare, kwGenericClass, kwMethodClass:
	default:
		cp.Fail(ProgramError, "unknown option %s in defgeneric", Sketch(option[0], formLength))
	}
}

func (c *Call) defineGeneric(d *genericDefinition, f *frame) Value {
	fn := c.generic(d.name)
	gf := fn.generic
	shape := shapeOf(d.list)
	for _, m := range gf.methods {
		if gf.fallback == nil && !shape.congruent(&m.parameters) {
			c.Fail(ProgramError, "the lambda list does not agree with a method that %s has", gf.name)
		}
	}
	gf.shape, gf.precedence = &shape, d.precedence
	if gf.fallback == nil {
		fn.bounds(&shape)
	}
	gf.combination = nil
	if len(d.combination) > 0 {
		gf.combination, gf.lastFirst = c.findCombination(d.combination)
	}
	if text, ok := d.doc.(*String); ok {
		fn.doc = text.String()
	}
	for _, method := range d.methods {
		method(c, f)
	}
	return fn
}

// ensureGenericFunction is defgeneric as a function, without methods.
func ensureGenericFunction(c *Call, args Args) Value {
	nameArg, lambdaList, argumentPrecedenceOrder := args.Get("name"), args.Get("lambda-list"), args.Get("argument-precedence-order")
	methodCombination := args.Get("method-combination")
	cp := c.newCompiler("")
	if lambdaList == nil {
		return c.generic(nameArg)
	}
	d := &genericDefinition{name: nameArg, list: cp.genericLambdaList(lambdaList), doc: args.Get("documentation")}
	if Given(argumentPrecedenceOrder) {
		cp.genericOption(d, append([]Value{kwArgumentPrecedence}, c.Slice(argumentPrecedenceOrder)...), nil)
	}
	if Given(methodCombination) {
		d.combination = c.Slice(methodCombination)
	}
	return c.defineGeneric(d, nil)
}

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
		return Allocate(c, Function{name: name, least: 2, most: -1, many: true, call: func(c *Call, args []Value) Value {
			g := c.newFrame(f, inner.layout.slots)
			g.slots[slots[0]], g.slots[slots[1]] = args[0], args[1]
			return c.apply(body(c, g).(*Function), args[2:])
		}})
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
		{Name: "find-method", LambdaList: "(function qualifiers specializers &optional error)", Doc: "The method with these qualifiers and specializers.", Named: findMethod},
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

func findMethod(c *Call, args Args) Value {
	fn := c.genericFunction(args.Get("function"))
	qualifiers := c.Slice(args.Get("qualifiers"))
	var kinds []specializer
	for _, kind := range c.Slice(args.Get("specializers")) {
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
	for i := range c.Rounds(len(fn.generic.methods)) {
		m := fn.generic.methods[i]
		if sameQualifiers(m.qualifiers, qualifiers) && sameSpecializers(m.specializers, kinds) {
			return m
		}
	}
	if args.Get("error") != Nil {
		c.Fail(SimpleError, "%s has no such method", fn.name)
	}
	return Nil
}
