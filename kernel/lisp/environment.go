package lisp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"org-agent/kernel/plist"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Config says what an environment is made of. Its zero value is a usable one: plain
// Common Lisp in the package COMMON-LISP-USER.
type Config struct {
	// Language is what the environment has beside what is made in it. Default: that of the
	// Interface, or else the standard without libraries.
	Language *Language
	// Package is the name of the note's package, folded to upper case. Default
	// COMMON-LISP-USER.
	Package string
	// Interface is what the kernel offers beside the language. Default: nothing.
	Interface *Interface
	// Owner is whom the environment is made for: functions of the interface, which know no
	// environment of their own, get it from [Environment.Owner].
	Owner any
	// Access is what the note was granted outside of the language. Default: nothing.
	Access Access
	// Limits bound each call; see Limits for the defaults.
	Limits Limits
	// Memory is shared with other environments: it bounds what their calls have in use
	// together. Default: each call has its limit for itself.
	Memory *Memory
	// Now is the clock that get-universal-time reads. Default time.Now.
	Now func() time.Time
	// Output receives what is written to the standard streams, after each call and
	// inside the guard. Default: it is dropped.
	Output func(text string)
}

// Environment is what one note runs in: packages, global functions, variables, macros
// and classes. It is safe for use by many goroutines.
type Environment struct {
	language *Language
	config   Config
	packages map[string]*Package
	user     *Package
	kernel   *Package
	keywords *Package

	// guard holds one token while a call runs. What is below belongs to its holder.
	guard chan struct{}
	// packageChanges counts what may give a spelling another meaning.
	packageChanges int
	globals        map[*Symbol]*global
	classes        map[*Symbol]*Class
	types          map[*Symbol]*Function
	// records are the structures that are lists or vectors.
	records map[*Symbol]*record
	// combinations are those of define-method-combination.
	combinations map[*Symbol]*combination
	references   []reference
	gensyms      int64
	// unsaved are the streams of files with text that is not stored yet.
	unsaved []*Stream
	// states are what libraries keep.
	states map[reflect.Type]any
	// unmeasured is what calls allocated since the last of the censuses; full says that
	// it found too much.
	unmeasured int64
	censuses   uint32
	full       bool
}

// global is what a symbol means outside any scope.
type global struct {
	symbol    *Symbol
	value     Value // nil: unbound
	special   bool
	constant  bool
	expansion Value // of define-symbol-macro
	function  *Function
	setter    *Function
	macro     *macro
	place     placeExpander
	// compilerMacro is kept to be asked for; nothing expands it.
	compilerMacro *Function
	plist         Value
	docs          map[*Symbol]Value
}

// New returns an environment. It fails when the name of the note's package is taken, or the
// interface was made for another language.
func New(config Config) (*Environment, error) {
	switch {
	case config.Language == nil && config.Interface != nil:
		config.Language = config.Interface.language
	case config.Language == nil:
		config.Language = standardLanguage()
	case config.Interface != nil && config.Interface.language != config.Language:
		return nil, errors.New("make an environment: its interface is for another language")
	}
	e := &Environment{
		language: config.Language, config: config,
		packages: make(map[string]*Package, 28), // a few more than there are, with their nicknames
		guard:    make(chan struct{}, 1), globals: map[*Symbol]*global{}, classes: map[*Symbol]*Class{},
		types: map[*Symbol]*Function{}, combinations: map[*Symbol]*combination{}, records: map[*Symbol]*record{},
	}
	if e.config.Now == nil {
		e.config.Now = time.Now
	}
	if e.config.Interface == nil {
		e.config.Interface = &Interface{}
	}
	if err := e.makePackages(); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Environment) addPackage(p *Package) *Package {
	e.packages[p.name] = p
	for _, nickname := range p.nicknames {
		e.packages[nickname] = p
	}
	return p
}

func (e *Environment) makePackages() error {
	standard := e.addPackage(newPackage(standardPackage, standardNickname))
	standard.fixed = standardTable
	e.keywords = e.addPackage(newPackage(keywordPackage))
	e.keywords.fixed, e.keywords.open = e.language.keywords, true
	e.kernel = e.addPackage(newPackage(kernelPackage, kernelNickname))
	for name, library := range e.language.libraries {
		p := newPackage(name, library.nicknames...)
		p.fixed, p.open = library.symbols, true
		e.addPackage(p)
	}
	for name, symbols := range e.config.Interface.packages {
		p := e.packages[name]
		switch {
		case p == nil:
			p = e.addPackage(newPackage(name))
			p.fixed, p.open = symbols, true
		case p == e.kernel:
			p.fixed = symbols
		default:
			for _, symbol := range symbols {
				p.export(symbol)
			}
		}
	}
	e.user = e.addPackage(newPackage(userPackage, userNickname))
	name := strings.ToUpper(e.config.Package)
	if name != "" && name != userPackage && name != userNickname {
		if e.packages[name] != nil {
			return fmt.Errorf("make the note's package %s: the name is taken", name)
		}
		e.user = e.addPackage(newPackage(name))
	}
	e.user.uses = []*Package{standard, e.kernel}
	e.global(symPackage).value = e.user
	return nil
}

// global returns what symbol means. A record that is made for it is charged.
func (c *Call) global(symbol *Symbol) *global {
	e := c.environment
	if g, ok := e.globals[symbol]; ok {
		return g
	}
	c.Charge(sizeOf[global]() + indexBytes)
	return e.global(symbol)
}

// global returns what symbol means, making a record for it if there is none.
func (e *Environment) global(symbol *Symbol) *global {
	if g, ok := e.globals[symbol]; ok {
		return g
	}
	g := &global{symbol: symbol, plist: Nil}
	e.globals[symbol] = g
	if variable, ok := e.language.variables[symbol]; ok {
		g.value, g.special, g.constant = ownCopy(variable.value), true, variable.constant
	}
	switch symbol.home {
	case keywordPackage:
		g.value, g.constant = symbol, true
	default:
		g.function = e.provided(symbol)
		g.setter = e.language.setters[symbol]
	}
	if offered, ok := e.config.Interface.offers[symbol]; ok {
		g.function, g.macro = offered.function, offered.macro
	}
	return g
}

// known makes sure that what is offered has its record, for what looks at all of them.
func (e *Environment) known() map[*Symbol]*global {
	for symbol := range e.config.Interface.offers {
		e.global(symbol)
	}
	return e.globals
}

// Language is what the environment has beside what was made in it.
func (e *Environment) Language() *Language { return e.language }

// Owner is the owner that the configuration names.
func (e *Environment) Owner() any { return e.config.Owner }

// ownCopy copies what a note may change: a list, a vector, a string, a readtable, the state of
// random.
func ownCopy(v Value) Value {
	switch x := v.(type) {
	case *String:
		return NewString(x.String())
	case *Vector:
		own := *x
		own.elements = slices.Clone(x.elements)
		for i, element := range own.elements {
			own.elements[i] = ownCopy(element)
		}
		return &own
	case *readtable:
		return &readtable{letters: x.letters}
	case *randomState:
		return newRandomState()
	}
	if items, ok := Slice(v, 100); ok && len(items) > 0 {
		for i, item := range items {
			items[i] = ownCopy(item)
		}
		return NewList(items...)
	}
	return v
}

func (e *Environment) constantVariable(symbol *Symbol) bool {
	g, ok := e.globals[symbol]
	if !ok {
		return e.language.variables[symbol].constant
	}
	return g.constant
}

// Keyword returns the keyword with exactly this name.
func (e *Environment) Keyword(name string) *Symbol {
	symbol, _ := e.keywords.Intern(name, true)
	return symbol
}

// acquire takes the guard.
func (e *Environment) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case e.guard <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Environment) release() { <-e.guard }

// run runs body as a call without a reason: under the guard, within the limits.
func (e *Environment) run(ctx context.Context, body func(c *Call)) error {
	return e.For(nil).run(ctx, body)
}

// Caller makes calls of an environment for one reason. It may be used by many goroutines.
type Caller struct {
	environment *Environment
	reason      any
}

// For returns what makes calls of the environment for a reason. The functions that the embedding
// program gives to notes find it with [Call.Reason], and [Access] is given it. The environment's own
// methods have none.
func (e *Environment) For(reason any) Caller { return Caller{e, reason} }

func (r Caller) run(ctx context.Context, body func(c *Call)) error {
	e := r.environment
	if e.config.Memory == nil {
		return e.runCall(ctx, r.reason, nil, body)
	}
	l := &loan{memory: e.config.Memory}
	defer l.giveBack() // when nothing holds what the call allocated any more
	return e.runCall(ctx, r.reason, l, body)
}

// runCall is run with what the call has taken of a shared Memory, nil where it shares none.
func (e *Environment) runCall(ctx context.Context, reason any, l *loan, body func(c *Call)) (err error) {
	if err := e.acquire(ctx); err != nil {
		class := cancelCondition
		if errors.Is(err, context.DeadlineExceeded) {
			class = timeCondition
		}
		return &Error{Class: class, Message: "waiting for the note's other calls was given up", Cause: err}
	}
	c := &Call{environment: e, ctx: ctx, reason: reason, budget: newBudget(e.config.Limits, l), held: true}
	if e.full {
		defer e.release()
		return e.takeCensus(0, c.limits)
	}
	c.console = newConsole(e.config.Output)
	defer func() {
		if l != nil {
			l.unused = c.bytes
		}
		if full := e.takeCensus(c.limits.Bytes-c.left(), c.limits); full != nil && err == nil {
			err = full
		}
		c.console.flush()
		e.release()
	}()
	err = c.protect(func() { body(c) })
	if !c.held { // it was cancelled while it waited; what it leaves belongs to the guard's holder
		e.guard <- struct{}{} // others have it for as long as the limits allow
		c.held = true
	}
	if failed := (*Error)(nil); errors.As(err, &failed) && failed.Limit() {
		e.forgetUnsaved() // a call without means cannot store, and must not keep
		return err
	}
	if unsaved := c.protect(c.storeFiles); err == nil {
		err = unsaved
	}
	return err
}

// Call calls a function: a *Function, a symbol, or the name of a function in the
// note's package as a Go string. It returns the first value.
func (e *Environment) Call(ctx context.Context, function Value, args ...Value) (result Value, err error) {
	return e.For(nil).Call(ctx, function, args...)
}

// Call is [Environment.Call] for the reason.
func (r Caller) Call(ctx context.Context, function Value, args ...Value) (result Value, err error) {
	err = r.run(ctx, func(c *Call) {
		if name, ok := function.(string); ok {
			function = c.Symbol(strings.ToUpper(name))
		}
		result = Single(c.funcall(function, args))
	})
	return result, err
}

// Load reads and evaluates source form by form, as the text that begins at line
// firstLine (1-based) of file. It stops at the first form that fails. What refers to
// functions and variables that do not exist is told by [Environment.Problems].
func (e *Environment) Load(ctx context.Context, source, file string, firstLine int) error {
	return e.For(nil).Load(ctx, source, file, firstLine)
}

// Load is [Environment.Load] for the reason.
func (r Caller) Load(ctx context.Context, source, file string, firstLine int) error {
	return r.load(ctx, source, file, firstLine, nil)
}

// Eval is Load for text typed by a person; it gives each with what prin1 prints of the
// first value of each top-level form, NIL for none, before it goes on to the next.
func (e *Environment) Eval(ctx context.Context, source, file string, firstLine int, each func(printed string)) error {
	return e.For(nil).Eval(ctx, source, file, firstLine, each)
}

// Eval is [Environment.Eval] for the reason.
func (r Caller) Eval(ctx context.Context, source, file string, firstLine int, each func(printed string)) error {
	return r.load(ctx, source, file, firstLine, func(c *Call, v Value) { each(c.Printed(Single(v), true)) })
}

func (r Caller) load(ctx context.Context, source, file string, firstLine int, each func(*Call, Value)) error {
	return r.run(ctx, func(c *Call) {
		forms := c.newReader(source, file, firstLine, true)
		for {
			c.at, c.running = nil, nil
			form, err := forms.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				c.readFailed(err, forms)
			}
			c.at = nil
			v := c.topLevel(form, file)
			if each != nil {
				each(c, v)
			}
		}
	})
}

// LoadAll is [Caller.Load] that goes on behind a form that fails, and returns the faults of all. Behind
// one that cannot be read, it goes on with the next line that begins with a parenthesis. It stops where a
// form or a string has no end, and where a limit is exceeded. The error is the context's.
func (r Caller) LoadAll(ctx context.Context, source, file string, firstLine int) (faults []error, err error) {
	stopped := r.run(ctx, func(c *Call) {
		for more := true; more; {
			forms := c.newReader(source, file, firstLine, true)
			var found []error
			found, more = c.loadAll(forms, file)
			faults = append(faults, found...)
			if !more || len(found) == 0 {
				return
			}
			var unread *Error
			more = errors.As(found[len(found)-1], &unread)
			if more {
				source, firstLine, more = behind(source, firstLine, unread.Line)
			}
		}
	})
	if stopped != nil {
		faults = append(faults, stopped)
	}
	return faults, ctx.Err()
}

// behind returns the source from the next line that begins with a parenthesis, behind a line, and the
// number of its first line. ok is false if there is none.
func behind(source string, firstLine, line int) (rest string, first int, ok bool) {
	lines := strings.SplitAfter(source, "\n")
	for i := max(line-firstLine+1, 0); i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "(") {
			return strings.Join(lines[i:], ""), firstLine + i, true
		}
	}
	return "", 0, false
}

// loadAll evaluates the forms. unread is true if the last fault is a form that could not be read, and
// that has an end.
func (c *Call) loadAll(forms *reader, file string) (faults []error, unread bool) {
	for {
		c.at, c.running = nil, nil
		var form Value
		var readError error
		err := c.protect(func() {
			if form, readError = forms.next(); readError != nil && readError != io.EOF {
				c.readFailed(readError, forms)
			}
		})
		if readError == io.EOF {
			return faults, false
		}
		if err == nil {
			c.at = nil
			err = c.protect(func() { c.topLevel(form, file) })
		}
		var fault *Error
		switch {
		case err == nil:
			continue
		case !errors.As(err, &fault) || fault.Limit():
			c.returned(nil, err)
		}
		faults = append(faults, err)
		if readError != nil {
			var syntax *plist.SyntaxError
			return faults, !errors.As(readError, &syntax) || syntax.Kind != plist.UnclosedList && fault.Class != EndOfFile
		}
	}
}

// Value returns the value of a variable of the note, by its name in any case.
func (e *Environment) Value(ctx context.Context, name string) (value Value, err error) {
	err = e.run(ctx, func(c *Call) { value = c.Variable(c.Symbol(strings.ToUpper(name))) })
	return value, err
}

// Print returns what prin1 prints of v, within the limits of a call.
func (e *Environment) Print(ctx context.Context, v Value) (text string, err error) {
	err = e.run(ctx, func(c *Call) { text = c.Printed(v, true) })
	return text, err
}

// evaluate evaluates a form in the global environment.
func (c *Call) evaluate(form Value) Value {
	file := ""
	if c.at != nil {
		file = c.at.file
	}
	return c.topLevel(form, file)
}

// Each call is charged for what it allocates, but what it leaves in the note's variables
// stays when it is over. So now and then, after calls that allocated a good part of
// [Limits.Retained], what can be reached from the environment is measured. A note that
// holds too much is full: it answers no more calls until it is loaded again.
