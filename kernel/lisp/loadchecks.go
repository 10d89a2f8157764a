package lisp

import (
	"fmt"
	"slices"
	"strings"
)

// What is checked of a call when the note is loaded: its keyword arguments, and the
// classes it names.

// keywordCall is the form of a call if it has keyword arguments, nil otherwise.
func keywordCall(form *Cons) *Cons {
	for cell, ok := form.Cdr.(*Cons); ok; cell, ok = cell.Cdr.(*Cons) {
		if symbol, ok := cell.Car.(*Symbol); ok && symbol.Keyword() {
			return form
		}
	}
	return nil
}

// keywordParameters are the keywords that a function takes, and how many arguments come
// before them; known is false if it takes any, or other arguments there as well.
func (fn *Function) keywordParameters() (keywords []string, before int, known bool) {
	if l := fn.lambda; l != nil {
		b := l.binder
		for i := range b.keys {
			keywords = append(keywords, b.keys[i].keyword.name)
		}
		return keywords, len(b.required) + len(b.optional), b.hasKeys && !b.open
	}
	p := fn.parameters
	if fn.generic != nil || p == nil || p.open || p.rest || len(p.keys) == 0 {
		return nil, 0, false
	}
	for _, key := range p.keys {
		keywords = append(keywords, key.name)
	}
	return keywords, p.positional, true
}

// keywordProblem tells of a keyword argument that fn will refuse, nil if there is none.
func (p *Error) keywordProblem(fn *Function, form *Cons) *Error {
	if form == nil {
		return nil
	}
	keywords, before, known := fn.keywordParameters()
	args, ok := Slice(form.Cdr, 1000)
	if !known || !ok || len(args) <= before || slices.Contains(args, Value(kwAllowOtherKeys)) {
		return nil
	}
	args = args[before:]
	for i := 0; i < len(args); i += 2 {
		symbol, ok := args[i].(*Symbol)
		if !ok || !symbol.Keyword() || slices.Contains(keywords, symbol.name) {
			continue
		}
		p.Class, p.Message = ProgramError, fmt.Sprintf("%s has no keyword argument :%s", strings.ToLower(fn.name), strings.ToLower(symbol.name))
		if near := nearestName(symbol.name, keywords); near != "" {
			p.Hint = "did you mean :" + strings.ToLower(near) + "?"
		} else if len(keywords) > 0 {
			p.Hint = "it has :" + strings.ToLower(strings.Join(keywords, " :"))
		}
		return p
	}
	if len(args)%2 != 0 {
		p.Class, p.Message = ProgramError, strings.ToLower(fn.name)+" is called with a keyword argument that has no value"
		return p
	}
	return nil
}

// nearestName is the name most like another, "" if none is near.
func nearestName(name string, names []string) string {
	best, distance := "", min(2, (len(name)+1)/3)+1
	for _, other := range names {
		if d := editDistance(name, other, distance); d < distance || d == distance && best != "" && other < best {
			best, distance = other, d
		}
	}
	return best
}

// checkClassNamed remembers the class that a call names by a quoted symbol.
func checkClassNamed(cp *Compiler, form *Cons) {
	cell, ok := form.Cdr.(*Cons)
	if !ok {
		return
	}
	if name, ok := marked(cell.Car, symQuote); ok {
		if symbol, ok := name.(*Symbol); ok && symbol != Nil && !symbol.Keyword() {
			cp.environment.refer(reference{symbol: symbol, class: true, at: cp.site(form), function: cp.functionName()})
		}
	}
}

// classProblem tells of a class that does not exist.
func (e *Environment) classProblem(symbol *Symbol) *Error {
	if e.class(symbol) != nil {
		return nil
	}
	return &Error{Class: cellError, Message: "there is no class named " + displayName(symbol), Hint: e.suggestClass(symbol)}
}

// suggestClass is a hint for the name of no class: the nearest that is one.
func (e *Environment) suggestClass(symbol *Symbol) string {
	var names []string
	for other := range e.classes {
		names = append(names, other.name)
	}
	for other := range e.language.classes {
		names = append(names, other.name)
	}
	if near := nearestName(symbol.name, names); near != "" {
		return "did you mean " + strings.ToLower(near) + "?"
	}
	return ""
}
