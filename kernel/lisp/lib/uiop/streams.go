package uiop

import (
	"slices"
	"strings"

	"org-agent/kernel/lisp"
)

var (
	kwStripped = lisp.Keyword("STRIPPED")
	kwAt       = lisp.Keyword("AT")
)

// uiopStreams read and write whole streams.
func uiopStreams() []lisp.Builtin {
	format := func(name string) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(destination control &rest arguments)", Doc: "Write as format does, to where uiop:with-output says.", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			text := c.Format(c.TakeString(args[1]), slices.Clone(args[2:]))
			if args[0] == lisp.Nil {
				return c.Values()
			}
			c.WriteText(destination(c, args[0]), text)
			return c.Values()
		}}
	}
	return []lisp.Builtin{
		{Name: "slurp-stream-string", LambdaList: "(stream &key stripped element-type)", Doc: "The rest of a stream as a string, without its last end of line if stripped.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			text := c.StringOf(c.Rest(c.InputStream(args.Get("stream"))))
			if args.True("stripped") {
				return c.Funcall(c.Lookup("UIOP:STRIPLN"), text)
			}
			return text
		}},
		{Name: "slurp-stream-lines", LambdaList: "(stream &key count)", Doc: "The lines of a stream, at most count.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return slurpLines(c, c.InputStream(args.Get("stream")), most(c, args.Get("count")))
		}},
		{Name: "slurp-stream-line", LambdaList: "(stream &key at)", Doc: "A line of a stream, the first unless at says which.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return slurpAt(c, c.InputStream(args.Get("stream")), args.Get("at"), slurpLines)
		}},
		{Name: "slurp-stream-forms", LambdaList: "(stream &key count)", Doc: "The forms of a stream, at most count.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return slurpForms(c, c.InputStream(args.Get("stream")), most(c, args.Get("count")))
		}},
		{Name: "slurp-stream-form", LambdaList: "(stream &key at)", Doc: "A form of a stream, the first unless at says which, and what of it.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return slurpAt(c, c.InputStream(args.Get("stream")), args.Get("at"), slurpForms)
		}},
		{Name: "copy-stream-to-stream", LambdaList: "(input output &key element-type buffer-size linewise prefix)", Doc: "Write the rest of a stream to another one; with linewise, a prefix before each line.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			prefixArg := args.Get("prefix")
			text, out := c.Rest(c.InputStream(args.Get("input"))), c.OutputStream(args.Get("output"))
			if !args.True("linewise") || !lisp.Given(prefixArg) {
				c.Write(out, text)
				return lisp.Nil
			}
			prefix := c.TakeString(prefixArg).Runes()
			for start := 0; start < len(text); {
				end := start + 1
				for end < len(text) && text[end-1] != '\n' {
					end++
				}
				c.Write(out, prefix)
				c.Write(out, text[start:end])
				start = end
			}
			return lisp.Nil
		}},
		format("format!"), format("safe-format!"),
		{Name: "println", LambdaList: "(object &optional stream)", Doc: "Write an object as princ does, and a newline.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			out := c.OutputStream(lisp.OrNil(args.Get("stream")))
			c.WriteText(out, c.Printed(args.Get("object"), false)+"\n")
			return c.Values()
		}},
		{Name: "writeln", LambdaList: "(object &key stream)", Doc: "Write an object as prin1 does, and a newline.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			c.WriteText(c.OutputStream(lisp.OrNil(args.Get("stream"))), c.Printed(args.Get("object"), true)+"\n")
			return c.Values()
		}},
		{Name: "output-string", LambdaList: "(string &optional output)", Doc: "Write a string to where uiop:with-output says; without that, the string.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			to := args.Get("output")
			if !lisp.Given(to) {
				return stringArg
			}
			c.Write(destination(c, to), c.TakeString(stringArg).Runes())
			return lisp.Nil
		}},
		{Name: "safe-read-from-string", LambdaList: "(string &key package eof-error-p eof-value start end preserve-whitespace)", Doc: "The first form of a string, read without evaluating anything.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			more := []lisp.Value{args.Get("string"), lisp.T, lisp.Nil}
			for i, name := range []string{"eof-error-p", "eof-value"} {
				if v := args.Get(name); v != nil {
					more[1+i] = v
				}
			}
			for _, name := range []string{"start", "end", "preserve-whitespace"} {
				if v := args.Get(name); v != nil {
					more = append(more, c.Keyword(strings.ToUpper(name)), v)
				}
			}
			return c.Standard("READ-FROM-STRING", more...)
		}},
	}
}

// most is a :count argument; -1 is no limit.
func most(c *lisp.Call, v lisp.Value) int {
	if !lisp.Given(v) {
		return -1
	}
	return c.Index(v)
}

func slurpLines(c *lisp.Call, s *lisp.Stream, most int) lisp.Value {
	list := lisp.NewListBuilder(c)
	for ; most != 0; most-- {
		if _, ok := c.PeekRune(s); !ok {
			break
		}
		list.Add(lisp.Single(c.Standard("READ-LINE", s)))
	}
	return list.List()
}

func slurpForms(c *lisp.Call, s *lisp.Stream, most int) lisp.Value {
	list := lisp.NewListBuilder(c)
	for ; most != 0; most-- {
		form, ok := c.ReadForm(s)
		if !ok {
			break
		}
		list.Add(form)
	}
	return list.List()
}

// slurpAt takes as much of a stream as is needed to access what at says, the first
// element of all if it is not given.
func slurpAt(c *lisp.Call, s *lisp.Stream, at lisp.Value, slurp func(c *lisp.Call, s *lisp.Stream, most int) lisp.Value) lisp.Value {
	if at == nil {
		at = lisp.Integer(0)
	}
	first := at
	if cell, ok := at.(*lisp.Cons); ok {
		first = cell.Car
	}
	most := -1
	if _, ok := first.(int64); ok {
		most = c.Index(first) + 1
	}
	return accessAt(c, slurp(c, s, most), at)
}

// destination is the stream that uiop:with-output makes of its argument when that is
// neither nil nor a string.
func destination(c *lisp.Call, v lisp.Value) *lisp.Stream {
	switch x := v.(type) {
	case *lisp.String:
		return c.Appending(x)
	case *lisp.Symbol:
		if x == lisp.T {
			return c.OutputStream(lisp.Nil)
		}
	}
	return c.OutputStream(v)
}

// withOutput calls a function with the stream that its argument means; for nil, the text
// that is written is the value.
var withOutput = lisp.NewFunction(lisp.Builtin{Name: "WITH-OUTPUT", LambdaList: "(destination body)", Many: true, Two: func(c *lisp.Call, a, body lisp.Value) lisp.Value {
	if a == lisp.Nil {
		stream := c.NewOutput()
		c.Funcall(body, stream)
		return c.Text(c.Collected(stream))
	}
	return c.Funcall(body, destination(c, a))
}})

// withInput calls a function with the stream that its argument means: nil is empty, a
// string is its text, a pathname is the file's.
var withInput = lisp.NewFunction(lisp.Builtin{Name: "WITH-INPUT", LambdaList: "(source body)", Many: true, Two: func(c *lisp.Call, a, body lisp.Value) lisp.Value {
	var stream *lisp.Stream
	switch x := a.(type) {
	case *lisp.String:
		stream = c.NewInput(x.Runes())
	case *lisp.Pathname:
		stream = c.NewInput(c.FileText(x))
	default:
		if a == lisp.Nil {
			stream = c.NewInput(nil)
			break
		}
		if a == lisp.T {
			a = lisp.Nil
		}
		stream = c.InputStream(a)
	}
	return c.Funcall(body, stream)
}})

// uiopMacros bind, collect and redirect.
func uiopMacros() []lisp.Macro {
	stream := func(fn *lisp.Function) func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
		return func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.Fail(lisp.ProgramError, "a variable is missing in %s", cp.Shown(form))
			}
			v := spec[0]
			if len(spec) > 1 {
				v = spec[1]
			}
			return lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), fn), v, lisp.FormStar(lisp.CL("LAMBDA"), form.Cdr.(*lisp.Cons).Cdr, lisp.NewList(spec[0])))
		}
	}
	null := func(make string) func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
		return func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.Fail(lisp.ProgramError, "a variable is missing in %s", cp.Shown(form))
			}
			made := lisp.Form(lisp.CL(make))
			if make == "MAKE-STRING-INPUT-STREAM" {
				made = lisp.Form(lisp.CL(make), lisp.NewString(""))
			}
			return lisp.FormStar(lisp.CL("LET"), form.Cdr.(*lisp.Cons).Cdr, lisp.NewList(lisp.NewList(spec[0], made)))
		}
	}
	return []lisp.Macro{
		{Name: "if-let", LambdaList: "(bindings then &optional else)", Doc: "Bind variables; evaluate then if all are true, without bindings else.", Expand: expandIfLet},
		{Name: "nest", LambdaList: "(&rest forms)", Doc: "Put each form at the end of the one before.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			forms := cp.Forms(form.Cdr)
			if len(forms) == 0 {
				return lisp.Nil
			}
			nested := forms[len(forms)-1]
			for i := len(forms) - 2; i >= 0; i-- {
				nested = lisp.NewList(append(cp.Forms(forms[i]), nested)...)
			}
			return nested
		}},
		{Name: "appendf", LambdaList: "(place &rest lists)", Doc: "Append lists to the list in a place.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			args := cp.Arguments(form, 1, -1)
			return lisp.Form(lisp.CL("SETF"), args[0], &lisp.Cons{Car: lisp.CL("APPEND"), Cdr: form.Cdr})
		}},
		{Name: "while-collecting", LambdaList: "((&rest collectors) &body body)", Doc: "Evaluate body, in which each collector is a function that collects its argument; the lists.", Expand: expandCollecting},
		{Name: "with-output", LambdaList: "((variable &optional destination) &body body)", Doc: "Bind a variable to a stream: nil gives the text, t is the standard output.", Expand: stream(withOutput)},
		{Name: "with-input", LambdaList: "((variable &optional source) &body body)", Doc: "Bind a variable to a stream of a string, of a file or the one given.", Expand: stream(withInput)},
		{Name: "with-input-file", LambdaList: "((stream file &rest options) &body body)", Doc: "Open a file for input and close it after body.", Expand: func(_ *lisp.Compiler, form *lisp.Cons) lisp.Value {
			return &lisp.Cons{Car: lisp.CL("WITH-OPEN-FILE"), Cdr: form.Cdr}
		}},
		{Name: "with-output-file", LambdaList: "((stream file &rest options) &body body)", Doc: "Open a file for output and close it after body.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := append(cp.Forms(cp.Arguments(form, 1, -1)[0]), lisp.Keyword("DIRECTION"), lisp.Keyword("OUTPUT"))
			return lisp.FormStar(lisp.CL("WITH-OPEN-FILE"), form.Cdr.(*lisp.Cons).Cdr, lisp.NewList(spec...))
		}},
		{Name: "with-null-output", LambdaList: "((variable) &body body)", Doc: "Bind a variable to a stream that drops what is written.", Expand: null("MAKE-BROADCAST-STREAM")},
		{Name: "with-null-input", LambdaList: "((variable) &body body)", Doc: "Bind a variable to a stream that is empty.", Expand: null("MAKE-STRING-INPUT-STREAM")},
		{Name: "with-safe-io-syntax", LambdaList: "((&key package) &body body)", Doc: "Evaluate body with reader and printer as the standard says; nothing is evaluated by reading.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			cp.Arguments(form, 1, -1)
			bindings := lisp.NewList(lisp.NewList(lisp.CL("*READ-EVAL*"), lisp.Nil), lisp.NewList(lisp.CL("*PRINT-READABLY*"), lisp.Nil),
				lisp.NewList(lisp.CL("*READ-DEFAULT-FLOAT-FORMAT*"), lisp.Form(lisp.CL("QUOTE"), lisp.CL("DOUBLE-FLOAT"))))
			return lisp.Form(lisp.CL("WITH-STANDARD-IO-SYNTAX"), lisp.FormStar(lisp.CL("LET"), form.Cdr.(*lisp.Cons).Cdr, bindings))
		}},
	}
}

func expandIfLet(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
	args := cp.Arguments(form, 2, 3)
	bindings := cp.Forms(args[0])
	if len(bindings) > 0 {
		if _, ok := bindings[0].(*lisp.Symbol); ok {
			bindings = []lisp.Value{args[0]}
		}
	}
	otherwise := lisp.Value(lisp.Nil)
	if len(args) > 2 {
		otherwise = args[2]
	}
	test := []lisp.Value{lisp.CL("AND")}
	for _, item := range bindings {
		binding := cp.Forms(item)
		if len(binding) == 0 {
			cp.Fail(lisp.ProgramError, "malformed binding in %s", cp.Shown(form))
		}
		test = append(test, binding[0])
	}
	return lisp.Form(lisp.CL("LET"), lisp.NewList(bindings...), lisp.Form(lisp.CL("IF"), lisp.NewList(test...), args[1], otherwise))
}

// expandCollecting makes a variable and a local function of each collector.
func expandCollecting(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
	bindings := lisp.NewListBuilder(cp.Call)
	functions := lisp.NewListBuilder(cp.Call)
	results := lisp.NewListBuilder(cp.Call)
	results.Add(lisp.CL("VALUES"))
	for _, item := range cp.Forms(cp.Arguments(form, 1, -1)[0]) {
		list, v := cp.Gensym("LIST"), cp.Gensym("ITEM")
		bindings.Add(lisp.NewList(list, lisp.Nil))
		functions.Add(lisp.NewList(item, lisp.NewList(v), lisp.Form(lisp.CL("PUSH"), v, list), v))
		results.Add(lisp.Form(lisp.CL("REVERSE"), list))
	}
	body := lisp.FormStar(lisp.CL("FLET"), form.Cdr.(*lisp.Cons).Cdr, functions.List())
	return lisp.Form(lisp.CL("LET"), bindings.List(), body, results.List())
}
