package lisp

// timed expands time.
func timed(cp *Compiler, form *Cons) Value {
	start, now := cp.Gensym("START"), Form(CL("GET-INTERNAL-REAL-TIME"))
	took := Form(CL("/"), Form(CL("-"), now, start), Form(CL("FLOAT"), CL("INTERNAL-TIME-UNITS-PER-SECOND")))
	return Form(symLet, NewList(NewList(start, now)), Form(CL("MULTIPLE-VALUE-PROG1"), cp.Arguments(form, 1, 1)[0],
		Form(CL("FORMAT"), CL("*TRACE-OUTPUT*"), NewString("Evaluation took:~%  ~,3f seconds of real time~%"), took)))
}
