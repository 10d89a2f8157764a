package lisp

import (
	"fmt"
)

// Classes of conditions the evaluator signals.
const (
	ProgramError     = "PROGRAM-ERROR"
	TypeErrorClass   = "TYPE-ERROR"
	controlError     = "CONTROL-ERROR"
	SimpleError      = "SIMPLE-ERROR"
	unboundVariable  = "UNBOUND-VARIABLE"
	undefinedClass   = "UNDEFINED-FUNCTION"
	divisionByZero   = "DIVISION-BY-ZERO"
	arithmeticError  = "ARITHMETIC-ERROR"
	readerError      = "READER-ERROR"
	EndOfFile        = "END-OF-FILE"
	ParseError       = "PARSE-ERROR"
	packageError     = "PACKAGE-ERROR"
	simpleTypeErr    = "SIMPLE-TYPE-ERROR"
	simpleWarning    = "SIMPLE-WARNING"
	simpleCondition  = "SIMPLE-CONDITION"
	unboundSlotClass = "UNBOUND-SLOT"
	cellError        = "CELL-ERROR"
)

// standardConditions lists the condition classes: name, superclasses, slots.
var standardConditions = []struct {
	name   string
	supers []string
	slots  []string
}{
	{"CONDITION", []string{"T"}, nil},
	{"SERIOUS-CONDITION", []string{"CONDITION"}, nil},
	{"ERROR", []string{"SERIOUS-CONDITION"}, nil},
	{"WARNING", []string{"CONDITION"}, nil},
	{"STYLE-WARNING", []string{"WARNING"}, nil},
	{simpleCondition, []string{"CONDITION"}, []string{"FORMAT-CONTROL", "FORMAT-ARGUMENTS"}},
	{SimpleError, []string{simpleCondition, "ERROR"}, nil},
	{simpleWarning, []string{simpleCondition, "WARNING"}, nil},
	{"STORAGE-CONDITION", []string{"SERIOUS-CONDITION"}, nil},
	{arithmeticError, []string{"ERROR"}, []string{"OPERATION", "OPERANDS"}},
	{divisionByZero, []string{arithmeticError}, nil},
	{"FLOATING-POINT-OVERFLOW", []string{arithmeticError}, nil},
	{"FLOATING-POINT-UNDERFLOW", []string{arithmeticError}, nil},
	{"FLOATING-POINT-INVALID-OPERATION", []string{arithmeticError}, nil},
	{cellError, []string{"ERROR"}, []string{"NAME"}},
	{unboundVariable, []string{cellError}, nil},
	{undefinedClass, []string{cellError}, nil},
	{unboundSlotClass, []string{cellError}, []string{"INSTANCE"}},
	{controlError, []string{"ERROR"}, nil},
	{"FILE-ERROR", []string{"ERROR"}, []string{"PATHNAME"}},
	{packageError, []string{"ERROR"}, []string{"PACKAGE"}},
	{ParseError, []string{"ERROR"}, nil},
	{ProgramError, []string{"ERROR"}, nil},
	{"STREAM-ERROR", []string{"ERROR"}, []string{"STREAM"}},
	{EndOfFile, []string{"STREAM-ERROR"}, nil},
	{readerError, []string{ParseError, "STREAM-ERROR"}, nil},
	{TypeErrorClass, []string{"ERROR"}, []string{"DATUM", "EXPECTED-TYPE"}},
	{simpleTypeErr, []string{simpleCondition, TypeErrorClass}, nil},
	{"PRINT-NOT-READABLE", []string{"ERROR"}, []string{"OBJECT"}},
}

// addConditionClasses adds the standard conditions to the classes all environments share.
func addConditionClasses(classes map[*Symbol]*Class) {
	for _, k := range standardConditions {
		class := &Class{name: CL(k.name), kind: conditionClass}
		for _, super := range k.supers {
			class.supers = append(class.supers, classes[CL(super)])
		}
		var own []slot
		for _, name := range k.slots {
			symbol, ok := standardTable[name]
			if !ok {
				symbol = internalSymbol(name)
			}
			own = append(own, slot{name: symbol, initargs: []*Symbol{Keyword(name)}})
		}
		class.inherit(own)
		classes[class.name] = class
	}
}

// newCondition makes a condition of a standard class that says message; slots are
// pairs of a name and a value.
func (c *Call) newCondition(class, message string, slots ...any) *Instance {
	return c.conditionOf(c.environment.language.classes[CL(class)], message, slots...)
}

func (c *Call) conditionOf(k *Class, message string, slots ...any) *Instance {
	object := c.allocate(k)
	object.message = message
	c.Charge(len(message))
	for i := 0; i+1 < len(slots); i += 2 {
		for j := range k.slots {
			if k.slots[j].name.name == slots[i] {
				object.slots[j] = slots[i+1]
			}
		}
	}
	return object
}

// Fail signals an error of a standard class. It does not return.
func (c *Call) Fail(class, format string, args ...any) {
	c.signalError(c.newCondition(class, fmt.Sprintf(format, args...)))
}

// handlerCluster holds handlers that were established together, inside of outer.
type handlerCluster struct {
	outer    *handlerCluster
	handlers []handler
	// point is where the clauses of a handler-case are; nil for handler-bind.
	point *exitPoint
}

type handler struct {
	kind     Value // type specifier
	function *Function
	index    int
}

// signal offers a condition to the handlers, innermost first. It returns when all
// declined.
func (c *Call) signal(condition *Instance) {
	saved := c.handlers
	for cluster := saved; cluster != nil; cluster = cluster.outer {
		c.handlers = cluster.outer
		for _, h := range cluster.handlers {
			if !c.typep(condition, h.kind) {
				continue
			}
			if cluster.point != nil {
				c.leave(cluster.point, condition, h.index)
			}
			at := c.at
			c.Call1(h.function, condition)
			c.at = at
		}
	}
	c.handlers = saved
}

// signalError signals; if nobody handles it the call ends. It does not return.
func (c *Call) signalError(condition *Instance) {
	c.Descend(8) // a handler that fails again and again ends as a recursion
	c.signal(condition)
	c.Ascend(8)
	c.unhandled(condition)
}

// unhandled ends the call with a condition.
func (c *Call) unhandled(condition *Instance) {
	failed := c.describe(&Error{Class: condition.class.name.name, Cause: condition.cause})
	failed.Message = c.Report(condition)
	failed.Hint = c.hint(condition)
	c.exit = exit{failed: failed, orderly: true}
	panic(unwinding{})
}

// Report is what princ prints of a condition.
func (c *Call) Report(condition *Instance) string {
	if condition.message != "" {
		return condition.message
	}
	c.Descend(8)
	defer c.Ascend(8)
	for _, class := range condition.class.precedence {
		switch report := class.report.(type) {
		case *String:
			return report.String()
		case *Function:
			stream := c.NewOutput()
			c.Call2(report, condition, stream)
			return c.Collected(stream)
		}
	}
	if control, ok := condition.Slot("FORMAT-CONTROL").(*String); ok {
		return c.Format(control, c.Slice(condition.Slot("FORMAT-ARGUMENTS")))
	}
	if report := c.standardReport(condition); report != "" {
		return report
	}
	return "Condition " + c.symbolText(condition.class.name) + " was signalled."
}

// condition makes the condition that error, signal and warn are given: a condition, a
// class name with initargs or a format control with arguments.
func (c *Call) condition(args []Value, fallback string) *Instance {
	switch x := args[0].(type) {
	case *Instance:
		if x.class.kind == conditionClass {
			return x
		}
	case *Symbol:
		class := c.environment.class(x)
		if class == nil || class.kind != conditionClass {
			c.Fail(TypeErrorClass, "%s does not designate a condition class.", x.name)
		}
		return c.instantiate(class, args[1:])
	case *Class:
		if x.kind == conditionClass {
			return c.instantiate(x, args[1:])
		}
	case *String, *Function:
		return c.newCondition(fallback, "", "FORMAT-CONTROL", args[0], "FORMAT-ARGUMENTS", c.NewList(args[1:]))
	}
	c.TypeError(args[0], "CONDITION")
	return nil
}

// standardReport is what a condition of a standard class says whose slots are all that is
// known of it: one that a note made with its initialisation arguments. The words are
// SBCL's. It is empty for a class that says nothing of its own.
func (c *Call) standardReport(condition *Instance) string {
	shown := func(slot string) string { return c.Shown(condition.Slot(slot)) }
	for _, class := range condition.class.precedence {
		if class.name.home != standardPackage {
			continue
		}
		switch class.name.name {
		case TypeErrorClass:
			return "The value " + shown("DATUM") + " is not of type " + shown("EXPECTED-TYPE")
		case unboundVariable:
			return "The variable " + shown("NAME") + " is unbound."
		case undefinedClass:
			return "The function " + shown("NAME") + " is undefined."
		case unboundSlotClass:
			return "The slot " + shown("NAME") + " is unbound in the object " + shown("INSTANCE") + "."
		case arithmeticError:
			return c.arithmeticReport(condition)
		case "FILE-ERROR":
			return "error on file " + shown("PATHNAME")
		case EndOfFile:
			return "end of file on " + shown("STREAM")
		case "PRINT-NOT-READABLE":
			return shown("OBJECT") + " cannot be printed readably."
		}
	}
	return ""
}

func (c *Call) arithmeticReport(condition *Instance) string {
	report := "arithmetic error " + condition.class.name.name + " signalled"
	if operation := condition.Slot("OPERATION"); operation != Nil {
		report += "\nOperation was " + c.Shown(&Cons{Car: operation, Cdr: condition.Slot("OPERANDS")}) + "."
	}
	return report
}

// undefinedFunction signals that symbol names no function, or (setf symbol) none if it
// is a setter that is missing. It returns the function that a restart supplied.
func (c *Call) undefinedFunction(symbol *Symbol, setter bool) *Function {
	name, text := Value(symbol), c.symbolText(symbol)
	place := func(g *global) **Function { return &g.function }
	if setter {
		name, text = Form(symSetf, symbol), "(SETF "+text+")"
		place = func(g *global) **Function { return &g.setter }
	}
	function := place(c.global(symbol))
	return c.supplied(c.newCondition(undefinedClass, "The function "+text+" is undefined.", "NAME", name),
		func() Value {
			if *function == nil {
				return nil
			}
			return *function
		},
		func(v Value) Value { return c.Function(v) },
		func(v Value) {
			c.definable(symbol)
			*function = v.(*Function)
		}).(*Function)
}

// unbound signals that a variable has no value. It returns the one that a restart
// supplied.
func (c *Call) unbound(symbol *Symbol) Value {
	g := c.global(symbol)
	return c.supplied(c.newCondition(unboundVariable, "The variable "+c.symbolText(symbol)+" is unbound.", "NAME", symbol),
		func() Value { return c.special(g) },
		func(v Value) Value { return v },
		func(v Value) { c.setSpecial(g, v) })
}

// What the restarts of something missing are called when they are listed.
var (
	retryReport = NewString("Look again.")
	useReport   = NewString("Use another one this time.")
	storeReport = NewString("Define it, and use it.")
)

// supplied signals that something is missing within the restarts continue, use-value
// and store-value, and returns what they led to: what look finds, nil for nothing yet,
// or the value they were given, as taken takes it.
func (c *Call) supplied(condition *Instance, look func() Value, taken func(Value) Value, store func(Value)) Value {
	if c.handlers == nil {
		c.signalError(condition) // there is nobody to choose
	}
	for {
		c.Step()
		outer := c.restarts
		serves := []Value{condition}
		inner := Allocate(c, restart{outer: outer, name: symStoreValue, report: storeReport, index: 2, conditions: serves})
		inner = Allocate(c, restart{outer: inner, name: symUseValue, report: useReport, index: 1, conditions: serves})
		inner = Allocate(c, restart{outer: inner, name: symContinue, report: retryReport, conditions: serves})
		_, choice, args := c.runRestartable(inner, outer, func(c *Call, _ *frame) Value {
			c.signalError(condition)
			return nil
		}, nil)
		if choice == 0 {
			if v := look(); v != nil {
				return v
			}
			continue
		}
		values := c.Slice(args)
		if len(values) != 1 {
			c.wrongCount("the restart", len(values))
		}
		v := taken(values[0])
		if choice == 2 {
			store(v)
		}
		return v
	}
}
