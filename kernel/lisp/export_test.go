package lisp

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
)

// Tests ask whether calls are charged for what they take, and whether the tables of the language are
// true. Consumers see neither.

// MaximumDepth is the default of [Limits].Depth.
const MaximumDepth = maximumDepth

// The causes of errors of calls that share a [Memory].
var (
	ErrLoanTooLong = errLoanTooLong
	ErrMemoryTaken = errMemoryTaken
)

// Run runs body in a call, as [Environment.Load] and others do.
func (e *Environment) Run(ctx context.Context, body func(c *Call)) error { return e.run(ctx, body) }

// LoadEach is [Environment.Load]. It hands on what each form returns, inside of the call.
func (e *Environment) LoadEach(ctx context.Context, source, file string, firstLine int, each func(c *Call, v Value)) error {
	return e.For(nil).load(ctx, source, file, firstLine, each)
}

// ReadSource reads all forms of a source and evaluates none.
func (c *Call) ReadSource(source string) error {
	for r := c.newReader(source, "", 1, true); ; {
		switch _, err := r.next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// BytesLeft is how many bytes the call may still allocate.
func (c *Call) BytesLeft() int64 { return c.left() }

// StepsLeft is how many steps the call may still take.
func (c *Call) StepsLeft() int64 { return c.steps + int64(c.fuel) }

// StackBytes is what the call was charged for its deepest nesting.
func (c *Call) StackBytes() int64 { return int64(c.deepest) * levelBytes }

// TransientKeywords is how many keywords are kept that only data has.
func (e *Environment) TransientKeywords() int { return len(e.keywords.transient) }

// UnsavedStreams is how many streams of files have text that is not stored yet.
func (e *Environment) UnsavedStreams() int { return len(e.unsaved) }

// Idle reports whether no call uses or waits for the memory.
func (m *Memory) Idle() bool { return m.pending == 0 && m.borrowers == 0 && m.waiting == 0 }

// Functions are the functions of the language and its libraries, and those behind setf, by name.
func (l *Language) Functions() []*Function {
	functions := slices.AppendSeq(slices.Collect(maps.Values(l.functions)), maps.Values(l.setters))
	slices.SortFunc(functions, func(a, b *Function) int { return strings.Compare(a.name, b.name) })
	return functions
}

// HasSetter reports whether a place of that name can be set by a function of the language.
func (l *Language) HasSetter(name string) bool {
	return l.setters[standardTable[strings.ToUpper(name)]] != nil
}

// Names are the names of all operators and variables, as [Entry] has them. Those are left out that only
// the package itself uses.
func (l *Language) Names() []string {
	var names []string
	add := func(symbol *Symbol) {
		if !internalName(symbol.name) && symbol != symForever && symbol != symModify && symbol != symQuasiquote && symbol != symUnquote && symbol != symUnquoteSplicing {
			names = append(names, entryName(symbol, standardPackage))
		}
	}
	l.operators(add)
	for symbol := range l.variables {
		add(symbol)
	}
	return names
}

// Parameters are what a lambda list says.
type Parameters struct {
	// Names are the required, optional and keyword parameters.
	Names []string
	// Required counts the required parameters, Positional these and the optional ones.
	Required, Positional int
	// Keys are the keywords of the names from Positional on.
	Keys []*Symbol
	// Rest: there is a parameter for all other arguments.
	Rest bool
	// Most is the largest number of arguments, -1 if there is none.
	Most int
}

// ParseParameters reads a lambda list.
func ParseParameters(list string) (Parameters, error) {
	p, err := parseParameters(list)
	if err != nil {
		return Parameters{}, err
	}
	return p.exported(), nil
}

func (p *parameters) exported() Parameters {
	return Parameters{Names: p.names, Required: p.required, Positional: p.positional, Keys: p.keys, Rest: p.rest, Most: p.most()}
}

// Name is the name by which the language has the function.
func (f *Function) Name() string { return f.name }

// LambdaList is the lambda list of the function's row.
func (f *Function) LambdaList() string { return f.list }

// Parameters are what the lambda list says.
func (f *Function) Parameters() Parameters { return f.parameters.exported() }

// IsNamed reports whether the function gets its arguments by the names in its lambda list.
func (f *Function) IsNamed() bool { return f.named != nil && f.call == nil }
