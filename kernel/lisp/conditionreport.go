package lisp

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
