package lisp

import "math"

// standardVariables are the variables and constants of the standard that notes may
// read or bind.
func standardVariables() map[*Symbol]standardVariable {
	table := map[*Symbol]standardVariable{}
	for name, v := range map[string]standardVariable{
		"*PACKAGE*":                      {value: Nil},
		"*STANDARD-OUTPUT*":              {value: T},
		"*ERROR-OUTPUT*":                 {value: T},
		"*TRACE-OUTPUT*":                 {value: T},
		"*DEBUG-IO*":                     {value: T},
		"*QUERY-IO*":                     {value: T},
		"*TERMINAL-IO*":                  {value: T},
		"*STANDARD-INPUT*":               {value: Nil},
		"*READ-EVAL*":                    {value: Nil},
		"*READ-BASE*":                    {value: Integer(10)},
		"*READ-DEFAULT-FLOAT-FORMAT*":    {value: standardSymbol("SINGLE-FLOAT")},
		"*PRINT-BASE*":                   {value: Integer(10)},
		"*PRINT-CASE*":                   {value: kwUpcase},
		"*PRINT-CIRCLE*":                 {value: Nil},
		"*PRINT-ESCAPE*":                 {value: T},
		"*PRINT-GENSYM*":                 {value: T},
		"*PRINT-LENGTH*":                 {value: Nil},
		"*PRINT-LEVEL*":                  {value: Nil},
		"*PRINT-LINES*":                  {value: Nil},
		"*PRINT-PRETTY*":                 {value: Nil},
		"*PRINT-RADIX*":                  {value: Nil},
		"*PRINT-READABLY*":               {value: Nil},
		"*PRINT-ARRAY*":                  {value: T},
		"*PRINT-RIGHT-MARGIN*":           {value: Nil},
		"*GENSYM-COUNTER*":               {value: Integer(1)},
		"*RANDOM-STATE*":                 {value: Nil},
		"*FEATURES*":                     {value: NewList(kwOrgAgent, kwCommonLisp)},
		"*LOAD-PATHNAME*":                {value: Nil},
		"*LOAD-TRUENAME*":                {value: Nil},
		"*MACROEXPAND-HOOK*":             {value: symFuncall},
		"*BREAK-ON-SIGNALS*":             {value: Nil},
		"NIL":                            {value: Nil, constant: true},
		"T":                              {value: T, constant: true},
		"PI":                             {value: math.Pi, constant: true},
		"MOST-POSITIVE-FIXNUM":           {value: int64(1<<62 - 1), constant: true},
		"MOST-NEGATIVE-FIXNUM":           {value: int64(-1 << 62), constant: true},
		"MOST-POSITIVE-SINGLE-FLOAT":     {value: float32(math.MaxFloat32), constant: true},
		"MOST-NEGATIVE-SINGLE-FLOAT":     {value: float32(-math.MaxFloat32), constant: true},
		"MOST-POSITIVE-DOUBLE-FLOAT":     {value: math.MaxFloat64, constant: true},
		"MOST-NEGATIVE-DOUBLE-FLOAT":     {value: -math.MaxFloat64, constant: true},
		"SINGLE-FLOAT-EPSILON":           {value: math.Float32frombits(0x33800001), constant: true},
		"DOUBLE-FLOAT-EPSILON":           {value: math.Float64frombits(0x3ca0000000000001), constant: true},
		"ARRAY-DIMENSION-LIMIT":          {value: int64(1 << 53), constant: true},
		"ARRAY-TOTAL-SIZE-LIMIT":         {value: int64(1 << 53), constant: true},
		"ARRAY-RANK-LIMIT":               {value: Integer(64), constant: true},
		"CHAR-CODE-LIMIT":                {value: int64(0x110000), constant: true},
		"CALL-ARGUMENTS-LIMIT":           {value: int64(1 << 20), constant: true},
		"LAMBDA-PARAMETERS-LIMIT":        {value: int64(1 << 20), constant: true},
		"MULTIPLE-VALUES-LIMIT":          {value: int64(1 << 20), constant: true},
		"INTERNAL-TIME-UNITS-PER-SECOND": {value: int64(1_000_000), constant: true},
		"LAMBDA-LIST-KEYWORDS":           {value: NewList(symAllowOtherKeys, symAux, symBody, symEnvironment, symKey, symOptional, symRest, symWhole), constant: true},
	} {
		table[standardSymbol(name)] = v
	}
	return table
}
