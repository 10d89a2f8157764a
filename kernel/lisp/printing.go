package lisp

// printFunctions print objects.
func printFunctions() []Builtin {
	toString := func(name, doc string, escape bool) Builtin {
		return Builtin{Name: name, LambdaList: "(object)", Doc: doc, One: func(c *Call, a Value) Value {
			return c.StringOf(append([]rune(nil), c.printedRunes(a, escape)...))
		}}
	}
	toStream := func(name, doc string, escape bool) Builtin {
		return Builtin{Name: name, LambdaList: "(object &optional stream)", Doc: doc, Named: func(c *Call, args Args) Value {
			object := args.Get("object")

			c.Write(c.OutputStream(args.Get("stream")), c.printedRunes(object, escape))
			return object
		}}
	}
	return []Builtin{
		toString("prin1-to-string", "What prin1 prints.", true),
		toString("princ-to-string", "What princ prints.", false),
		toStream("prin1", "Print so that it can be read.", true),
		toStream("princ", "Print for people.", false),
		{Name: "print", LambdaList: "(object &optional stream)", Doc: "Print on a new line so that it can be read, and a blank.", Named: func(c *Call, args Args) Value {
			object := args.Get("object")

			s := c.OutputStream(args.Get("stream"))
			c.Write(s, []rune{'\n'})
			c.Write(s, c.printedRunes(object, true))
			c.Write(s, []rune{' '})
			return object
		}},
		{Name: "pprint", LambdaList: "(object &optional stream)", Doc: "Print on a new line so that it can be read.", Many: true, Named: func(c *Call, args Args) Value {
			s := c.OutputStream(args.Get("stream"))
			c.Write(s, []rune{'\n'})
			c.Write(s, c.printedRunes(args.Get("object"), true))
			return noValues
		}},
		{Name: "write", LambdaList: "(object &key stream escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", Doc: "Print as the variables and options say.", Named: func(c *Call, args Args) Value {
			object := args.Get("object")
			c.Write(c.OutputStream(args.Get("stream")), c.written(object, args))
			return object
		}},
		{Name: "write-to-string", LambdaList: "(object &key escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", Doc: "Print to a string as the variables and options say.", Named: func(c *Call, args Args) Value {
			return c.StringOf(append([]rune(nil), c.written(args.Get("object"), args)...))
		}},
		{Name: "format", LambdaList: "(destination control &rest arguments)", Doc: "Write as a control string says; to a string if destination is nil.", Call: formatFunction, Check: checkFormat},
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
	n := c.Index(v)
	if n < 2 || n > 36 {
		c.TypeError(v, "(INTEGER 2 36)")
	}
	return n
}
