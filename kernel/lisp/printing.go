package lisp

// printFunctions print objects.
func printFunctions() []builtin {
	toString := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object)", doc: doc, one: func(c *Call, a Value) Value {
			return runesString(append([]rune(nil), c.printedRunes(a, escape)...))
		}}
	}
	toStream := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object &optional stream)", doc: doc, named: func(c *Call, args Args) Value {
			object := args.Get("object")

			c.write(c.outputStream(args.Get("stream")), c.printedRunes(object, escape))
			return object
		}}
	}
	return []builtin{
		toString("prin1-to-string", "What prin1 prints.", true),
		toString("princ-to-string", "What princ prints.", false),
		toStream("prin1", "Print so that it can be read.", true),
		toStream("princ", "Print for people.", false),
		{name: "print", list: "(object &optional stream)", doc: "Print on a new line so that it can be read, and a blank.", named: func(c *Call, args Args) Value {
			object := args.Get("object")

			s := c.outputStream(args.Get("stream"))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(object, true))
			c.write(s, []rune{' '})
			return object
		}},
		{name: "pprint", list: "(object &optional stream)", doc: "Print on a new line so that it can be read.", many: true, named: func(c *Call, args Args) Value {
			s := c.outputStream(args.Get("stream"))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(args.Get("object"), true))
			return noValues
		}},
		{name: "write", list: "(object &key stream escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", doc: "Print as the variables and options say.", named: func(c *Call, args Args) Value {
			object := args.Get("object")
			c.write(c.outputStream(args.Get("stream")), c.written(object, args))
			return object
		}},
		{name: "write-to-string", list: "(object &key escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", doc: "Print to a string as the variables and options say.", named: func(c *Call, args Args) Value {
			return runesString(append([]rune(nil), c.written(args.Get("object"), args)...))
		}},
		{name: "format", list: "(destination control &rest arguments)", doc: "Write as a control string says; to a string if destination is nil.", call: formatFunction, check: checkFormat},
	}
}

// writeOptions are the options of write, and the variables that they bind.
var writeOptions = []struct {
	name     string
	variable *Symbol
}{
	{"escape", symPrintEscape}, {"readably", symPrintReadably}, {"base", symPrintBase}, {"radix", symPrintRadix}, {"circle", symPrintCircle},
	{"pretty", symPrintPretty}, {"level", symPrintLevel}, {"length", symPrintLength}, {"case", symPrintCase}, {"lines", symPrintLines},
	{"array", symPrintArray}, {"gensym", symPrintGensym}, {"right-margin", symPrintMargin}, {"miser-width", symMiserWidth}, {"pprint-dispatch", symDispatch},
}

// written prints with the variables bound to those options that are given.
func (c *Call) written(v Value, args Args) []rune {
	mark := len(c.bindings)
	for _, o := range writeOptions {
		if option := args.Get(o.name); option != nil {
			c.bind(c.environment.global(o.variable), option)
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
