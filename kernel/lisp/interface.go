package lisp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// KernelFunction is a function that the embedding package gives to notes.
type KernelFunction struct {
	// Name is spelled as in source, "ask-neuro" or "uiop:getenv".
	Name string
	// LambdaList is the parameters as in source, "(text &key system-prompt)". Counts
	// are checked by it; arguments arrive as they were given, keywords included.
	LambdaList string
	// Doc is one line that says what the function does.
	Doc string
	// InPlaceOf names a function of the standard, such as "identity". A form that calls that
	// with a keyword written as its first argument, (identity :name), calls this function;
	// whatever else is done with the standard's function is done with it as ever.
	InPlaceOf string
	// Waits says that the function waits for something outside: the guard is
	// released and the clock of the call stands while it runs.
	Waits bool
	// Call does it. ctx is the call's. It must not keep args. An error becomes a
	// Lisp condition with its text, except what [Call.Apply] and [Call.Print]
	// returned, which goes on as it was, and the context's own, which ends the call.
	Call func(ctx context.Context, call *Call, args []Value) (Value, error)
}

// KernelMacro is a macro that the embedding package gives to notes.
type KernelMacro struct {
	Name       string
	LambdaList string
	Doc        string
	// Expand returns the form that replaces (name args…). It must not keep args.
	Expand func(call *Call, args []Value) (Value, error)
}

// Interface is what the embedding package gives to notes beside the language, made ready
// once for all environments. It does not change.
type Interface struct {
	language *Language
	// packages are the symbols by package and name.
	packages map[string]map[string]*Symbol
	offers   map[*Symbol]offer
	// hints say of names that mean nothing here what to use instead.
	hints map[string]string
	// read are the kernel's functions that forms with a keyword call, by the standard's.
	read map[*Symbol]*Symbol
}

// offer is what a symbol of an interface means until a note defines it.
type offer struct {
	function *Function
	macro    *macro
}

// NewInterface makes an interface for environments of a language. Names without a package prefix are exported from
// ORG-AGENT, which each note's package uses; names like "uiop:getenv" belong to that
// package. It fails when a function or macro has a malformed name or lambda list.
func NewInterface(l *Language, functions []KernelFunction, macros []KernelMacro) (*Interface, error) {
	i := &Interface{language: l, packages: map[string]map[string]*Symbol{}, offers: map[*Symbol]offer{}, read: map[*Symbol]*Symbol{}}
	for n := range functions {
		if err := i.addFunction(&functions[n]); err != nil {
			return nil, err
		}
	}
	for n := range macros {
		if err := i.addMacro(&macros[n]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// Explain gives hints for names, in upper case, that mean nothing here. It is called before the interface is
// used.
func (i *Interface) Explain(hints map[string]string) { i.hints = hints }

// symbol is the symbol of a kernel name, made if it is neither the language's nor here.
func (i *Interface) symbol(name string) (*Symbol, error) {
	prefix, rest, qualified := strings.Cut(strings.ToUpper(name), ":")
	if !qualified {
		prefix, rest = kernelPackage, prefix
	}
	rest = strings.TrimLeft(rest, ":")
	prefix = i.language.packageName(prefix)
	if rest == "" || prefix == standardPackage || prefix == keywordPackage || prefix == userPackage {
		return nil, fmt.Errorf("define %q: not a name for a kernel function", name)
	}
	if library := i.language.libraries[prefix]; library != nil && library.symbols[rest] != nil {
		return library.symbols[rest], nil
	}
	table := i.packages[prefix]
	if table == nil {
		table = map[string]*Symbol{}
		i.packages[prefix] = table
	}
	if table[rest] == nil {
		table[rest] = &Symbol{name: rest, home: prefix}
	}
	return table[rest], nil
}

// packageName is the name of a package of the language that may be a nickname.
func (l *Language) packageName(name string) string {
	switch name {
	case standardNickname:
		return standardPackage
	case userNickname:
		return userPackage
	case kernelNickname:
		return kernelPackage
	}
	for full, library := range l.libraries {
		if slices.Contains(library.nicknames, name) {
			return full
		}
	}
	return name
}

func (i *Interface) addFunction(f *KernelFunction) error {
	symbol, err := i.symbol(f.Name)
	if err != nil {
		return err
	}
	parameters, err := parseParameters(f.LambdaList)
	if err != nil {
		return fmt.Errorf("define %s: %w", f.Name, err)
	}
	if f.InPlaceOf != "" {
		standard := standardTable[strings.ToUpper(f.InPlaceOf)]
		if standard == nil || i.language.functions[standard] == nil {
			return fmt.Errorf("define %s: the standard has no function %s", f.Name, f.InPlaceOf)
		}
		i.read[standard] = symbol
	}
	i.offers[symbol] = offer{function: &Function{
		name: symbol.name, doc: f.Doc, list: f.LambdaList, least: parameters.least(), most: parameters.most(), parameters: parameters, many: true,
		call: func(c *Call, args []Value) Value {
			if f.Waits {
				return c.wait(f, args)
			}
			v, err := f.Call(c.ctx, c, args)
			return c.returned(v, err)
		},
	}}
	return nil
}

func (i *Interface) addMacro(m *KernelMacro) error {
	symbol, err := i.symbol(m.Name)
	if err != nil {
		return err
	}
	parameters, err := parseParameters(m.LambdaList)
	if err != nil {
		return fmt.Errorf("define %s: %w", m.Name, err)
	}
	i.offers[symbol] = offer{macro: &macro{name: symbol.name, doc: m.Doc, list: m.LambdaList, expand: func(cp *Compiler, form *Cons) Value {
		args := cp.Arguments(form, parameters.least(), parameters.most())
		v, err := m.Expand(cp.Call, args)
		return cp.returned(v, err)
	}}}
	return nil
}

func (c *Call) returned(v Value, err error) Value {
	if err != nil {
		c.resume(err)
	}
	if v == nil {
		return Nil
	}
	return v
}

// Holds reports whether the call has its environment to itself. One that was cancelled while it
// waited for something outside does not.
func (c *Call) Holds() bool { return c.held }

// wait calls a function with the guard released, the clock stopped and the unused memory given back.
func (c *Call) wait(f *KernelFunction, args []Value) Value {
	own := append([]Value(nil), args...)
	var v Value
	var err error
	c.beside(func(ctx context.Context) { v, err = f.Call(ctx, c, own) })
	return c.returned(v, err)
}
