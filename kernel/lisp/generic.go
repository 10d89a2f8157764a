package lisp

import "sort"

// generic is the methods of a generic function.
type generic struct {
	name    string
	methods []*method
}

// method is one method; qualifier is nil for a primary one.
type method struct {
	qualifier    *Symbol
	specializers []specializer
	function     *Function
	// chained says that the body uses call-next-method or next-method-p.
	chained bool
}

// specializer is what a required argument must be: of a class, of a built-in type, or
// one object; none of them for t.
type specializer struct {
	class  *Class
	kind   *Symbol
	object Value
}

var (
	kwBefore = standardKeyword("BEFORE")
	kwAfter  = standardKeyword("AFTER")
	kwAround = standardKeyword("AROUND")

	symCallNext = standardSymbol("CALL-NEXT-METHOD")
	symNextP    = standardSymbol("NEXT-METHOD-P")
)

// overridable are the standard generic functions that notes add methods to.
var overridable = map[string]bool{"PRINT-OBJECT": true, "INITIALIZE-INSTANCE": true, "DESCRIBE-OBJECT": true, "MAKE-LOAD-FORM": true}

func (c *Call) generic(name Value) *Function {
	var slot **Function
	text := ""
	if symbol, ok := setfName(name); ok {
		slot, text = &c.environment.global(symbol).setter, "(SETF "+symbol.name+")"
	} else {
		symbol := c.symbol(name)
		g := c.environment.global(symbol)
		if !overridable[symbol.name] {
			g = c.unfrozen(symbol)
		}
		slot, text = &g.function, symbol.name
	}
	if *slot != nil && (*slot).generic != nil {
		return *slot
	}
	if *slot != nil && (*slot).lambda == nil {
		c.fail(packageError, "%s is no generic function and cannot get methods", text)
	}
	gf := &generic{name: text}
	fn := &Function{name: text, most: -1, many: true, generic: gf}
	fn.call = func(c *Call, args []Value) Value { return c.dispatch(gf, args) }
	*slot = fn
	return fn
}

func (c *Call) addMethod(name Value, m *method) {
	fn := c.generic(name)
	c.charge(closureBytes)
	for i, other := range fn.generic.methods {
		if other.qualifier == m.qualifier && sameSpecializers(other.specializers, m.specializers) {
			fn.generic.methods[i] = m
			return
		}
	}
	fn.generic.methods = append(fn.generic.methods[:len(fn.generic.methods):len(fn.generic.methods)], m)
}

func sameSpecializers(a, b []specializer) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].kind != b[i].kind || a[i].class != b[i].class && (a[i].class == nil || b[i].class == nil || a[i].class.name != b[i].class.name) ||
			(a[i].object == nil) != (b[i].object == nil) || a[i].object != nil && !eql(a[i].object, b[i].object) {
			return false
		}
	}
	return true
}

// distance tells how far v's own class is from the specializer; ok is false if it does
// not apply. Smaller is more specific.
func (c *Call) distance(s *specializer, v Value) (n int, ok bool) {
	switch {
	case s.object != nil:
		return 0, eql(s.object, v)
	case s.class != nil:
		i, isInstance := v.(*Instance)
		if !isInstance {
			return 0, false
		}
		for n, class := range i.class.precedence {
			if class == s.class || class.name == s.class.name {
				return n + 1, true
			}
		}
		return 0, false
	case s.kind != nil:
		if !c.typep(v, s.kind) {
			return 0, false
		}
		// The more ancestors a built-in type has, the more specific it is.
		return 100 - len(builtinAncestry[s.kind.name]), true
	}
	return 1000, true
}

// candidate is an applicable method.
type candidate struct {
	method *method
	rank   []int
}

// applicable returns the methods for args with a qualifier, the most specific first.
func (c *Call) applicable(gf *generic, args []Value, qualifier *Symbol) []*method {
	var found []candidate
	for _, m := range gf.methods {
		if m.qualifier != qualifier || len(args) < len(m.specializers) {
			continue
		}
		k := candidate{method: m}
		applies := true
		for i := range m.specializers {
			c.step()
			n, ok := c.distance(&m.specializers[i], args[i])
			if !ok {
				applies = false
				break
			}
			k.rank = append(k.rank, n)
		}
		if applies {
			found = append(found, k)
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i].rank, found[j].rank
		for n := range min(len(a), len(b)) {
			if a[n] != b[n] {
				return a[n] < b[n]
			}
		}
		return false
	})
	methods := make([]*method, len(found))
	for i := range found {
		methods[i] = found[i].method
	}
	return methods
}

// dispatch calls the methods that apply, combined as the standard does.
func (c *Call) dispatch(gf *generic, args []Value) Value {
	own := append([]Value(nil), args...)
	c.charge(len(own) * valueBytes)
	c.descend(8)
	defer c.ascend(8)
	primary := c.applicable(gf, own, nil)
	if len(primary) == 0 {
		if gf.name == "INITIALIZE-INSTANCE" {
			primary = []*method{{function: &Function{name: "INITIALIZE-INSTANCE", most: -1, call: func(_ *Call, args []Value) Value { return args[0] }}}}
		} else {
			c.fail(simpleError, "there is no applicable method for the generic function %s when called with arguments %s", gf.name, c.shown(NewList(own...)))
		}
	}
	main := func(c *Call, args []Value) Value {
		for _, m := range c.applicable(gf, args, kwBefore) {
			c.callMethod(m, nil, args)
		}
		v := c.callMethod(primary[0], primary[1:], args)
		after := c.applicable(gf, args, kwAfter)
		for i := len(after) - 1; i >= 0; i-- {
			c.callMethod(after[i], nil, args)
		}
		return v
	}
	around := c.applicable(gf, own, kwAround)
	if len(around) == 0 {
		return main(c, own)
	}
	last := &method{function: &Function{name: gf.name, most: -1, many: true, call: main}}
	return c.callMethod(around[0], append(around[1:], last), own)
}

// callMethod calls one method. Its body gets call-next-method and next-method-p as
// functions in front of the arguments, if it uses them.
func (c *Call) callMethod(m *method, next []*method, args []Value) Value {
	if !m.chained {
		return c.apply(m.function, args)
	}
	c.charge(2 * closureBytes)
	proceed := &Function{name: "CALL-NEXT-METHOD", most: -1, many: true, call: func(c *Call, given []Value) Value {
		if len(next) == 0 {
			c.fail(simpleError, "there is no next method")
		}
		if len(given) == 0 {
			given = args
		}
		return c.callMethod(next[0], next[1:], append([]Value(nil), given...))
	}}
	present := &Function{name: "NEXT-METHOD-P", call: func(*Call, []Value) Value { return Boolean(len(next) > 0) }}
	return c.apply(m.function, append([]Value{proceed, present}, args...))
}

func compileDefgeneric(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	var methods []code
	for _, option := range parts[2:] {
		if cell, ok := option.(*Cons); ok && cell.Car == kwMethod {
			methods = append(methods, compileDefmethod(cp, callStar(standardSymbol("DEFMETHOD"), cell.Cdr, parts[0]).(*Cons), sc).run)
		}
	}
	return simple(func(c *Call, f *frame) Value {
		fn := c.generic(parts[0])
		for _, method := range methods {
			method(c, f)
		}
		return fn
	})
}

var kwMethod = standardKeyword("METHOD")

func compileDefmethod(cp *compiler, form *Cons, sc *scope) expression {
	parts := cp.arguments(form, 2, -1)
	rest := form.Cdr.(*Cons).Cdr.(*Cons)
	var qualifier *Symbol
	if symbol, ok := rest.Car.(*Symbol); ok && symbol != Nil {
		qualifier = symbol
		next, ok := rest.Cdr.(*Cons)
		if !ok || qualifier != kwBefore && qualifier != kwAfter && qualifier != kwAround {
			cp.fail(programError, "malformed method %s", sketch(form, formLength))
		}
		rest = next
	}
	list, kinds := cp.specialized(rest.Car)
	chained := cp.mentions(rest.Cdr, symCallNext) || cp.mentions(rest.Cdr, symNextP)
	var function code
	name := definitionName(parts[0])
	if chained {
		// The functions come as arguments and are bound as local functions.
		proceed, present := cp.gensym("NEXT"), cp.gensym("PRESENT")
		function = cp.compileChained(name, &Cons{Car: listStar([]Value{proceed, present}, list), Cdr: rest.Cdr}, sc, cp.blockName(parts[0]))
	} else {
		function = cp.compileLambda(name, &Cons{Car: list, Cdr: rest.Cdr}, sc, lambdaKind{block: cp.blockName(parts[0]), method: true})
	}
	return simple(func(c *Call, f *frame) Value {
		m := &method{qualifier: qualifier, function: function(c, f).(*Function), chained: chained}
		for _, kind := range kinds {
			m.specializers = append(m.specializers, c.specializer(kind))
		}
		c.addMethod(parts[0], m)
		return m.function
	})
}

// compileChained compiles a method whose first two parameters are the functions that
// call-next-method and next-method-p name.
func (cp *compiler) compileChained(name string, list *Cons, sc *scope, block *Symbol) code {
	inner := sc.withFrame()
	parameters := list.Car.(*Cons)
	slots := [2]int{inner.slot(), inner.slot()}
	inner.functions = append(inner.functions, localFunction{name: symCallNext, slot: slots[0]}, localFunction{name: symNextP, slot: slots[1]})
	rest := parameters.Cdr.(*Cons).Cdr
	body := cp.compileLambda(name, &Cons{Car: rest, Cdr: list.Cdr}, inner, lambdaKind{block: block, method: true})
	return func(c *Call, f *frame) Value {
		c.charge(closureBytes)
		return &Function{name: name, least: 2, most: -1, many: true, call: func(c *Call, args []Value) Value {
			g := newFrame(f, inner.layout.slots)
			g.slots[slots[0]], g.slots[slots[1]] = args[0], args[1]
			return c.apply(body(c, g).(*Function), args[2:])
		}}
	}
}

// specialized splits a specialised lambda list.
func (cp *compiler) specialized(list Value) (plain Value, kinds []Value) {
	var parameters builder
	required := true
	for _, item := range cp.forms(list) {
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			required = false
		}
		if cell, ok := item.(*Cons); ok && required {
			pair := cp.forms(cell)
			if len(pair) != 2 {
				cp.fail(programError, "malformed parameter %s", sketch(item, formLength))
			}
			parameters.add(pair[0])
			kinds = append(kinds, pair[1])
			continue
		}
		if required {
			kinds = append(kinds, T)
		}
		parameters.add(item)
	}
	return parameters.list(), kinds
}

func (c *Call) specializer(kind Value) specializer {
	switch x := kind.(type) {
	case *Symbol:
		if x == T {
			return specializer{}
		}
		if class := c.environment.class(x); class != nil {
			return specializer{class: class}
		}
		if c.environment.language.types[x] != nil {
			return specializer{kind: x}
		}
	case *Class:
		return specializer{class: x}
	case *Cons:
		if form, ok := marked(x, symEql); ok {
			return specializer{object: single(c.evaluate(form))}
		}
	}
	c.fail(simpleError, "there is no class named %s", c.shown(kind))
	return specializer{}
}

// mentions reports that a symbol occurs in forms.
func (cp *compiler) mentions(form Value, symbol *Symbol) bool {
	cp.descend(2)
	defer cp.ascend(2)
	for {
		cp.step()
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

// printsObjects reports that the note has methods on print-object.
func (e *Environment) printsObjects() bool {
	g, ok := e.globals[standardSymbol("PRINT-OBJECT")]
	return ok && g.function != nil && g.function.generic != nil
}

// printObject prints an instance by the note's own print-object or print function.
func (c *Call) printObject(p *printer, i *Instance) bool {
	var fn *Function
	if i.class.printer != nil {
		fn = c.function(i.class.printer)
	} else if c.environment.printsObjects() {
		gf := c.environment.global(standardSymbol("PRINT-OBJECT")).function
		if len(c.applicable(gf.generic, []Value{i, Nil}, nil)) == 0 {
			return false
		}
		fn = gf
	} else {
		return false
	}
	stream := newOutput()
	c.descend(24)
	c.call2(fn, i, stream)
	c.ascend(24)
	p.call.chargeOutput(len(stream.out))
	p.out = append(p.out, stream.out...)
	return true
}
