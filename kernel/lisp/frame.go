package lisp

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
type layout struct{ slots int }

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
