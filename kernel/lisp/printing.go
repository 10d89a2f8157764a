package lisp

// printFunctions print objects.
func printFunctions() []builtin {
	toString := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object)", doc: doc, one: func(c *Call, a Value) Value {
			return runesString(append([]rune(nil), c.printedRunes(a, escape)...))
		}}
	}
	toStream := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object &optional stream)", doc: doc, call: func(c *Call, args []Value) Value {
			c.write(c.outputStream(optional(args, 1)), c.printedRunes(args[0], escape))
			return args[0]
		}}
	}
	return []builtin{
		toString("prin1-to-string", "What prin1 prints.", true),
		toString("princ-to-string", "What princ prints.", false),
		toStream("prin1", "Print so that it can be read.", true),
		toStream("princ", "Print for people.", false),
		{name: "print", list: "(object &optional stream)", doc: "Print on a new line so that it can be read, and a blank.", call: func(c *Call, args []Value) Value {
			s := c.outputStream(optional(args, 1))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(args[0], true))
			c.write(s, []rune{' '})
			return args[0]
		}},
		{name: "pprint", list: "(object &optional stream)", doc: "Print on a new line so that it can be read.", many: true, call: func(c *Call, args []Value) Value {
			s := c.outputStream(optional(args, 1))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(args[0], true))
			return noValues
		}},
		{name: "write", list: "(object &key stream escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", doc: "Print as the variables and options say.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], append([]*Symbol{kwStream}, writeKeywords...)...)
			c.write(c.outputStream(k[0]), c.written(args[0], k[1:]))
			return args[0]
		}},
		{name: "write-to-string", list: "(object &key escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", doc: "Print to a string as the variables and options say.", call: func(c *Call, args []Value) Value {
			return runesString(append([]rune(nil), c.written(args[0], c.keywords(args[1:], writeKeywords...))...))
		}},
		{name: "format", list: "(destination control &rest arguments)", doc: "Write as a control string says; to a string if destination is nil.", call: formatFunction, check: checkFormat},
	}
}

var kwStream = standardKeyword("STREAM")

// writeKeywords are the options of write, writeVariables what they bind.
var (
	writeKeywords = []*Symbol{
		standardKeyword("ESCAPE"), kwReadably, standardKeyword("BASE"), kwRadix, kwCircle, kwPretty, kwLevel, kwLength, kwCase,
		standardKeyword("LINES"), standardKeyword("ARRAY"), standardKeyword("GENSYM"), standardKeyword("RIGHT-MARGIN"),
		standardKeyword("MISER-WIDTH"), standardKeyword("PPRINT-DISPATCH"),
	}
	writeVariables = []*Symbol{
		symPrintEscape, symPrintReadably, symPrintBase, symPrintRadix, symPrintCircle, symPrintPretty, symPrintLevel, symPrintLength, symPrintCase,
		symPrintLines, symPrintArray, symPrintGensym, symPrintMargin, symMiserWidth, symDispatch,
	}
)

// written prints with the variables bound to those options that are given.
func (c *Call) written(v Value, options []Value) []rune {
	mark := len(c.bindings)
	for i, option := range options {
		if option != nil {
			c.bind(c.environment.global(writeVariables[i]), option)
		}
	}
	text := c.printedWith(v, c.printControl())
	c.unbind(mark)
	return text
}

func (c *Call) radix(v Value) int {
	n := c.index(v)
	if n < 2 || n > 36 {
		c.typeError(v, "(INTEGER 2 36)")
	}
	return n
}
