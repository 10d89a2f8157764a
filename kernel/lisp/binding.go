package lisp

// maximumScan bounds the look for closures in the body of a let.
const maximumScan = 400

// captures reports whether forms may make a closure over the variables around them. If
// not, the variables can live in the frame that is there; the answer may err only to
// the safe side.
func (cp *Compiler) captures(forms Value, sc *scope) bool {
	for s := sc; s != nil; s = s.parent {
		for _, f := range s.functions {
			if f.macro != nil {
				return true
			}
		}
	}
	budget := maximumScan
	return cp.scan(forms, &budget)
}

func (cp *Compiler) scan(form Value, budget *int) bool {
	for {
		switch x := form.(type) {
		case *Symbol:
			return x.operator != nil && x.operator.capturing || cp.environment.ownMacro(x) != nil
		case *Cons:
			*budget--
			if *budget < 0 || cp.scan(x.Car, budget) {
				return true
			}
			form = x.Cdr
		default:
			return false
		}
	}
}

// letBinding is one variable of a let.
type letBinding struct {
	symbol *Symbol
	value  Value
}

func (cp *Compiler) letBindings(list Value) []letBinding {
	var bindings []letBinding
	for _, item := range cp.Forms(list) {
		b := letBinding{value: Nil}
		if cell, ok := item.(*Cons); ok {
			parts := cp.Forms(cell)
			if len(parts) > 2 {
				cp.malformedBinding(item)
			}
			item = parts[0]
			if len(parts) == 2 {
				b.value = parts[1]
			}
		}
		if _, ok := item.(*Symbol); !ok {
			cp.malformedBinding(item)
		}
		b.symbol = cp.checkBindable(item)
		bindings = Append(cp.Call, bindings, b)
	}
	return bindings
}

func (cp *Compiler) malformedBinding(item Value) {
	cp.Fail(ProgramError, "malformed let binding: %s; bindings are written ((variable value) …)", Sketch(item, formLength))
}

// checkDistinct refuses a variable that is bound twice at once.
func (cp *Compiler) checkDistinct(bindings []letBinding) {
	if len(bindings) < 2 {
		return
	}
	seen := make(map[*Symbol]bool, len(bindings))
	for _, b := range bindings {
		if seen[b.symbol] {
			cp.Fail(ProgramError, "the variable %s is bound twice", b.symbol.name)
		}
		Insert(cp.Call, seen, b.symbol, true)
	}
}

// letScope opens the scope for bindings around body: its own frame if closures may
// capture them, else the frame there is.
func (cp *Compiler) letScope(form *Cons, sc *scope) (inner *scope, own bool) {
	if cp.captures(form.Cdr, sc) {
		return sc.withFrame(), true
	}
	return sc.nested(), false
}

func compileLet(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	bindings := cp.letBindings(rest.Car)
	cp.checkDistinct(bindings)
	specials, _, forms := cp.declarations(rest.Cdr, false)
	inner, own := cp.letScope(form, sc)
	values := MakeSlice[code](cp.Call, len(bindings))
	for i, b := range bindings {
		values[i] = cp.compile(b.value, sc).one()
	}
	targets := cp.letTargets(bindings, inner, specials)
	body := cp.body(forms, inner)
	return expression{many: body.many, run: letCode(values, targets, inner, own, body.run)}
}

func (cp *Compiler) letTargets(bindings []letBinding, inner *scope, specials []*Symbol) []target {
	targets := MakeSlice[target](cp.Call, len(bindings))
	for i, b := range bindings {
		if cp.special(b.symbol, specials) {
			inner.addVariable(b.symbol, true)
			targets[i].global = cp.global(b.symbol)
			continue
		}
		targets[i].slot = inner.addVariable(b.symbol, false).slot
	}
	cp.declareSpecial(specials, bindings, inner)
	return targets
}

// declareSpecial makes special declarations for variables that are not bound here hold
// in the body.
func (cp *Compiler) declareSpecial(specials []*Symbol, bindings []letBinding, inner *scope) {
next:
	for _, symbol := range specials {
		for _, b := range bindings {
			if b.symbol == symbol {
				continue next
			}
		}
		inner.addVariable(symbol, true)
	}
}

func letCode(values []code, targets []target, inner *scope, own bool, body code) code {
	special := false
	for i := range targets {
		special = special || targets[i].global != nil
	}
	if special {
		return specialLet(values, targets, inner, own, body)
	}
	if !own {
		if len(values) == 1 {
			value, slot := values[0], targets[0].slot
			return func(c *Call, f *frame) Value {
				f.slots[slot] = value(c, f)
				return body(c, f)
			}
		}
		return func(c *Call, f *frame) Value {
			for i, value := range values {
				f.slots[targets[i].slot] = value(c, f)
			}
			return body(c, f)
		}
	}
	return func(c *Call, f *frame) Value {
		g := c.newFrame(f, inner.layout.slots)
		for i, value := range values {
			g.slots[targets[i].slot] = value(c, f)
		}
		return body(c, g)
	}
}

// specialLet evaluates all values before it binds any.
func specialLet(values []code, targets []target, inner *scope, own bool, body code) code {
	return func(c *Call, f *frame) Value {
		c.stackGrew()
		base := len(c.stack)
		for _, value := range values {
			v := value(c, f)
			c.stack = append(c.stack, v)
		}
		g := f
		if own {
			g = c.newFrame(f, inner.layout.slots)
		}
		mark := len(c.bindings)
		for i := range targets {
			targets[i].set(c, g, c.stack[base+i])
		}
		c.stack = c.stack[:base]
		v := body(c, g)
		c.unbind(mark)
		return v
	}
}

func compileLetStar(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	bindings := cp.letBindings(rest.Car)
	specials, _, forms := cp.declarations(rest.Cdr, false)
	inner, own := cp.letScope(form, sc)
	values, targets := MakeSlice[code](cp.Call, len(bindings)), MakeSlice[target](cp.Call, len(bindings))
	special := false
	for i, b := range bindings {
		values[i] = cp.compile(b.value, inner).one()
		if cp.special(b.symbol, specials) {
			inner.addVariable(b.symbol, true)
			targets[i].global, special = cp.global(b.symbol), true
			continue
		}
		targets[i].slot = inner.addVariable(b.symbol, false).slot
	}
	cp.declareSpecial(specials, bindings, inner)
	body := cp.body(forms, inner)
	run := body.run
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		if own {
			f = c.newFrame(f, inner.layout.slots)
		}
		if !special {
			for i, value := range values {
				f.slots[targets[i].slot] = value(c, f)
			}
			return run(c, f)
		}
		mark := len(c.bindings)
		for i, value := range values {
			targets[i].set(c, f, value(c, f))
		}
		v := run(c, f)
		c.unbind(mark)
		return v
	}}
}

func compileMultipleValueBind(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 2, -1)
	rest := form.Cdr.(*Cons)
	producer := rest.Cdr.(*Cons)
	var bindings []letBinding
	for _, name := range cp.Forms(rest.Car) {
		bindings = append(bindings, letBinding{symbol: cp.checkBindable(name)})
	}
	cp.checkDistinct(bindings)
	specials, _, forms := cp.declarations(producer.Cdr, false)
	values := cp.compile(producer.Car, sc).run
	inner, own := cp.letScope(form, sc)
	targets := cp.letTargets(bindings, inner, specials)
	body := cp.body(forms, inner)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		v := values(c, f)
		if own {
			f = c.newFrame(f, inner.layout.slots)
		}
		mark := len(c.bindings)
		m, many := v.(*multiple)
		for i := range targets {
			switch {
			case many && i < len(m.values):
				targets[i].set(c, f, m.values[i])
			case !many && i == 0:
				targets[i].set(c, f, v)
			default:
				targets[i].set(c, f, Nil)
			}
		}
		result := body.run(c, f)
		c.unbind(mark)
		return result
	}}
}

func compileMultipleValueList(cp *Compiler, form *Cons, sc *scope) expression {
	run := cp.compile(cp.Arguments(form, 1, 1)[0], sc).run
	return simple(func(c *Call, f *frame) Value { return c.NewList(every(run(c, f))) })
}

func compileMultipleValueProg1(cp *Compiler, form *Cons, sc *scope) expression {
	first := cp.compile(cp.Arguments(form, 1, -1)[0], sc)
	rest := cp.body(form.Cdr.(*Cons).Cdr, sc).run
	return expression{many: first.many, run: func(c *Call, f *frame) Value {
		v := first.run(c, f)
		rest(c, f)
		return v
	}}
}

func compileMultipleValueCall(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	function := cp.compile(parts[0], sc).one()
	var producers []code
	for _, part := range parts[1:] {
		producers = append(producers, cp.compile(part, sc).run)
	}
	at := cp.site(form)
	return expression{many: true, run: func(c *Call, f *frame) Value {
		fn := function(c, f)
		var args []Value
		for _, producer := range producers {
			args = Append(c, args, every(producer(c, f))...)
		}
		c.at = at
		return c.funcall(fn, args)
	}}
}

func compileNthValue(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 2)
	index, run := cp.compile(parts[0], sc).one(), cp.compile(parts[1], sc).run
	return simple(func(c *Call, f *frame) Value {
		n := c.Index(index(c, f))
		vs := every(run(c, f))
		if n < len(vs) {
			return vs[n]
		}
		return Nil
	})
}

func compileDestructuringBind(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 2, -1)
	rest := form.Cdr.(*Cons)
	if !IsList(rest.Car) {
		cp.TypeError(rest.Car, "LIST")
	}
	producer := rest.Cdr.(*Cons)
	list := cp.compile(producer.Car, sc).one()
	specials, _, forms := cp.declarations(producer.Cdr, false)
	inner, own := cp.letScope(form, sc)
	b := cp.compileBinder(cp.parseLambdaList(rest.Car, true), inner, specials, SimpleError)
	body := cp.body(forms, inner)
	at := cp.site(form)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		v := list(c, f)
		if own {
			f = c.newFrame(f, inner.layout.slots)
		}
		c.at = at
		mark := len(c.bindings)
		b.destructure(c, f, v)
		result := body.run(c, f)
		c.unbind(mark)
		return result
	}}
}

// localForms bind functions and macros lexically; backquote is compiled here, too.
func localForms() []standardForm {
	return []standardForm{
		{"flet", "(functions &body body)", "Define local functions that do not see each other.", compileFlet},
		{"labels", "(functions &body body)", "Define local functions that may call each other.", compileLabels},
		{"macrolet", "(macros &body body)", "Define local macros.", compileMacrolet},
		{"symbol-macrolet", "(bindings &body body)", "Make symbols stand for forms in body.", compileSymbolMacrolet},
	}
}

// localDefinition is (name lambda-list . body).
type localDefinition struct {
	name Value
	rest Value
}

func (cp *Compiler) localDefinitions(list Value) []localDefinition {
	var definitions []localDefinition
	for _, item := range cp.Forms(list) {
		cell, ok := item.(*Cons)
		if !ok {
			cp.Fail(ProgramError, "malformed local function: %s", Sketch(item, formLength))
		}
		if symbol, ok := cell.Car.(*Symbol); ok && symbol.home == standardPackage {
			cp.Fail(ProgramError, "%s belongs to Common Lisp and cannot be rebound; choose another name", symbol.name)
		} else if _, setter := setfName(cell.Car); !ok && !setter {
			cp.Fail(ProgramError, "%s cannot name a function", Sketch(cell.Car, formLength))
		}
		definitions = append(definitions, localDefinition{cell.Car, cell.Cdr})
	}
	return definitions
}

func definitionName(name Value) string {
	if symbol, ok := name.(*Symbol); ok {
		return symbol.name
	}
	return Sketch(name, formLength)
}

func compileFlet(cp *Compiler, form *Cons, sc *scope) expression {
	return compileLocalFunctions(cp, form, sc, false)
}

func compileLabels(cp *Compiler, form *Cons, sc *scope) expression {
	return compileLocalFunctions(cp, form, sc, true)
}

func compileLocalFunctions(cp *Compiler, form *Cons, sc *scope, recursive bool) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	definitions := cp.localDefinitions(rest.Car)
	inner := sc.withFrame()
	around := sc
	slots := make([]int, len(definitions))
	for i := range definitions {
		slots[i] = inner.slot()
	}
	bind := func() {
		for i, d := range definitions {
			inner.functions = append(inner.functions, localFunction{name: d.name, slot: slots[i]})
		}
	}
	if recursive {
		around = inner
		bind()
	}
	functions := make([]code, len(definitions))
	for i, d := range definitions {
		functions[i] = cp.compileLambda(definitionName(d.name), d.rest, around, lambdaKind{block: cp.blockName(d.name)})
	}
	if !recursive {
		bind()
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	cp.declareSpecial(specials, nil, inner)
	body := cp.body(forms, inner)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		g := c.newFrame(f, inner.layout.slots)
		outer := f
		if recursive {
			outer = g
		}
		for i, function := range functions {
			g.slots[slots[i]] = function(c, outer)
		}
		return body.run(c, g)
	}}
}

// macros is the scope that expanders of local macros are compiled in: the local macros
// and symbol macros around them. Variables and functions do not exist yet when they run.
func (s *scope) macros() *scope {
	inner := (*scope)(nil).withFrame()
	seen := map[*Symbol]bool{}
	for s := range s.outward {
		for i := len(s.functions) - 1; i >= 0; i-- {
			f := s.functions[i]
			if _, _, hidden := inner.function(f.name); !hidden {
				inner.functions = append(inner.functions, f)
			}
		}
		for i := len(s.variables) - 1; i >= 0; i-- {
			if v := s.variables[i]; !seen[v.symbol] {
				seen[v.symbol] = true
				if v.expansion != nil {
					inner.variables = append(inner.variables, v)
				}
			}
		}
	}
	kept := inner.functions[:0]
	for _, f := range inner.functions {
		if f.macro != nil {
			kept = append(kept, f)
		}
	}
	inner.functions = kept
	return inner
}

func compileMacrolet(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	inner := sc.nested()
	for _, d := range cp.localDefinitions(rest.Car) {
		top := sc.macros()
		function := cp.compileLambda(definitionName(d.name), d.rest, top, lambdaKind{block: cp.blockName(d.name), macro: true})
		fn := function(cp.Call, cp.newFrame(nil, top.layout.slots)).(*Function)
		inner.functions = append(inner.functions, localFunction{name: d.name, macro: &macro{name: definitionName(d.name), function: fn}})
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	cp.declareSpecial(specials, nil, inner)
	return cp.body(forms, inner)
}

func compileSymbolMacrolet(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	inner := sc.nested()
	for _, item := range cp.Forms(rest.Car) {
		parts := cp.Forms(item)
		if len(parts) != 2 {
			cp.Fail(ProgramError, "malformed symbol macro: %s", Sketch(item, formLength))
		}
		symbol := cp.checkBindable(parts[0])
		if cp.isSpecial(symbol) {
			cp.Fail(ProgramError, "%s is a special variable and cannot be a symbol macro", symbol.name)
		}
		inner.variables = append(inner.variables, variable{symbol: symbol, expansion: parts[1]})
	}
	specials, _, forms := cp.declarations(rest.Cdr, false)
	for _, symbol := range specials {
		if v, depth, ok := inner.variable(symbol); ok && depth == 0 && v.expansion != nil {
			cp.Fail(ProgramError, "%s is a symbol macro and cannot be declared special", symbol.name)
		}
	}
	cp.declareSpecial(specials, nil, inner)
	return cp.body(forms, inner)
}
