package lisp

import (
	"context"
	"fmt"
	"strings"
	"time"
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

// define finds the symbol a kernel name belongs to.
func (e *Environment) define(name string) (*global, error) {
	prefix, rest, qualified := strings.Cut(strings.ToUpper(name), ":")
	if !qualified {
		prefix, rest = kernelPackage, prefix
	}
	rest = strings.TrimLeft(rest, ":")
	p := e.packages[prefix]
	if p == nil {
		p = e.addPackage(newPackage(prefix))
		p.open = true
	}
	if rest == "" || p.name == standardPackage || p.name == keywordPackage {
		return nil, fmt.Errorf("define %q: not a name for a kernel function", name)
	}
	symbol, _ := p.intern(rest, true)
	p.export(symbol)
	return e.global(symbol), nil
}

func (e *Environment) defineKernelFunction(f *KernelFunction) error {
	g, err := e.define(f.Name)
	if err != nil {
		return err
	}
	least, most, err := countParameters(f.LambdaList)
	if err != nil {
		return fmt.Errorf("define %s: %w", f.Name, err)
	}
	g.function = &Function{
		name: g.symbol.name, doc: f.Doc, list: f.LambdaList, least: least, most: most, many: true,
		call: func(c *Call, args []Value) Value {
			if f.Waits {
				return c.wait(f, args)
			}
			v, err := f.Call(c.ctx, c, args)
			return c.returned(v, err)
		},
	}
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

// wait calls a function with the guard released and the clock stopped.
func (c *Call) wait(f *KernelFunction, args []Value) Value {
	began := time.Now()
	own := append([]Value(nil), args...)
	c.environment.release()
	c.held = false
	v, err := f.Call(c.ctx, c, own)
	if again := c.environment.acquire(c.ctx); again != nil {
		c.cancelled(again)
	}
	c.held = true
	c.deadline = c.deadline.Add(time.Since(began))
	return c.returned(v, err)
}

func (e *Environment) defineKernelMacro(m *KernelMacro) error {
	g, err := e.define(m.Name)
	if err != nil {
		return err
	}
	least, most, err := countParameters(m.LambdaList)
	if err != nil {
		return fmt.Errorf("define %s: %w", m.Name, err)
	}
	g.macro = &macro{name: g.symbol.name, doc: m.Doc, list: m.LambdaList, expand: func(cp *compiler, form *Cons) Value {
		args := cp.arguments(form, least, most)
		v, err := m.Expand(cp.Call, args)
		return cp.returned(v, err)
	}}
	return nil
}

// countParameters reads a lambda list given as text; most is -1 when there is no limit.
func countParameters(list string) (least, most int, err error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(list), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	inner = strings.TrimSpace(inner)
	if !ok || !closed {
		return 0, 0, fmt.Errorf("the lambda list %q is not in parentheses", list)
	}
	section, depth := "", 0
	for inner != "" {
		word := parameterWord(inner)
		inner = strings.TrimLeft(inner[len(word):], " ")
		switch {
		case word == "(":
			if depth++; depth > 1 {
				continue
			}
		case word == ")":
			if depth--; depth < 0 {
				return 0, 0, fmt.Errorf("the lambda list %q is not balanced", list)
			}
			continue
		case depth > 0:
			continue
		case word[0] == '&':
			section = word
			if word == "&rest" || word == "&key" || word == "&body" {
				most = -1
			}
			continue
		}
		switch {
		case section == "":
			least++
			most++
		case section == "&optional" && most >= 0:
			most++
		}
	}
	if depth != 0 {
		return 0, 0, fmt.Errorf("the lambda list %q is not balanced", list)
	}
	return least, most, nil
}

// parameterWord is the parenthesis or name that text begins with.
func parameterWord(text string) string {
	if i := strings.IndexAny(text, " ()"); i > 0 {
		return text[:i]
	} else if i == 0 {
		return text[:1]
	}
	return text
}
