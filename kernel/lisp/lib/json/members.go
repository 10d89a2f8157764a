package json

import (
	"strings"

	"org-agent/kernel/lisp"
)

// Objects and arrays that are written member by member: what is written now and whether
// it has a member yet is in special variables, which the macros bind.

// beginMember writes the comma before a member of an array or object.
func beginMember(c *lisp.Call, context lisp.Value, stream *lisp.Stream) {
	if customVariable(c, "*JSON-AGGREGATE-CONTEXT*") != context {
		c.Fail(lisp.SimpleError, "a member of an %s is written outside of one: use json:with-array or json:with-object around it", map[lisp.Value]string{kwArray: "array", kwObject: "object"}[context])
	}
	if customVariable(c, "*JSON-AGGREGATE-FIRST*") == lisp.Nil {
		c.WriteText(stream, ",")
	}
	setJSON(c, "*JSON-AGGREGATE-FIRST*", lisp.Nil)
}

// writeKey writes the name of a member of an object.
func writeKey(c *lisp.Call, key lisp.Value, stream *lisp.Stream) {
	beginMember(c, kwObject, stream)
	e := newValueWriter(c)
	e.key(key)
	c.WriteText(stream, e.out.Text()+":")
}

// encodeTo writes an object by encode-json, methods of the note included.
func encodeTo(c *lisp.Call, v lisp.Value, stream *lisp.Stream) {
	e := newValueWriter(c)
	e.value(v)
	c.WriteText(stream, e.out.Text())
}

// memberBeginner is what as-array-member and as-object-member do first.
var memberBeginner = lisp.NewFunction(lisp.Builtin{Name: "BEGIN-MEMBER", LambdaList: "(stream &optional key)", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
	stream := outputTo(c, args.Get("stream"))
	if key := args.Get("key"); key != nil {
		writeKey(c, key, stream)
	} else {
		beginMember(c, kwArray, stream)
	}
	return lisp.Nil
}})

func memberFunctions() []lisp.Builtin {
	member := func(c *lisp.Call, encoder lisp.Value, v lisp.Value, stream *lisp.Stream) {
		if encoder == nil {
			encodeTo(c, v, stream)
			return
		}
		c.Funcall(encoder, v, stream)
	}
	return []lisp.Builtin{
		{Name: "encode-array-member", LambdaList: "(object &optional stream)", Doc: "Write a member of the array that json:with-array writes.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			object := args.Get("object")
			stream := outputTo(c, args.Get("stream"))
			beginMember(c, kwArray, stream)
			encodeTo(c, object, stream)
			return object
		}},
		{Name: "encode-object-member", LambdaList: "(key value &optional stream)", Doc: "Write a member of the object that json:with-object writes.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			value := args.Get("value")
			stream := outputTo(c, args.Get("stream"))
			writeKey(c, args.Get("key"), stream)
			encodeTo(c, value, stream)
			return value
		}},
		{Name: "stream-array-member-encoder", LambdaList: "(stream &optional encoder)", Doc: "A function that writes its argument as a member of an array.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stream, encoder := c.OutputStream(args.Get("stream")), args.Get("encoder")
			return c.NewFunction(lisp.Builtin{Name: "ARRAY-MEMBER-ENCODER", LambdaList: "(value)", One: func(c *lisp.Call, v lisp.Value) lisp.Value {
				beginMember(c, kwArray, stream)
				member(c, encoder, v, stream)
				return lisp.Nil
			}})
		}},
		{Name: "stream-object-member-encoder", LambdaList: "(stream &optional encoder)", Doc: "A function that writes its arguments, a key and a value, as a member of an object.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stream, encoder := c.OutputStream(args.Get("stream")), args.Get("encoder")
			return c.NewFunction(lisp.Builtin{Name: "OBJECT-MEMBER-ENCODER", LambdaList: "(key value)", Two: func(c *lisp.Call, key, v lisp.Value) lisp.Value {
				writeKey(c, key, stream)
				member(c, encoder, v, stream)
				return lisp.Nil
			}})
		}},
	}
}

// macroRows write members, and bind what changes how JSON is read and written.
func macroRows() []lisp.Macro {
	variable := func(cp *lisp.Compiler, name string) lisp.Value { return cp.Lookup("JSON:" + name) }
	output := func(cp *lisp.Compiler, parts []lisp.Value, i int) lisp.Value {
		if i < len(parts) {
			return parts[i]
		}
		return variable(cp, "*JSON-OUTPUT*")
	}
	aggregate := func(context *lisp.Symbol, opening, closing string) func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
		return func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			stream := cp.Gensym("STREAM")
			write := func(text string) lisp.Value {
				return lisp.Form(lisp.CL("WRITE-STRING"), lisp.NewString(text), stream)
			}
			bindings := lisp.NewList(lisp.NewList(stream, output(cp, cp.Forms(cp.Arguments(form, 1, -1)[0]), 0)),
				lisp.NewList(variable(cp, "*JSON-AGGREGATE-CONTEXT*"), context), lisp.NewList(variable(cp, "*JSON-AGGREGATE-FIRST*"), lisp.T))
			return lisp.Form(lisp.CL("LET"), bindings, write(opening), lisp.Form(lisp.CL("UNWIND-PROTECT"), &lisp.Cons{Car: lisp.CL("PROGN"), Cdr: form.Cdr.(*lisp.Cons).Cdr}, write(closing)))
		}
	}
	encoder := func(kind *lisp.Symbol) func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
		return func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			return lisp.FormStar(lisp.CL("LET"), form.Cdr, lisp.NewList(lisp.NewList(variable(cp, "*JSON-LIST-ENCODER-FN*"), kind)))
		}
	}
	return []lisp.Macro{
		{Name: "with-array", LambdaList: "((&optional stream) &body body)", Doc: "Write an array, of which body writes the members.", Expand: aggregate(kwArray, "[", "]")},
		{Name: "with-object", LambdaList: "((&optional stream) &body body)", Doc: "Write an object, of which body writes the members.", Expand: aggregate(kwObject, "{", "}")},
		{Name: "as-array-member", LambdaList: "((&optional stream) &body body)", Doc: "Let body write a member of an array.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			stream := output(cp, cp.Forms(cp.Arguments(form, 1, -1)[0]), 0)
			return lisp.FormStar(lisp.CL("PROGN"), form.Cdr.(*lisp.Cons).Cdr, lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), memberBeginner), stream))
		}},
		{Name: "as-object-member", LambdaList: "((key &optional stream) &body body)", Doc: "Let body write the value of a member of an object.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.Fail(lisp.ProgramError, "a key is missing in %s", cp.Shown(form))
			}
			return lisp.FormStar(lisp.CL("PROGN"), form.Cdr.(*lisp.Cons).Cdr, lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), memberBeginner), output(cp, spec, 1), spec[0]))
		}},
		{Name: "with-explicit-encoder", LambdaList: "(&body body)", Doc: "In body the first element of a list says how it is written: :object :array :alist :plist :true :false :null :json.", Expand: encoder(kwExplicit)},
		{Name: "with-guessing-encoder", LambdaList: "(&body body)", Doc: "In body a list is written as an array, or as an object if it is an alist.", Expand: encoder(lisp.Nil)},
		{Name: "with-decoder-simple-list-semantics", LambdaList: "(&body body)", Doc: "In body JSON is decoded to lists, as at first.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			bindings := lisp.NewListBuilder(cp.Call)
			for _, custom := range customs {
				symbol := cp.Lookup("JSON:" + custom.name)
				bindings.Add(lisp.NewList(symbol, lisp.Form(lisp.CL("QUOTE"), cp.InitialValue(symbol))))
			}
			return lisp.FormStar(lisp.CL("LET"), form.Cdr, bindings.List())
		}},
		{Name: "bind-custom-vars", LambdaList: "((&rest customizations) &body body)", Doc: "Bind what handles :integer, :real and :boolean tokens, and the :array-type.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			parts := cp.Forms(cp.Arguments(form, 1, -1)[0])
			return lisp.FormStar(lisp.CL("LET"), form.Cdr.(*lisp.Cons).Cdr, customBindings(cp, form, parts))
		}},
		{Name: "set-custom-vars", LambdaList: "(&rest customizations)", Doc: "Set what handles :integer, :real and :boolean tokens, and the :array-type.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			setting := lisp.NewListBuilder(cp.Call)
			for _, pair := range cp.Forms(customBindings(cp, form, cp.Forms(form.Cdr))) {
				for _, part := range cp.Forms(pair) {
					setting.Add(part)
				}
			}
			return &lisp.Cons{Car: lisp.CL("SETQ"), Cdr: setting.List()}
		}},
		{Name: "json-bind", LambdaList: "((&rest variables) source &body body)", Doc: "Bind variables to the fields they are named as, x.y to the field y of the field x.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			args := cp.Arguments(form, 2, -1)
			object := cp.Gensym("OBJECT")
			bindings := lisp.NewListBuilder(cp.Call)
			bindings.Add(lisp.NewList(object, lisp.Form(cp.Lookup("JSON:DECODE-JSON-FROM-SOURCE"), args[1])))
			for _, name := range cp.Forms(args[0]) {
				bindings.Add(lisp.NewList(name, lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), jsonField), object, lisp.NewString(cp.Name(name)))))
			}
			return lisp.FormStar(lisp.CL("LET*"), form.Cdr.(*lisp.Cons).Cdr.(*lisp.Cons).Cdr, bindings.List())
		}},
	}
}

// customBindings are the variables that keywords stand for, with their values.
func customBindings(cp *lisp.Compiler, form *lisp.Cons, parts []lisp.Value) lisp.Value {
	bindings := lisp.NewListBuilder(cp.Call)
	if len(parts)%2 != 0 {
		cp.Fail(lisp.ProgramError, "odd number of customizations in %s", cp.Shown(form))
	}
next:
	for i := 0; i < len(parts); i += 2 {
		for _, custom := range customs {
			if parts[i] == lisp.Value(custom.keyword) {
				bindings.Add(lisp.NewList(cp.Lookup("JSON:"+custom.name), parts[i+1]))
				continue next
			}
		}
		cp.Fail(lisp.ProgramError, "%s cannot be customized here: :integer, :real, :boolean and :array-type can", cp.Shown(parts[i]))
	}
	return bindings.List()
}

// jsonField finds the value at a path of names with points between.
var jsonField = lisp.NewFunction(lisp.Builtin{Name: "JSON-FIELD", LambdaList: "(object path)", Two: func(c *lisp.Call, object, path lisp.Value) lisp.Value {
	for name := range strings.SplitSeq(c.TakeText(path), ".") {
		found := lisp.Value(lisp.Nil)
		for cell := range c.Cells(object) {
			if pair, ok := cell.Car.(*lisp.Cons); ok {
				if key, ok := pair.Car.(*lisp.Symbol); ok && key.Name() == name && pair.Cdr != lisp.Nil {
					found = pair.Cdr
					break
				}
			}
		}
		object = found
	}
	return object
}})
