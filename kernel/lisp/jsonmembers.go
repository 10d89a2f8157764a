package lisp

import "strings"

// Objects and arrays that are written member by member: what is written now and whether
// it has a member yet is in special variables, which the macros bind.

// jsonMember writes the comma before a member of an array or object.
func (c *Call) jsonMember(context Value, stream *Stream) {
	if c.jsonVariable("*JSON-AGGREGATE-CONTEXT*") != context {
		c.fail(simpleError, "a member of an %s is written outside of one: use json:with-array or json:with-object around it", map[Value]string{kwArray: "array", kwObject: "object"}[context])
	}
	if c.jsonVariable("*JSON-AGGREGATE-FIRST*") == Nil {
		c.writeText(stream, ",")
	}
	c.setJSON("*JSON-AGGREGATE-FIRST*", Nil)
}

// jsonKey writes the name of a member of an object.
func (c *Call) jsonKey(key Value, stream *Stream) {
	c.jsonMember(kwObject, stream)
	e := c.jsonEncoder()
	e.key(key)
	c.writeText(stream, e.out.String()+":")
}

// encodeTo writes an object by encode-json, methods of the note included.
func (c *Call) encodeTo(v Value, stream *Stream) {
	e := c.jsonEncoder()
	e.value(v)
	c.writeText(stream, e.out.String())
}

// beginMember is what as-array-member and as-object-member do first.
var beginMember = &Function{name: "BEGIN-MEMBER", least: 1, most: 2, call: func(c *Call, args []Value) Value {
	stream := c.jsonOutput(args[0])
	if len(args) > 1 {
		c.jsonKey(args[1], stream)
	} else {
		c.jsonMember(kwArray, stream)
	}
	return Nil
}}

func jsonMemberFunctions() []builtin {
	member := func(c *Call, encoder Value, v Value, stream *Stream) {
		if encoder == nil {
			c.encodeTo(v, stream)
			return
		}
		c.funcall(encoder, []Value{v, stream})
	}
	return []builtin{
		{name: "json:encode-array-member", list: "(object &optional stream)", doc: "Write a member of the array that json:with-array writes.", named: func(c *Call, args Args) Value {
			object := args.Get("object")

			stream := c.jsonOutput(args.Get("stream"))
			c.jsonMember(kwArray, stream)
			c.encodeTo(object, stream)
			return object
		}},
		{name: "json:encode-object-member", list: "(key value &optional stream)", doc: "Write a member of the object that json:with-object writes.", named: func(c *Call, args Args) Value {
			value := args.Get("value")

			stream := c.jsonOutput(args.Get("stream"))
			c.jsonKey(args.Get("key"), stream)
			c.encodeTo(value, stream)
			return value
		}},
		{name: "json:stream-array-member-encoder", list: "(stream &optional encoder)", doc: "A function that writes its argument as a member of an array.", named: func(c *Call, args Args) Value {
			stream, encoder := c.outputStream(args.Get("stream")), args.Get("encoder")
			c.charge(closureBytes)
			return &Function{name: "ARRAY-MEMBER-ENCODER", least: 1, most: 1, one: func(c *Call, v Value) Value {
				c.jsonMember(kwArray, stream)
				member(c, encoder, v, stream)
				return Nil
			}}
		}},
		{name: "json:stream-object-member-encoder", list: "(stream &optional encoder)", doc: "A function that writes its arguments, a key and a value, as a member of an object.", named: func(c *Call, args Args) Value {
			stream, encoder := c.outputStream(args.Get("stream")), args.Get("encoder")
			c.charge(closureBytes)
			return &Function{name: "OBJECT-MEMBER-ENCODER", least: 2, most: 2, two: func(c *Call, key, v Value) Value {
				c.jsonKey(key, stream)
				member(c, encoder, v, stream)
				return Nil
			}}
		}},
	}
}

// jsonMacros write members, and bind what changes how JSON is read and written.
func jsonMacros() []standardMacro {
	variable := func(cp *compiler, name string) Value { return cp.language.symbol("JSON:" + name) }
	output := func(cp *compiler, parts []Value, i int) Value {
		if i < len(parts) {
			return parts[i]
		}
		return variable(cp, "*JSON-OUTPUT*")
	}
	aggregate := func(context *Symbol, opening, closing string) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value {
			stream := cp.gensym("STREAM")
			write := func(text string) Value {
				return call(standardSymbol("WRITE-STRING"), NewString(text), stream)
			}
			bindings := NewList(NewList(stream, output(cp, cp.forms(cp.arguments(form, 1, -1)[0]), 0)),
				NewList(variable(cp, "*JSON-AGGREGATE-CONTEXT*"), context), NewList(variable(cp, "*JSON-AGGREGATE-FIRST*"), T))
			return call(symLet, bindings, write(opening), call(symUnwindProtect, &Cons{Car: symProgn, Cdr: form.Cdr.(*Cons).Cdr}, write(closing)))
		}
	}
	encoder := func(kind *Symbol) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value {
			return callStar(symLet, form.Cdr, NewList(NewList(variable(cp, "*JSON-LIST-ENCODER-FN*"), kind)))
		}
	}
	return []standardMacro{
		{"json:with-array", "((&optional stream) &body body)", "Write an array, of which body writes the members.", aggregate(kwArray, "[", "]")},
		{"json:with-object", "((&optional stream) &body body)", "Write an object, of which body writes the members.", aggregate(kwObject, "{", "}")},
		{"json:as-array-member", "((&optional stream) &body body)", "Let body write a member of an array.", func(cp *compiler, form *Cons) Value {
			stream := output(cp, cp.forms(cp.arguments(form, 1, -1)[0]), 0)
			return callStar(symProgn, form.Cdr.(*Cons).Cdr, call(symFuncall, call(symQuote, beginMember), stream))
		}},
		{"json:as-object-member", "((key &optional stream) &body body)", "Let body write the value of a member of an object.", func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.fail(programError, "a key is missing in %s", sketch(form, formLength))
			}
			return callStar(symProgn, form.Cdr.(*Cons).Cdr, call(symFuncall, call(symQuote, beginMember), output(cp, spec, 1), spec[0]))
		}},
		{"json:with-explicit-encoder", "(&body body)", "In body the first element of a list says how it is written: :object :array :alist :plist :true :false :null :json.", encoder(kwExplicit)},
		{"json:with-guessing-encoder", "(&body body)", "In body a list is written as an array, or as an object if it is an alist.", encoder(Nil)},
		{"json:with-decoder-simple-list-semantics", "(&body body)", "In body JSON is decoded to lists, as at first.", func(cp *compiler, form *Cons) Value {
			var bindings builder
			for _, custom := range jsonCustoms {
				symbol := cp.language.symbol("JSON:" + custom.name)
				bindings.add(NewList(symbol, call(symQuote, cp.language.variables[symbol].value)))
			}
			return callStar(symLet, form.Cdr, bindings.list())
		}},
		{"json:bind-custom-vars", "((&rest customizations) &body body)", "Bind what handles :integer, :real and :boolean tokens, and the :array-type.", func(cp *compiler, form *Cons) Value {
			parts := cp.forms(cp.arguments(form, 1, -1)[0])
			return callStar(symLet, form.Cdr.(*Cons).Cdr, cp.customBindings(form, parts))
		}},
		{"json:set-custom-vars", "(&rest customizations)", "Set what handles :integer, :real and :boolean tokens, and the :array-type.", func(cp *compiler, form *Cons) Value {
			var setting builder
			for _, pair := range cp.forms(cp.customBindings(form, cp.forms(form.Cdr))) {
				for _, part := range cp.forms(pair) {
					setting.add(part)
				}
			}
			return &Cons{Car: symSetq, Cdr: setting.list()}
		}},
		{"json:json-bind", "((&rest variables) source &body body)", "Bind variables to the fields they are named as, x.y to the field y of the field x.", func(cp *compiler, form *Cons) Value {
			args := cp.arguments(form, 2, -1)
			object := cp.gensym("OBJECT")
			var bindings builder
			bindings.add(NewList(object, call(cp.language.symbol("JSON:DECODE-JSON-FROM-SOURCE"), args[1])))
			for _, name := range cp.forms(args[0]) {
				bindings.add(NewList(name, call(symFuncall, call(symQuote, jsonField), object, NewString(cp.name(name)))))
			}
			return callStar(symLetStar, form.Cdr.(*Cons).Cdr.(*Cons).Cdr, bindings.list())
		}},
	}
}

// customBindings are the variables that keywords stand for, with their values.
func (cp *compiler) customBindings(form *Cons, parts []Value) Value {
	var bindings builder
	if len(parts)%2 != 0 {
		cp.fail(programError, "odd number of customizations in %s", sketch(form, formLength))
	}
next:
	for i := 0; i < len(parts); i += 2 {
		for _, custom := range jsonCustoms {
			if parts[i] == Value(custom.keyword) {
				bindings.add(NewList(cp.language.symbol("JSON:"+custom.name), parts[i+1]))
				continue next
			}
		}
		cp.fail(programError, "%s cannot be customized here: :integer, :real, :boolean and :array-type can", sketch(parts[i], formLength))
	}
	return bindings.list()
}

// jsonField finds the value at a path of names with points between.
var jsonField = &Function{name: "JSON-FIELD", least: 2, most: 2, two: func(c *Call, object, path Value) Value {
	for _, name := range strings.Split(c.str(path).String(), ".") {
		found := Value(Nil)
		for cell, ok := object.(*Cons); ok && found == Nil; cell, ok = cell.Cdr.(*Cons) {
			c.step()
			if pair, isPair := cell.Car.(*Cons); isPair {
				if key, isSymbol := pair.Car.(*Symbol); isSymbol && key.name == name {
					found = pair.Cdr
				}
			}
		}
		object = found
	}
	return object
}}
