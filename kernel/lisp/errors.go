package lisp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Classes of errors that are no conditions: nothing in Lisp can handle them.
const (
	stepsCondition   = "STEP-LIMIT"
	timeCondition    = "TIME-LIMIT"
	storageCondition = "STORAGE-CONDITION"
	outputCondition  = "OUTPUT-LIMIT"
	cancelCondition  = "CANCELLED"
	internalError    = "INTERNAL-ERROR"
)

// Error is how a call, a load or a read ends when it does not end well, and how a
// problem that was found while loading is told.
type Error struct {
	// Class is the name of the condition's class, upper case (TYPE-ERROR,
	// UNDEFINED-FUNCTION, …), or of an exceeded limit (STEP-LIMIT, TIME-LIMIT,
	// STORAGE-CONDITION, OUTPUT-LIMIT) or CANCELLED, which Lisp code cannot handle.
	Class   string
	Message string
	// File, Line and Column say where, as far as known; Line is 0 if it is not.
	File         string
	Line, Column int
	// Function is the innermost named function that was running, "" outside any.
	Function string
	// Form is the form being evaluated, shortened.
	Form string
	// Hint says what to do about it, "" if there is no advice.
	Hint string
	// Warning marks a problem that does not stop the note from being used.
	Warning bool
	// Cause is the Go error behind it: the context's, or a kernel function's.
	Cause error
}

// Error returns "FILE:LINE:COLUMN: message (in FUNCTION: FORM); hint".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		if e.File != "" {
			b.WriteString(e.File + ":")
		}
		fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Column)
	}
	message := e.Message
	if e.Hint != "" && e.Function == "" && e.Form == "" {
		message = strings.TrimSuffix(message, ".") // the hint goes on with the sentence
	}
	b.WriteString(message)
	switch {
	case e.Function != "" && e.Form != "":
		fmt.Fprintf(&b, " (in %s: %s)", e.Function, e.Form)
	case e.Function != "":
		fmt.Fprintf(&b, " (in %s)", e.Function)
	case e.Form != "":
		fmt.Fprintf(&b, " (%s)", e.Form)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the Go error behind it, nil for a condition that the note signalled.
func (e *Error) Unwrap() error { return e.Cause }

// Limit reports whether the error is an exceeded limit or a cancelled context rather
// than a condition the note signalled.
func (e *Error) Limit() bool {
	switch e.Class {
	case stepsCondition, timeCondition, storageCondition, outputCondition, cancelCondition:
		return true
	}
	return false
}

// site is where a form stands, for errors.
type site struct {
	form         Value
	of           Value // the form as compiled, when form is what was written
	file         string
	line, column int32
}

const formLength = 80

// describe fills the error's place from the call's state.
func (c *Call) describe(e *Error) *Error {
	if c.at != nil {
		e.File, e.Line, e.Column = c.at.file, int(c.at.line), int(c.at.column)
		if c.at.form != nil {
			e.Form = Sketch(c.at.form, formLength)
		}
	}
	if c.running != nil {
		e.Function = c.running.name
	}
	return e
}

// reference is a use of a global name in compiled code, remembered until the note is
// loaded whole and it can be told whether the name means something.
type reference struct {
	symbol    *Symbol
	variable  bool
	assigned  bool
	setter    bool
	arguments int // of a call; -1 for #'name
	at        *site
	function  string
	// form is that of a call with keyword arguments.
	form *Cons
	// class says that symbol is meant to name a class; bound that it is a variable where
	// it is called.
	class, bound bool
	// problem, if set, is a fault that is certain, and hint what to do about it.
	problem, hint string
}

// maximumReferences bounds what is remembered: a note that evaluates for ever must not
// grow.
const maximumReferences = 20_000

func (e *Environment) refer(r reference) {
	if len(e.references) < maximumReferences {
		e.references = append(e.references, r)
	}
}

// Problems tells what is wrong with the code loaded so far although it could be
// loaded: functions and variables that do not exist, calls with a number of arguments
// that cannot work, faulty format strings. Each place is told once; what exists by the
// next time is not told again. It waits for the note's guard.
func (e *Environment) Problems(ctx context.Context) (problems []*Error, err error) {
	err = e.run(ctx, func(*Call) {
		for _, r := range e.references {
			if p := e.problem(&r); p != nil {
				problems = append(problems, p)
			}
		}
	})
	return problems, err
}

// problem is what is wrong with a reference, nil if nothing is.
func (e *Environment) problem(r *reference) *Error {
	p := e.missing(r)
	if p == nil {
		return nil
	}
	p.File, p.Line, p.Column, p.Function, p.Warning = r.at.file, int(r.at.line), int(r.at.column), r.function, true
	if r.at.form != nil {
		p.Form = Sketch(r.at.form, formLength)
	}
	return p
}

// missing is the problem without its place.
func (e *Environment) missing(r *reference) *Error {
	p := &Error{}
	switch {
	case r.problem != "":
		p.Class, p.Message, p.Hint = SimpleError, r.problem, r.hint
		return p
	case r.class:
		return e.classProblem(r.symbol)
	case r.variable:
		g := e.global(r.symbol)
		if g.special || g.value != nil && !r.assigned || g.expansion != nil || r.assigned && g.value != nil {
			return nil
		}
		p.Class, p.Message, p.Hint = unboundVariable, "the variable "+strings.ToLower(r.symbol.name)+" is not defined", e.suggest(r.symbol, true)
		return p
	case r.setter:
		g := e.global(r.symbol)
		if g.setter != nil || g.place != nil {
			return nil
		}
		p.Class, p.Message = undefinedClass, "setf cannot store into ("+strings.ToLower(r.symbol.name)+" …)"
		return p
	}
	g := e.global(r.symbol)
	if g.function == nil {
		if lacking := e.language.lacking(r.symbol); lacking != "" {
			p.Class, p.Message = undefinedClass, lacking
			return p
		}
		p.Class, p.Message, p.Hint = undefinedClass, "the function "+displayName(r.symbol)+" is not defined", e.suggest(r.symbol, false)
		switch {
		case g.macro != nil:
			p.Hint = "it is a macro now: define it before it is used"
		case r.bound:
			p.Hint = "it is a variable here: write (funcall " + displayName(r.symbol) + " …)"
		}
		return p
	}
	if wrong := p.count(g.function, r.arguments); wrong != nil {
		return wrong
	}
	return p.keywordProblem(g.function, r.form)
}

// count tells of a call that fn will refuse.
func (p *Error) count(fn *Function, n int) *Error {
	if n < 0 || n >= fn.least && (fn.most < 0 || n <= fn.most) {
		return nil
	}
	p.Class = ProgramError
	p.Message = countMessage(fn.name, n, fn.least, fn.most)
	return p
}

func countMessage(name string, n, least, most int) string {
	plural := "s"
	if n == 1 {
		plural = ""
	}
	return fmt.Sprintf("%s is called with %d argument%s but takes %s", strings.ToLower(name), n, plural, countText(least, most))
}

func countText(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("at least %d", least)
	case least == most:
		return fmt.Sprintf("%d", least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// checkCount remembers a call of a builtin with an impossible number of arguments.
func (cp *Compiler) checkCount(name string, least, most, n int, at *site) {
	if n < least || most >= 0 && n > most {
		cp.environment.refer(reference{at: at, function: cp.functionName(), problem: countMessage(name, n, least, most)})
	}
}

func displayName(symbol *Symbol) string {
	switch symbol.home {
	case standardPackage, "", userPackage:
		return strings.ToLower(symbol.name)
	}
	return strings.ToLower(symbol.home + ":" + symbol.name)
}

// hint is advice for a condition nobody handled.
func (c *Call) hint(condition *Instance) string {
	name, ok := condition.Slot("NAME").(*Symbol)
	if !ok {
		return ""
	}
	switch condition.class.name.name {
	case undefinedClass:
		return c.environment.suggest(name, false)
	case unboundVariable:
		return c.environment.suggest(name, true)
	case cellError:
		return c.environment.suggestClass(name)
	}
	return ""
}

// suggest is a hint for a name that means nothing: the capability that would provide
// it, or the nearest name that does mean something.
func (e *Environment) suggest(symbol *Symbol, variable bool) string {
	if lacking := e.language.lacking(symbol); lacking != "" && !variable {
		return lacking
	}
	if hint := e.config.Interface.hints[symbol.name]; hint != "" {
		return hint
	}
	if symbol.operator != nil && !variable {
		name := displayName(symbol)
		return fmt.Sprintf("%s is no function: write (lambda (…) (%s …))", name, name)
	}
	best, distance := "", min(2, (len(symbol.name)+1)/3)+1
	rank := "" // of equals that of the same package is taken, then by name
	consider := func(other *Symbol) {
		own := displayName(other)
		if other.home == symbol.home {
			own = " " + own
		}
		if d := editDistance(symbol.name, other.name, distance); d < distance || d == distance && best != "" && own < rank {
			best, rank, distance = displayName(other), own, d
		}
	}
	for other, g := range e.known() {
		if other != symbol && (variable && g.special || !variable && (g.function != nil || g.macro != nil)) {
			consider(other)
		}
	}
	if !variable {
		e.language.operators(consider)
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

func packageHint(name string, e *Environment) string {
	var known []string
	for key, p := range e.packages {
		if key == p.name && p != e.keywords {
			known = append(known, strings.ToLower(key))
		}
	}
	slices.Sort(known)
	return "packages here: " + strings.Join(known, " ")
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours, up
// to limit.
func editDistance(a, b string, limit int) int {
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit + 1
	}
	var before, previous, current [65]int
	for j := range len(b) + 1 {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous = previous, current
	}
	return previous[len(b)]
}

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
