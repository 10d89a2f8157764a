package lisp

import (
	"math"
)

// definitionForms are the operators that define global names, and backquote.
func definitionForms() []standardForm {
	return []standardForm{
		{"defun", "(name lambda-list &body body)", "Define a function.", compileDefun},
		{"defmacro", "(name lambda-list &body body)", "Define a macro.", compileDefmacro},
		{"defvar", "(name &optional value doc)", "Define a special variable; a value it has stays.", compileDefvar},
		{"defparameter", "(name value &optional doc)", "Define a special variable and give it a value.", compileDefparameter},
		{"defconstant", "(name value &optional doc)", "Define a constant.", compileDefconstant},
		{"deftype", "(name lambda-list &body body)", "Define a type by the type that stands for it.", compileDeftype},
		{"define-compiler-macro", "(name lambda-list &body body)", "Accepted, and never used.", compileDefineCompilerMacro},
		{"define-symbol-macro", "(symbol expansion)", "Make a symbol stand for a form.", compileDefineSymbolMacro},
		{"in-package", "(name)", "Enter a package that was made here with defpackage. For any other name nothing happens: a note is its own package.", compileInPackage},
		{"declaim", "(&rest declarations)", "Proclaim; special is what has an effect.", compileDeclaim},
		{"declare", "(&rest declarations)", "Declarations stand at the beginning of a body.", func(cp *Compiler, form *Cons, _ *scope) expression {
			cp.Fail(ProgramError, "declare stands where a form is expected: %s", Sketch(form, formLength))
			return expression{}
		}},
	}
}

// definedName takes the name in a defun: a symbol that is free to define, or
// (setf symbol).
func (cp *Compiler) definedName(name Value) (g *global, setter bool, text string) {
	if symbol, ok := setfName(name); ok {
		return cp.global(symbol), true, "(SETF " + symbol.name + ")"
	}
	symbol, ok := name.(*Symbol)
	if !ok || symbol.Keyword() {
		cp.Fail(ProgramError, "%s cannot name a function", Sketch(name, formLength))
	}
	return cp.definable(symbol), false, symbol.name
}

func (cp *Compiler) blockName(name Value) *Symbol {
	if symbol, ok := setfName(name); ok {
		return symbol
	}
	return name.(*Symbol)
}

func compileDefun(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0])})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		if setter {
			g.setter = fn
		} else {
			g.function, g.macro = fn, nil
		}
		return parts[0]
	})
}

func compileDefmacro(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	if setter {
		cp.Fail(ProgramError, "a macro's name must be a symbol")
	}
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0]), macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		g.macro = &macro{name: name, doc: fn.doc, function: fn}
		g.function = nil
		return parts[0]
	})
}

// definedVariable takes (operator name [value [doc]]).
func (cp *Compiler) definedVariable(form *Cons, sc *scope, least int) (g *global, value code, doc Value) {
	parts := cp.Arguments(form, least, 3)
	symbol := cp.checkBindable(parts[0])
	g = cp.unfrozen(symbol)
	if len(parts) > 1 {
		value = cp.compile(parts[1], sc).one()
	}
	if len(parts) > 2 {
		doc = parts[2]
	}
	return g, value, doc
}

func (g *global) document(kind *Symbol, doc Value) {
	if doc == nil {
		return
	}
	if g.docs == nil {
		g.docs = map[*Symbol]Value{}
	}
	g.docs[kind] = doc
}

var symVariable = CL("VARIABLE")

func compileDefvar(cp *Compiler, form *Cons, sc *scope) expression {
	g, value, doc := cp.definedVariable(form, sc, 1)
	g.special = true
	return simple(func(c *Call, f *frame) Value {
		g.special = true
		g.document(symVariable, doc)
		if value != nil && g.value == nil {
			g.value = value(c, f)
		}
		return g.symbol
	})
}

func compileDefparameter(cp *Compiler, form *Cons, sc *scope) expression {
	g, value, doc := cp.definedVariable(form, sc, 2)
	g.special = true
	return simple(func(c *Call, f *frame) Value {
		g.special = true
		g.document(symVariable, doc)
		c.setSpecial(g, value(c, f))
		return g.symbol
	})
}

func compileDefconstant(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 3)
	symbol, ok := parts[0].(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "%s cannot name a constant", Sketch(parts[0], formLength))
	}
	g := cp.unfrozen(symbol)
	value := cp.compile(parts[1], sc).one()
	return simple(func(c *Call, f *frame) Value {
		v := value(c, f)
		if len(parts) > 2 {
			g.document(symVariable, parts[2])
		}
		if g.constant && !eql(g.value, v) {
			c.Fail(ProgramError, "the constant %s is being redefined", symbol.name)
		}
		g.value, g.special, g.constant = v, true, true
		return symbol
	})
}

func compileDeftype(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	symbol := cp.unfrozen(cp.TakeSymbol(parts[0])).symbol
	function := cp.compileLambda(symbol.name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: symbol, macro: true, star: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		c.environment.types[symbol] = fn
		if fn.doc != "" {
			c.global(symbol).document(symTypeWord, c.Text(fn.doc))
		}
		return symbol
	})
}

// compileDefineCompilerMacro keeps a compiler macro to be asked for. Calls are compiled
// as if there were none, which is always right.
func compileDefineCompilerMacro(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	g, setter, name := cp.definedName(parts[0])
	function := cp.compileLambda(name, form.Cdr.(*Cons).Cdr, sc, lambdaKind{block: cp.blockName(parts[0]), macro: true})
	return simple(func(c *Call, f *frame) Value {
		fn := function(c, f).(*Function)
		if !setter {
			g.compilerMacro = &Function{name: name, doc: fn.doc, least: 2, most: 2, two: func(c *Call, form, environment Value) Value {
				return c.newCompiler("").expandIn(&macro{function: fn}, c.cell(form), c.scopeArgument(environment))
			}}
			g.document(CL("COMPILER-MACRO"), c.docOf(fn.doc))
		}
		return parts[0]
	})
}

func compileDefineSymbolMacro(cp *Compiler, form *Cons, _ *scope) expression {
	parts := cp.Arguments(form, 2, 2)
	g := cp.unfrozen(cp.checkBindable(parts[0]))
	if g.special {
		cp.Fail(ProgramError, "%s is a special variable and cannot be a symbol macro", g.symbol.name)
	}
	return simple(func(*Call, *frame) Value {
		g.expansion = parts[1]
		return g.symbol
	})
}

func compileDeclaim(cp *Compiler, form *Cons, _ *scope) expression {
	for _, declaration := range cp.Forms(form.Cdr) {
		cp.proclaim(declaration)
	}
	return constant(Nil)
}

// compileInPackage enters a package the note made itself; every other name leads back
// to the note's own package, which is where notes written for the upstream system
// expect to be.
func compileInPackage(cp *Compiler, form *Cons, _ *scope) expression {
	name := cp.Arguments(form, 1, 1)[0]
	return simple(func(c *Call, _ *frame) Value {
		target := c.environment.user
		if p := c.environment.packages[c.Name(name)]; p != nil && p.madeByNote {
			target = p
		}
		c.setSpecial(c.global(symPackage), target)
		return target
	})
}

// standardVariables are the variables and constants of the standard that notes may
// read or bind.
func standardVariables() map[*Symbol]standardVariable {
	table := map[*Symbol]standardVariable{}
	for name, v := range map[string]standardVariable{
		"*PACKAGE*":                              {value: Nil, doc: "The package of the note."},
		"*STANDARD-OUTPUT*":                      {value: terminal, doc: "Where messages go: the agent's log."},
		"*ERROR-OUTPUT*":                         {value: terminal, doc: "Where messages go: the agent's log."},
		"*TRACE-OUTPUT*":                         {value: terminal, doc: "Where messages go: the agent's log."},
		"*DEBUG-IO*":                             {value: terminal, doc: "Where messages go: the agent's log."},
		"*QUERY-IO*":                             {value: terminal, doc: "Where messages go: the agent's log."},
		"*TERMINAL-IO*":                          {value: terminal, doc: "Where messages go: the agent's log."},
		"*STANDARD-INPUT*":                       {value: terminal, doc: "Where read takes text from; nothing at first."},
		"*READ-EVAL*":                            {value: Nil, doc: "Whether #. is read; it never is."},
		"*READ-BASE*":                            {value: Integer(10), doc: "The base of numbers that are read."},
		"*READ-DEFAULT-FLOAT-FORMAT*":            {value: CL("SINGLE-FLOAT"), doc: "The type of floats without an exponent marker."},
		"*PRINT-BASE*":                           {value: Integer(10), doc: "The base integers and ratios are printed in."},
		"*PRINT-CASE*":                           {value: kwUpcase, doc: "How symbols are printed: :upcase, :downcase or :capitalize."},
		"*PRINT-CIRCLE*":                         {value: Nil, doc: "Whether shared structure is printed with labels."},
		"*PRINT-ESCAPE*":                         {value: T, doc: "Whether print writes what read can read."},
		"*PRINT-GENSYM*":                         {value: T, doc: "Whether symbols without a package are printed with #:."},
		"*PRINT-LENGTH*":                         {value: Nil, doc: "How many elements of a list are printed; nil for all."},
		"*PRINT-LEVEL*":                          {value: Nil, doc: "How deep lists are printed; nil for all."},
		"*PRINT-LINES*":                          {value: Nil, doc: "How many lines are printed; nil for all."},
		"*PRINT-PRETTY*":                         {value: Nil, doc: "Whether output is laid out; here it never is."},
		"*PRINT-RADIX*":                          {value: Nil, doc: "Whether the base of numbers is printed."},
		"*PRINT-READABLY*":                       {value: Nil, doc: "Whether what cannot be read back is an error."},
		"*PRINT-ARRAY*":                          {value: T, doc: "Whether the elements of arrays are printed."},
		"*PRINT-RIGHT-MARGIN*":                   {value: Nil, doc: "The width of lines; nil for the default."},
		"*PRINT-MISER-WIDTH*":                    {value: Nil, doc: "Not used: output is not laid out."},
		"*PRINT-PPRINT-DISPATCH*":                {value: Nil, doc: "Not used: output is not laid out."},
		"*DEFAULT-PATHNAME-DEFAULTS*":            {value: emptyPathname, doc: "What merge-pathnames fills in."},
		"*READ-SUPPRESS*":                        {value: Nil, doc: "Whether what is read is passed over, as nil."},
		"*READTABLE*":                            {value: standardReadtable, doc: "How letters are read; the syntax of characters is fixed."},
		"*GENSYM-COUNTER*":                       {value: Integer(1), doc: "The number of the next gensym."},
		"*RANDOM-STATE*":                         {value: theRandomState, doc: "The state of random."},
		"*FEATURES*":                             {value: NewList(kwOrgAgent, kwCommonLisp), doc: "What #+ and #- ask for."},
		"*LOAD-PATHNAME*":                        {value: Nil, doc: "The file being loaded; nil in a note."},
		"*LOAD-TRUENAME*":                        {value: Nil, doc: "The file being loaded; nil in a note."},
		"*MACROEXPAND-HOOK*":                     {value: symFuncall, doc: "The function that calls macro functions."},
		"*BREAK-ON-SIGNALS*":                     {value: Nil, doc: "Not used: a note has no debugger."},
		"NIL":                                    {value: Nil, constant: true, doc: "The empty list, and false."},
		"T":                                      {value: T, constant: true, doc: "True."},
		"PI":                                     {value: math.Pi, constant: true, doc: "The ratio of a circle's circumference to its diameter."},
		"MOST-POSITIVE-FIXNUM":                   {value: int64(1<<62 - 1), constant: true, doc: "The greatest fixnum."},
		"MOST-NEGATIVE-FIXNUM":                   {value: int64(-1 << 62), constant: true, doc: "The least fixnum."},
		"MOST-POSITIVE-SINGLE-FLOAT":             {value: float32(math.MaxFloat32), constant: true, doc: "The greatest single float."},
		"MOST-NEGATIVE-SINGLE-FLOAT":             {value: float32(-math.MaxFloat32), constant: true, doc: "The least single float."},
		"MOST-POSITIVE-DOUBLE-FLOAT":             {value: math.MaxFloat64, constant: true, doc: "The greatest double float."},
		"MOST-NEGATIVE-DOUBLE-FLOAT":             {value: -math.MaxFloat64, constant: true, doc: "The least double float."},
		"SINGLE-FLOAT-EPSILON":                   {value: math.Float32frombits(0x33800001), constant: true, doc: "The least single float that makes a difference added to 1."},
		"DOUBLE-FLOAT-EPSILON":                   {value: math.Float64frombits(0x3ca0000000000001), constant: true, doc: "The least double float that makes a difference added to 1."},
		"MOST-POSITIVE-SHORT-FLOAT":              {value: float32(math.MaxFloat32), constant: true, doc: "The greatest single float."},
		"MOST-NEGATIVE-SHORT-FLOAT":              {value: float32(-math.MaxFloat32), constant: true, doc: "The least single float."},
		"MOST-POSITIVE-LONG-FLOAT":               {value: math.MaxFloat64, constant: true, doc: "The greatest double float."},
		"MOST-NEGATIVE-LONG-FLOAT":               {value: -math.MaxFloat64, constant: true, doc: "The least double float."},
		"LEAST-POSITIVE-SINGLE-FLOAT":            {value: float32(math.SmallestNonzeroFloat32), constant: true, doc: "The smallest positive single float."},
		"LEAST-POSITIVE-NORMALIZED-SINGLE-FLOAT": {value: math.Float32frombits(0x00800000), constant: true, doc: "The smallest positive normalized single float."},
		"LEAST-POSITIVE-SHORT-FLOAT":             {value: float32(math.SmallestNonzeroFloat32), constant: true, doc: "The smallest positive single float."},
		"LEAST-POSITIVE-NORMALIZED-SHORT-FLOAT":  {value: math.Float32frombits(0x00800000), constant: true, doc: "The smallest positive normalized single float."},
		"LEAST-POSITIVE-DOUBLE-FLOAT":            {value: math.SmallestNonzeroFloat64, constant: true, doc: "The smallest positive double float."},
		"LEAST-POSITIVE-NORMALIZED-DOUBLE-FLOAT": {value: math.Float64frombits(0x0010000000000000), constant: true, doc: "The smallest positive normalized double float."},
		"LEAST-POSITIVE-LONG-FLOAT":              {value: math.SmallestNonzeroFloat64, constant: true, doc: "The smallest positive double float."},
		"LEAST-POSITIVE-NORMALIZED-LONG-FLOAT":   {value: math.Float64frombits(0x0010000000000000), constant: true, doc: "The smallest positive normalized double float."},
		"LEAST-NEGATIVE-SINGLE-FLOAT":            {value: float32(-math.SmallestNonzeroFloat32), constant: true, doc: "The smallest negative single float."},
		"LEAST-NEGATIVE-NORMALIZED-SINGLE-FLOAT": {value: -math.Float32frombits(0x00800000), constant: true, doc: "The smallest negative normalized single float."},
		"LEAST-NEGATIVE-SHORT-FLOAT":             {value: float32(-math.SmallestNonzeroFloat32), constant: true, doc: "The smallest negative single float."},
		"LEAST-NEGATIVE-NORMALIZED-SHORT-FLOAT":  {value: -math.Float32frombits(0x00800000), constant: true, doc: "The smallest negative normalized single float."},
		"LEAST-NEGATIVE-DOUBLE-FLOAT":            {value: -math.SmallestNonzeroFloat64, constant: true, doc: "The smallest negative double float."},
		"LEAST-NEGATIVE-NORMALIZED-DOUBLE-FLOAT": {value: -math.Float64frombits(0x0010000000000000), constant: true, doc: "The smallest negative normalized double float."},
		"LEAST-NEGATIVE-LONG-FLOAT":              {value: -math.SmallestNonzeroFloat64, constant: true, doc: "The smallest negative double float."},
		"LEAST-NEGATIVE-NORMALIZED-LONG-FLOAT":   {value: -math.Float64frombits(0x0010000000000000), constant: true, doc: "The smallest negative normalized double float."},
		"SHORT-FLOAT-EPSILON":                    {value: math.Float32frombits(0x33800001), constant: true, doc: "The least single float that makes a difference added to 1."},
		"SHORT-FLOAT-NEGATIVE-EPSILON":           {value: math.Float32frombits(0x33000001), constant: true, doc: "The least single float that makes a difference subtracted from 1."},
		"SINGLE-FLOAT-NEGATIVE-EPSILON":          {value: math.Float32frombits(0x33000001), constant: true, doc: "The least single float that makes a difference subtracted from 1."},
		"LONG-FLOAT-EPSILON":                     {value: math.Float64frombits(0x3ca0000000000001), constant: true, doc: "The least double float that makes a difference added to 1."},
		"DOUBLE-FLOAT-NEGATIVE-EPSILON":          {value: math.Float64frombits(0x3c90000000000001), constant: true, doc: "The least double float that makes a difference subtracted from 1."},
		"LONG-FLOAT-NEGATIVE-EPSILON":            {value: math.Float64frombits(0x3c90000000000001), constant: true, doc: "The least double float that makes a difference subtracted from 1."},
		"BOOLE-CLR":                              {value: Integer(0), constant: true, doc: "An operation of boole."},
		"BOOLE-SET":                              {value: Integer(1), constant: true, doc: "An operation of boole."},
		"BOOLE-1":                                {value: Integer(2), constant: true, doc: "An operation of boole."},
		"BOOLE-2":                                {value: Integer(3), constant: true, doc: "An operation of boole."},
		"BOOLE-C1":                               {value: Integer(4), constant: true, doc: "An operation of boole."},
		"BOOLE-C2":                               {value: Integer(5), constant: true, doc: "An operation of boole."},
		"BOOLE-AND":                              {value: Integer(6), constant: true, doc: "An operation of boole."},
		"BOOLE-IOR":                              {value: Integer(7), constant: true, doc: "An operation of boole."},
		"BOOLE-XOR":                              {value: Integer(8), constant: true, doc: "An operation of boole."},
		"BOOLE-EQV":                              {value: Integer(9), constant: true, doc: "An operation of boole."},
		"BOOLE-NAND":                             {value: Integer(10), constant: true, doc: "An operation of boole."},
		"BOOLE-NOR":                              {value: Integer(11), constant: true, doc: "An operation of boole."},
		"BOOLE-ANDC1":                            {value: Integer(12), constant: true, doc: "An operation of boole."},
		"BOOLE-ANDC2":                            {value: Integer(13), constant: true, doc: "An operation of boole."},
		"BOOLE-ORC1":                             {value: Integer(14), constant: true, doc: "An operation of boole."},
		"BOOLE-ORC2":                             {value: Integer(15), constant: true, doc: "An operation of boole."},
		"ARRAY-DIMENSION-LIMIT":                  {value: int64(1 << 53), constant: true, doc: "The bound of an array's dimensions."},
		"ARRAY-TOTAL-SIZE-LIMIT":                 {value: int64(1 << 53), constant: true, doc: "The bound of an array's elements."},
		"ARRAY-RANK-LIMIT":                       {value: Integer(64), constant: true, doc: "The bound of the number of dimensions."},
		"CHAR-CODE-LIMIT":                        {value: int64(0x110000), constant: true, doc: "The bound of character codes."},
		"CALL-ARGUMENTS-LIMIT":                   {value: int64(1 << 20), constant: true, doc: "The bound of the number of arguments."},
		"LAMBDA-PARAMETERS-LIMIT":                {value: int64(1 << 20), constant: true, doc: "The bound of the number of parameters."},
		"MULTIPLE-VALUES-LIMIT":                  {value: int64(1 << 20), constant: true, doc: "The bound of the number of values."},
		"INTERNAL-TIME-UNITS-PER-SECOND":         {value: int64(1_000_000), constant: true, doc: "What get-internal-real-time counts in a second."},
		"LAMBDA-LIST-KEYWORDS":                   {value: NewList(symAllowOtherKeys, symAux, symBody, symEnvironment, symKey, symOptional, symRest, symWhole), constant: true, doc: "The words with a meaning in lambda lists."},
	} {
		table[CL(name)] = v
	}
	return table
}
