package lisp

import "math"

// standardVariables are the variables and constants of the standard that notes may
// read or bind.
func standardVariables() map[*Symbol]standardVariable {
	table := map[*Symbol]standardVariable{}
	for name, v := range map[string]standardVariable{
		"*PACKAGE*":                      {value: Nil, doc: "The package of the note."},
		"*STANDARD-OUTPUT*":              {value: T, doc: "Where output goes; t is the agent's log."},
		"*ERROR-OUTPUT*":                 {value: T, doc: "Where messages go; t is the agent's log."},
		"*TRACE-OUTPUT*":                 {value: T, doc: "Like *error-output*."},
		"*DEBUG-IO*":                     {value: T, doc: "Like *error-output*."},
		"*QUERY-IO*":                     {value: T, doc: "Like *error-output*."},
		"*TERMINAL-IO*":                  {value: T, doc: "Like *error-output*."},
		"*STANDARD-INPUT*":               {value: Nil, doc: "Where read takes text from; nil is nothing."},
		"*READ-EVAL*":                    {value: Nil, doc: "Whether #. is read; it never is."},
		"*READ-BASE*":                    {value: Integer(10), doc: "The base of numbers that are read."},
		"*READ-DEFAULT-FLOAT-FORMAT*":    {value: standardSymbol("SINGLE-FLOAT"), doc: "The type of floats without an exponent marker."},
		"*PRINT-BASE*":                   {value: Integer(10), doc: "The base integers and ratios are printed in."},
		"*PRINT-CASE*":                   {value: kwUpcase, doc: "How symbols are printed: :upcase, :downcase or :capitalize."},
		"*PRINT-CIRCLE*":                 {value: Nil, doc: "Whether shared structure is printed with labels."},
		"*PRINT-ESCAPE*":                 {value: T, doc: "Whether print writes what read can read."},
		"*PRINT-GENSYM*":                 {value: T, doc: "Whether symbols without a package are printed with #:."},
		"*PRINT-LENGTH*":                 {value: Nil, doc: "How many elements of a list are printed; nil for all."},
		"*PRINT-LEVEL*":                  {value: Nil, doc: "How deep lists are printed; nil for all."},
		"*PRINT-LINES*":                  {value: Nil, doc: "How many lines are printed; nil for all."},
		"*PRINT-PRETTY*":                 {value: Nil, doc: "Whether output is laid out; here it never is."},
		"*PRINT-RADIX*":                  {value: Nil, doc: "Whether the base of numbers is printed."},
		"*PRINT-READABLY*":               {value: Nil, doc: "Whether what cannot be read back is an error."},
		"*PRINT-ARRAY*":                  {value: T, doc: "Whether the elements of arrays are printed."},
		"*PRINT-RIGHT-MARGIN*":           {value: Nil, doc: "The width of lines; nil for the default."},
		"*GENSYM-COUNTER*":               {value: Integer(1), doc: "The number of the next gensym."},
		"*RANDOM-STATE*":                 {value: Nil, doc: "The state of random."},
		"*FEATURES*":                     {value: NewList(kwOrgAgent, kwCommonLisp), doc: "What #+ and #- ask for."},
		"*LOAD-PATHNAME*":                {value: Nil, doc: "The file being loaded; nil in a note."},
		"*LOAD-TRUENAME*":                {value: Nil, doc: "The file being loaded; nil in a note."},
		"*MACROEXPAND-HOOK*":             {value: symFuncall, doc: "The function that calls macro functions."},
		"*BREAK-ON-SIGNALS*":             {value: Nil, doc: "Not used: a note has no debugger."},
		"NIL":                            {value: Nil, constant: true, doc: "The empty list, and false."},
		"T":                              {value: T, constant: true, doc: "True."},
		"PI":                             {value: math.Pi, constant: true, doc: "The ratio of a circle's circumference to its diameter."},
		"MOST-POSITIVE-FIXNUM":           {value: int64(1<<62 - 1), constant: true, doc: "The greatest fixnum."},
		"MOST-NEGATIVE-FIXNUM":           {value: int64(-1 << 62), constant: true, doc: "The least fixnum."},
		"MOST-POSITIVE-SINGLE-FLOAT":     {value: float32(math.MaxFloat32), constant: true, doc: "The greatest single float."},
		"MOST-NEGATIVE-SINGLE-FLOAT":     {value: float32(-math.MaxFloat32), constant: true, doc: "The least single float."},
		"MOST-POSITIVE-DOUBLE-FLOAT":     {value: math.MaxFloat64, constant: true, doc: "The greatest double float."},
		"MOST-NEGATIVE-DOUBLE-FLOAT":     {value: -math.MaxFloat64, constant: true, doc: "The least double float."},
		"SINGLE-FLOAT-EPSILON":           {value: math.Float32frombits(0x33800001), constant: true, doc: "The least single float that makes a difference added to 1."},
		"DOUBLE-FLOAT-EPSILON":           {value: math.Float64frombits(0x3ca0000000000001), constant: true, doc: "The least double float that makes a difference added to 1."},
		"ARRAY-DIMENSION-LIMIT":          {value: int64(1 << 53), constant: true, doc: "The bound of an array's dimensions."},
		"ARRAY-TOTAL-SIZE-LIMIT":         {value: int64(1 << 53), constant: true, doc: "The bound of an array's elements."},
		"ARRAY-RANK-LIMIT":               {value: Integer(64), constant: true, doc: "The bound of the number of dimensions."},
		"CHAR-CODE-LIMIT":                {value: int64(0x110000), constant: true, doc: "The bound of character codes."},
		"CALL-ARGUMENTS-LIMIT":           {value: int64(1 << 20), constant: true, doc: "The bound of the number of arguments."},
		"LAMBDA-PARAMETERS-LIMIT":        {value: int64(1 << 20), constant: true, doc: "The bound of the number of parameters."},
		"MULTIPLE-VALUES-LIMIT":          {value: int64(1 << 20), constant: true, doc: "The bound of the number of values."},
		"INTERNAL-TIME-UNITS-PER-SECOND": {value: int64(1_000_000), constant: true, doc: "What get-internal-real-time counts in a second."},
		"LAMBDA-LIST-KEYWORDS":           {value: NewList(symAllowOtherKeys, symAux, symBody, symEnvironment, symKey, symOptional, symRest, symWhole), constant: true, doc: "The words with a meaning in lambda lists."},
	} {
		table[standardSymbol(name)] = v
	}
	return table
}
