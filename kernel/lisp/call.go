package lisp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Call is one evaluation: its limits, and everything dynamic that belongs to it. It is
// used by one goroutine at a time and is dead when the function it was given to returns.
type Call struct {
	environment *Environment
	ctx         context.Context
	reason      any // of the embedding program, nil for none
	budget

	// stack holds arguments of builtins being called; they must not keep the slices.
	stack []Value
	// at is the form being evaluated, running the function it stands in.
	at      *site
	running *lambda
	// around is the scope of the macro form being expanded: what &environment gives.
	around *scope

	// dynamic holds the special bindings of this call, bindings how to undo them.
	dynamic  map[*global]Value
	bindings []binding
	handlers *handlerCluster
	restarts *restart
	catches  []*catchTag

	// exit is the non-local exit in progress.
	exit exit

	// held says that the call has the guard now.
	held bool
	// room is the capacity of stack that is charged.
	room int32
	// console is what the standard streams write to.
	console *Stream

	// printing is the nesting of objects being printed.
	printing int
}

// binding undoes one special binding.
type binding struct {
	global *global
	old    Value // nil: the global value showed through
}

// exitPoint is a place a non-local exit can go to. Its identity is the target.
type exitPoint struct {
	dead  bool
	saved state
}

// exit is a non-local exit that is under way.
type exit struct {
	target *exitPoint
	value  Value
	index  int
	// failed is set when the exit goes to the top of the call: an error nobody handled,
	// which runs cleanup forms on its way, or an exceeded limit, which does not.
	failed  *Error
	orderly bool
}

// unwinding is the only value this package panics with on purpose; every such panic
// is recovered at the latest where the call began.
type unwinding struct{}

// state is what a landing restores.
type state struct {
	stack, bindings, catches int
	handlers                 *handlerCluster
	restarts                 *restart
	depth, printing          int
	running                  *lambda
	around                   *scope
}

func (c *Call) state() state {
	return state{
		stack: len(c.stack), bindings: len(c.bindings), catches: len(c.catches),
		handlers: c.handlers, restarts: c.restarts, depth: c.depth, printing: c.printing, running: c.running, around: c.around,
	}
}

func (c *Call) restore(s state) {
	c.unbind(s.bindings)
	c.stack = c.stack[:s.stack]
	c.catches = c.catches[:s.catches]
	c.handlers, c.restarts = s.handlers, s.restarts
	c.depth, c.printing, c.running, c.around = s.depth, s.printing, s.running, s.around
}

func (c *Call) newExitPoint() *exitPoint { return &exitPoint{saved: c.state()} }

// leave starts a non-local exit to target.
func (c *Call) leave(target *exitPoint, value Value, index int) {
	c.exit = exit{target: target, value: value, index: index}
	panic(unwinding{})
}

// landed must be called by a deferred function, which recovers when it is true: a
// non-local exit has come to its target. The exit is over then and the state restored.
func (c *Call) landed(p *exitPoint) (exit, bool) {
	p.dead = true
	if c.exit.target != p || c.exit.failed != nil {
		return exit{}, false
	}
	e := c.exit
	c.exit = exit{}
	c.restore(p.saved)
	return e, true
}

// abort ends the call with an error that no Lisp code sees.
func (c *Call) abort(class, message string) { c.abortWith(class, message, nil) }

func (c *Call) abortWith(class, message string, cause error) {
	c.end(&Error{Class: class, Message: message, Cause: cause})
}

// end ends the call with an error that no Lisp code sees.
func (c *Call) end(failed *Error) {
	c.exit = exit{failed: c.describe(failed)}
	panic(unwinding{})
}

// bind makes a special binding that lasts until unbind to an earlier mark.
func (c *Call) bind(g *global, value Value) {
	if g.constant {
		c.Fail(ProgramError, "%s is a constant and cannot be bound", g.symbol.name)
	}
	c.checkCurrent(g, value)
	if c.dynamic == nil {
		c.dynamic = map[*global]Value{}
	}
	c.Charge(indexBytes)
	c.bindings = Append(c, c.bindings, binding{g, c.dynamic[g]})
	c.dynamic[g] = value
}

// checkCurrent refuses a value of *package* that is no package.
func (c *Call) checkCurrent(g *global, value Value) {
	if g.symbol != symPackage {
		return
	}
	if _, ok := value.(*Package); !ok {
		c.TypeError(value, "PACKAGE")
	}
}

func (c *Call) unbind(mark int) {
	for len(c.bindings) > mark {
		last := c.bindings[len(c.bindings)-1]
		c.bindings = c.bindings[:len(c.bindings)-1]
		if last.old == nil {
			delete(c.dynamic, last.global)
		} else {
			c.dynamic[last.global] = last.old
		}
	}
}

// special returns the value of a special variable, nil if it has none.
func (c *Call) special(g *global) Value {
	if len(c.dynamic) > 0 {
		if value, ok := c.dynamic[g]; ok {
			return value
		}
	}
	return g.value
}

// Variable returns the value of a special variable known by its symbol.
func (c *Call) Variable(symbol *Symbol) Value {
	if symbol.Keyword() {
		return symbol
	}
	g := c.global(symbol)
	value := c.special(g)
	if value == nil {
		return c.unbound(symbol)
	}
	return value
}

func (c *Call) setSpecial(g *global, value Value) {
	if g.constant {
		c.Fail(ProgramError, "%s is a constant and cannot be set", g.symbol.name)
	}
	c.checkCurrent(g, value)
	if len(c.dynamic) > 0 {
		if _, ok := c.dynamic[g]; ok {
			c.dynamic[g] = value
			return
		}
	}
	g.value = value
}

// protect runs body and turns whatever ends it into a Go error. It is the only place
// where panics stop.
func (c *Call) protect(body func()) (err error) {
	outer := c.exit
	saved := c.state()
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		c.restore(saved)
		left := c.exit
		failed := left.failed
		c.exit = outer
		switch _, ours := cause.(unwinding); {
		case ours && failed != nil:
			err = failed
		case ours:
			err = &passing{left}
		default:
			err = c.describe(&Error{Class: internalError, Message: fmt.Sprint(cause), Cause: errors.New(string(debug.Stack()))})
		}
	}()
	body()
	return nil
}

// passing is a non-local exit that wants through a Go function; the call takes it up
// again when the function returns it.
type passing struct{ exit exit }

func (*passing) Error() string { return "a non-local exit passes" }

// resume continues what a Go function was told by Apply or Print and returned: the end
// of the call or a non-local exit. Any other error becomes a condition.
func (c *Call) resume(err error) {
	var left *passing
	if errors.As(err, &left) {
		c.exit = left.exit
		panic(unwinding{})
	}
	var failed *Error
	if errors.As(err, &failed) {
		c.exit = exit{failed: failed, orderly: !failed.Limit()}
		panic(unwinding{})
	}
	if c.ctx.Err() != nil {
		c.cancelled(c.ctx.Err())
	}
	condition := c.newCondition(SimpleError, err.Error())
	condition.cause = err
	c.signalError(condition)
}

// Context returns the context of the call.
func (c *Call) Context() context.Context { return c.ctx }

// Reason returns the reason for which the embedding program makes the call: see [Environment.For].
func (c *Call) Reason() any { return c.reason }

// Environment returns the environment the call runs in.
func (c *Call) Environment() *Environment { return c.environment }

// Symbol interns name, as spelled, in the note's package.
func (c *Call) Symbol(name string) *Symbol {
	symbol, _ := c.environment.user.Intern(name, true)
	return symbol
}

// Keyword interns name, as spelled, as a keyword.
func (c *Call) Keyword(name string) *Symbol { return c.environment.Keyword(name) }

// Apply calls a function, a symbol naming one or a lambda expression from inside a
// [Function]. It must not be used by one that waits. The error is the *Error that
// would have ended the call.
func (c *Call) Apply(function Value, args ...Value) (value Value, err error) {
	at := c.at
	err = c.protect(func() { value = Single(c.funcall(function, args)) })
	c.at = at // what the caller finds wrong with the value is wrong where it was called
	return value, err
}

// ApplyFitting is [Call.Apply] with the first of the arguments, as many of them as the function takes.
func (c *Call) ApplyFitting(function Value, args ...Value) (value Value, err error) {
	at := c.at
	err = c.protect(func() {
		fn := c.Function(function)
		if fn.most >= 0 {
			args = args[:min(len(args), fn.most)]
		}
		value = Single(c.apply(fn, args))
	})
	c.at = at
	return value, err
}

// Print returns what prin1 prints.
func (c *Call) Print(v Value) (text string, err error) {
	err = c.protect(func() { text = c.Printed(v, true) })
	return text, err
}

// multiple is what a form returns that has not exactly one value. Only expressions
// compiled as such can return it, and only the forms that ask for values look inside.
type multiple struct{ values []Value }

var noValues = &multiple{}

// Values returns vs as the values of a form. It does not keep vs.
func (c *Call) Values(vs ...Value) Value {
	switch len(vs) {
	case 1:
		return vs[0]
	case 0, 2: // garbage at once, as frames are
		m := &struct {
			multiple
			room [2]Value
		}{}
		m.values = m.room[:copy(m.room[:], vs)]
		return &m.multiple
	}
	return Allocate(c, multiple{values: Clone(c, vs)})
}

// Single returns the first value of what a form returned.
func Single(v Value) Value {
	if m, ok := v.(*multiple); ok {
		if len(m.values) == 0 {
			return Nil
		}
		return m.values[0]
	}
	return v
}

// every returns all values of what a form returned.
func every(v Value) []Value {
	if m, ok := v.(*multiple); ok {
		return m.values
	}
	return []Value{v}
}
