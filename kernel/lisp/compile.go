package lisp

import (
	"slices"
)

// expression is a compiled form and what is known about it.
type expression struct {
	run code
	// many says that run may return a *multiple.
	many bool
	// constant is the value of a form that has always the same, nil otherwise.
	constant Value
}

// one returns code that yields exactly one value.
func (e expression) one() code {
	if !e.many {
		return e.run
	}
	run := e.run
	return func(c *Call, f *frame) Value {
		v := run(c, f)
		if m, ok := v.(*multiple); ok {
			return Single(m)
		}
		return v
	}
}

func constant(v Value) expression {
	return expression{run: func(*Call, *frame) Value { return v }, constant: v}
}

func simple(run code) expression { return expression{run: run} }

// Compiler turns forms of one source into code. It expands macros as it goes, so it
// runs inside a call.
type Compiler struct {
	*Call
	language *Language
	file     string
	// current is the site of the form being compiled, for errors in it; here is the copy
	// that its code keeps, nil until it wants one. The position is that of the innermost
	// form which has one: forms made by macros have none.
	current site
	here    *site
	// nesting and deepest measure how deep the form being compiled is.
	nesting, deepest int
	// handled counts the forms around whose errors the note handles itself: what is
	// known to fail in them is no fault of the note.
	handled int
	// literals are the constants with parts, and the functions, in the function being
	// compiled.
	literals []any
}

type specialForm func(cp *Compiler, form *Cons, sc *scope) expression

// standardForm is one row of a table of special forms.
type standardForm struct {
	name    string
	list    string
	doc     string
	compile specialForm
}

// maximumNesting bounds how deep forms may be nested in source.
const maximumNesting = 2000

func (c *Call) newCompiler(file string) *Compiler {
	return Allocate(c, Compiler{Call: c, language: c.environment.language, file: file, current: site{file: file}})
}

// topLevel evaluates a form outside any function. The parts of a progn are top-level
// forms again: what one defines is known when the next is compiled.
func (c *Call) topLevel(form Value, file string) Value {
	cell, ok := form.(*Cons)
	if !ok || cell.Car != symProgn {
		return c.newCompiler(file).compileTop(form)(c, nil)
	}
	c.Descend(8)
	v := Value(Nil)
	for part, ok := c.next(cell.Cdr); ok; part, ok = c.next(part.Cdr) {
		v = c.topLevel(part.Car, file)
	}
	c.Ascend(8)
	return v
}

// compileTop compiles a form outside any function.
func (cp *Compiler) compileTop(form Value) code {
	sc := (*scope)(nil).withFrame()
	e := cp.compile(form, sc)
	weight := cp.weight()
	return func(c *Call, _ *frame) Value {
		c.Descend(weight)
		v := e.run(c, c.newFrame(nil, sc.layout.slots))
		c.Ascend(weight)
		return v
	}
}

// weight is the nesting of what was compiled since the last function began.
func (cp *Compiler) weight() int { return cp.deepest + 3 }

// site remembers form for errors, at the innermost known position.
func (cp *Compiler) site(form Value) *site {
	if cp.here != nil && cp.here.of == form {
		return cp.here
	}
	s := Allocate(cp.Call, cp.current)
	if s.of == form {
		cp.here = s
		return s
	}
	s.of = form
	if cell, ok := form.(*Cons); !ok || cell.line > 0 || s.line == 0 {
		s.form = form // else it was made by a macro: what was written says more
	}
	return s
}

// enter begins the compilation of a form.
func (cp *Compiler) enter(form *Cons) {
	cp.current.of, cp.here = form, nil
	if form.line > 0 {
		cp.current.line, cp.current.column = form.line, form.column
	}
	if form.line > 0 || cp.current.line == 0 {
		cp.current.form = form // else it was made by a macro: what was written says more
	}
	cp.nesting++
	cp.deepest = max(cp.deepest, cp.nesting)
	if cp.nesting > maximumNesting {
		cp.Fail(ProgramError, "forms are nested more than %d deep", maximumNesting)
	}
	cp.Descend(4)
	cp.at = &cp.current
}

// codeBytes is what the code of a form takes, without the parts of the form.
const codeBytes = 128

// compile compiles one form.
func (cp *Compiler) compile(form Value, sc *scope) expression {
	cp.Step()
	cp.Charge(codeBytes)
	switch x := form.(type) {
	case *Symbol:
		return cp.compileVariable(x, sc)
	case *Cons:
		current, here, at := cp.current, cp.here, cp.at
		cp.enter(x)
		e := cp.compileCons(x, sc)
		cp.current, cp.here, cp.at = current, here, at
		cp.nesting--
		cp.Ascend(4)
		return e
	}
	return cp.literal(form)
}

// literal is a constant that a note wrote, and may change.
func (cp *Compiler) literal(v Value) expression {
	switch v.(type) {
	case *Cons, *Vector, *String:
		cp.literals = Append(cp.Call, cp.literals, v)
	}
	return constant(v)
}

func (cp *Compiler) compileCons(form *Cons, sc *scope) expression {
	head, ok := form.Car.(*Symbol)
	if !ok {
		if operator, ok := form.Car.(*Cons); ok && operator.Car == symLambda {
			return cp.compileLambdaCall(operator, form, sc)
		}
		cp.Fail(ProgramError, "illegal function call: %s", Sketch(form, formLength))
	}
	if local, depth, ok := sc.function(head); ok {
		if local.macro != nil {
			return cp.compile(cp.expandIn(local.macro, form, sc), sc)
		}
		return cp.compileLocalCall(local, depth, form, sc)
	}
	if head.operator != nil && head.operator.special != nil {
		return head.operator.special(cp, form, sc)
	}
	if reading, ok := cp.environment.config.Interface.read[head]; ok && writtenKeyword(form) {
		head = reading
	}
	if m := cp.environment.macro(head); m != nil {
		return cp.compile(cp.expandIn(m, form, sc), sc)
	}
	return cp.compileCall(head, form, sc)
}

// writtenKeyword reports whether the first argument of a call is a keyword, as it is written.
func writtenKeyword(form *Cons) bool {
	arguments, ok := form.Cdr.(*Cons)
	if !ok {
		return false
	}
	key, ok := arguments.Car.(*Symbol)
	return ok && key.Keyword()
}

// body compiles forms of which the last gives the value.
func (cp *Compiler) body(forms Value, sc *scope) expression {
	items := cp.Forms(forms)
	switch len(items) {
	case 0:
		return constant(Nil)
	case 1:
		return cp.compile(items[0], sc)
	}
	var steps []code
	for _, item := range items[:len(items)-1] {
		if e := cp.compile(item, sc); e.constant == nil {
			steps = Append(cp.Call, steps, e.run)
		}
	}
	last := cp.compile(items[len(items)-1], sc)
	run := last.run
	switch len(steps) {
	case 0:
		return last
	case 1:
		first := steps[0]
		return expression{many: last.many, run: func(c *Call, f *frame) Value {
			first(c, f)
			return run(c, f)
		}}
	}
	return expression{many: last.many, run: func(c *Call, f *frame) Value {
		for _, step := range steps {
			step(c, f)
		}
		return run(c, f)
	}}
}

// Forms returns the elements of a form's tail, which must be a proper list.
func (cp *Compiler) Forms(list Value) []Value {
	items, ok := Slice(list, 1<<20)
	if !ok {
		cp.Fail(ProgramError, "a form must be a proper list: %s", Sketch(list, formLength))
	}
	cp.ChargeMany(len(items), 3*ValueBytes) // Slice grows by copying
	return items
}

// Arguments is forms with a check of their number; most < 0 means any number.
func (cp *Compiler) Arguments(form *Cons, least, most int) []Value {
	items := cp.Forms(form.Cdr)
	if len(items) < least || most >= 0 && len(items) > most {
		cp.Fail(ProgramError, "wrong number of parts in %s", Sketch(form, formLength))
	}
	return items
}

func (cp *Compiler) compileVariable(symbol *Symbol, sc *scope) expression {
	if symbol == Nil || symbol == T || symbol.Keyword() {
		return constant(symbol)
	}
	v, depth, ok := sc.variable(symbol)
	if ok && v.expansion != nil {
		cp.Descend(8)
		defer cp.Ascend(8)
		return cp.compile(v.expansion, sc)
	}
	if !ok || v.special {
		return cp.compileSpecial(symbol, ok)
	}
	slot := v.slot
	switch depth {
	case 0:
		return simple(func(_ *Call, f *frame) Value { return f.slots[slot] })
	case 1:
		return simple(func(_ *Call, f *frame) Value { return f.parent.slots[slot] })
	case 2:
		return simple(func(_ *Call, f *frame) Value { return f.parent.parent.slots[slot] })
	}
	return simple(func(_ *Call, f *frame) Value { return f.up(depth).slots[slot] })
}

func (cp *Compiler) compileSpecial(symbol *Symbol, declared bool) expression {
	g := cp.global(symbol)
	if g.expansion != nil {
		cp.Descend(8)
		defer cp.Ascend(8)
		return cp.compile(g.expansion, (*scope)(nil).withFrame())
	}
	at := cp.site(symbol)
	if cp.current.of != nil {
		at = cp.site(cp.current.of)
	}
	if !declared && !g.special && g.value == nil {
		cp.environment.refer(reference{symbol: symbol, variable: true, at: at, function: cp.functionName()})
	}
	return simple(func(c *Call, _ *frame) Value {
		v := c.special(g)
		if v == nil {
			c.at = at
			return c.unbound(symbol)
		}
		return v
	})
}

// functionName is the name of the function being compiled, for problems.
func (cp *Compiler) functionName() string {
	if cp.running != nil {
		return cp.running.name
	}
	return ""
}

// isSpecial reports whether a binding of symbol is special by proclamation.
func (cp *Compiler) isSpecial(symbol *Symbol) bool {
	g, ok := cp.environment.globals[symbol]
	if !ok {
		_, ok = cp.language.variables[symbol]
		return ok
	}
	return g.special
}

// checkBindable refuses constants as variables.
func (cp *Compiler) checkBindable(v Value) *Symbol {
	symbol, ok := v.(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "%s is not a symbol and cannot name a variable", Sketch(v, formLength))
	}
	if symbol == Nil || symbol == T || symbol.Keyword() || cp.environment.constantVariable(symbol) {
		cp.Fail(ProgramError, "%s is a constant and cannot be bound", symbol.name)
	}
	return symbol
}

// declarations splits the declare forms, and a docstring when there may be one, off a
// body. It returns the locally special symbols; other declarations are accepted and
// have no effect.
func (cp *Compiler) declarations(body Value, docstring bool) (specials []*Symbol, doc Value, rest Value) {
	doc = Nil
	for {
		cp.Step()
		cell, ok := body.(*Cons)
		if !ok {
			return specials, doc, body
		}
		if text, ok := cell.Car.(*String); ok && docstring && doc == Nil && cell.Cdr != Nil {
			doc, body = text, cell.Cdr
			continue
		}
		declare, ok := cell.Car.(*Cons)
		if !ok || declare.Car != symDeclare {
			return specials, doc, body
		}
		for _, item := range cp.Forms(declare.Cdr) {
			if parts, ok := Slice(item, 1000); ok && len(parts) > 1 && parts[0] == symSpecial {
				for _, part := range parts[1:] {
					if symbol, ok := part.(*Symbol); ok {
						specials = append(specials, symbol)
					}
				}
			}
		}
		body = cell.Cdr
	}
}

func (cp *Compiler) special(symbol *Symbol, locally []*Symbol) bool {
	return slices.Contains(locally, symbol) || cp.isSpecial(symbol)
}

// compileAll compiles each form to give one value.
func (cp *Compiler) compileAll(forms []Value, sc *scope) []code {
	codes := MakeSlice[code](cp.Call, len(forms))
	for i, form := range forms {
		codes[i] = cp.compile(form, sc).one()
	}
	return codes
}

// code is a compiled form. It returns one value, or a *multiple where the expression
// it belongs to says so.
type code func(c *Call, f *frame) Value

// frame holds the variables of one scope at run time, and block and tagbody tokens.
type frame struct {
	parent *frame
	slots  []Value
}

// newFrame allocates the frame and its slots together.
func newFrame(parent *frame, slots int) *frame {
	switch {
	case slots <= 2:
		f := &struct {
			frame
			room [2]Value
		}{}
		f.parent, f.slots = parent, f.room[:slots]
		return &f.frame
	case slots <= 4:
		f := &struct {
			frame
			room [4]Value
		}{}
		f.parent, f.slots = parent, f.room[:slots]
		return &f.frame
	case slots <= 8:
		f := &struct {
			frame
			room [8]Value
		}{}
		f.parent, f.slots = parent, f.room[:slots]
		return &f.frame
	}
	return &frame{parent: parent, slots: make([]Value, slots)}
}

func (f *frame) up(depth int) *frame {
	for ; depth > 0; depth-- {
		f = f.parent
	}
	return f
}

// scope is what is known at compile time about the names in force. Scopes nest; those
// with a layout have a frame at run time, the others only add names to it.
type scope struct {
	parent    *scope
	layout    *layout // non-nil where a frame begins
	variables []variable
	functions []localFunction
	blocks    []localBlock
	tags      []localTag
}

// layout counts the slots of a frame while its scopes are compiled.
type layout struct {
	slots int
	// captured says that closures may hold the frame.
	captured bool
}

func (l *layout) slot() int {
	l.slots++
	return l.slots - 1
}

type variable struct {
	symbol  *Symbol
	special bool
	slot    int
	// expansion is the form a symbol macro stands for.
	expansion Value
}

type localFunction struct {
	name  Value // a symbol or (setf symbol)
	slot  int
	macro *macro
}

type localBlock struct {
	name *Symbol
	slot int
	used *bool
}

type localTag struct {
	tag  Value
	slot int
	pc   int
	used *bool
}

// withFrame opens a scope that has its own frame.
func (s *scope) withFrame() *scope { return &scope{parent: s, layout: &layout{}} }

// nested opens a scope in the frame of s.
func (s *scope) nested() *scope { return &scope{parent: s} }

// slot reserves a slot in the frame that is current in s.
func (s *scope) slot() int {
	for ; s.layout == nil; s = s.parent {
	}
	return s.layout.slot()
}

func (s *scope) addVariable(symbol *Symbol, special bool) variable {
	v := variable{symbol: symbol, special: special}
	if !special {
		v.slot = s.slot()
	}
	s.variables = append(s.variables, v)
	return v
}

// outward yields each scope from the innermost on, with the number of frames between.
func (s *scope) outward(yield func(s *scope, depth int) bool) {
	depth := 0
	for ; s != nil; s = s.parent {
		if !yield(s, depth) {
			return
		}
		if s.layout != nil {
			depth++
		}
	}
}

func (s *scope) variable(symbol *Symbol) (found variable, depth int, ok bool) {
	for s, depth := range s.outward {
		for i := len(s.variables) - 1; i >= 0; i-- {
			if s.variables[i].symbol == symbol {
				return s.variables[i], depth, true
			}
		}
	}
	return variable{}, 0, false
}

func (s *scope) function(name Value) (found localFunction, depth int, ok bool) {
	for s, depth := range s.outward {
		for i := len(s.functions) - 1; i >= 0; i-- {
			if sameName(s.functions[i].name, name) {
				return s.functions[i], depth, true
			}
		}
	}
	return localFunction{}, 0, false
}

func (s *scope) block(name *Symbol) (found localBlock, depth int, ok bool) {
	for s, depth := range s.outward {
		for i := len(s.blocks) - 1; i >= 0; i-- {
			if s.blocks[i].name == name {
				return s.blocks[i], depth, true
			}
		}
	}
	return localBlock{}, 0, false
}

func (s *scope) tag(tag Value) (found localTag, depth int, ok bool) {
	for s, depth := range s.outward {
		for _, t := range s.tags {
			if eql(t.tag, tag) {
				return t, depth, true
			}
		}
	}
	return localTag{}, 0, false
}

// sameName compares function names: symbols, or lists (setf symbol).
func sameName(a, b Value) bool {
	if a == b {
		return true
	}
	x, xok := setfName(a)
	y, yok := setfName(b)
	return xok && yok && x == y
}

// setfName returns the symbol of a function name (setf symbol).
func setfName(name Value) (*Symbol, bool) {
	if cell, ok := name.(*Cons); ok && cell.Car == symSetf {
		if rest, ok := cell.Cdr.(*Cons); ok && rest.Cdr == Nil {
			symbol, ok := rest.Car.(*Symbol)
			return symbol, ok
		}
	}
	return nil, false
}
