package lisp

// compoundStreamFunctions make streams of streams.
func compoundStreamFunctions() []Builtin {
	part := func(name string, kind streamKind, index int) Builtin {
		return Builtin{Name: name, LambdaList: "(stream)", Doc: "The stream it was made of.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.TypeError(a, "STREAM")
			}
			return s.parts[index]
		}}
	}
	parts := func(name string, kind streamKind) Builtin {
		return Builtin{Name: name, LambdaList: "(stream)", Doc: "The streams it was made of.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.TypeError(a, "STREAM")
			}
			list := make([]Value, len(s.parts))
			for i, p := range s.parts {
				list[i] = p
			}
			return c.NewList(list)
		}}
	}
	return []Builtin{
		{Name: "make-broadcast-stream", LambdaList: "(&rest streams)", Doc: "A stream that writes to all of the streams.", Call: func(c *Call, args []Value) Value {
			return c.compound(broadcastStream, args, (*Stream).writable)
		}},
		{Name: "make-concatenated-stream", LambdaList: "(&rest streams)", Doc: "A stream that reads from one stream after the other.", Call: func(c *Call, args []Value) Value {
			return c.compound(concatenatedStream, args, (*Stream).readable)
		}},
		{Name: "make-two-way-stream", LambdaList: "(input output)", Doc: "A stream that reads from one stream and writes to another.", Call: func(c *Call, args []Value) Value {
			return c.compoundPair(twoWayStream, args)
		}},
		{Name: "make-echo-stream", LambdaList: "(input output)", Doc: "A two-way stream that also writes what it reads.", Call: func(c *Call, args []Value) Value {
			return c.compoundPair(echoStream, args)
		}},
		{Name: "make-synonym-stream", LambdaList: "(symbol)", Doc: "A stream that stands for the value of a variable.", One: func(c *Call, a Value) Value {
			c.Charge(ObjectBytes)
			return Allocate(c, Stream{kind: synonymStream, variable: c.TakeSymbol(a)})
		}},
		{Name: "synonym-stream-symbol", LambdaList: "(stream)", Doc: "The variable it stands for.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != synonymStream {
				c.TypeError(a, "STREAM")
			}
			return s.variable
		}},
		parts("broadcast-stream-streams", broadcastStream), parts("concatenated-stream-streams", concatenatedStream),
		part("two-way-stream-input-stream", twoWayStream, 0), part("two-way-stream-output-stream", twoWayStream, 1),
		part("echo-stream-input-stream", echoStream, 0), part("echo-stream-output-stream", echoStream, 1),
	}
}

// compound makes a stream of streams that all go one way.
func (c *Call) compound(kind streamKind, args []Value, fits func(*Stream) bool) Value {
	c.ChargeMany(len(args)+8, ValueBytes)
	s := Allocate(c, Stream{kind: kind})
	for _, arg := range args {
		s.parts = append(s.parts, c.partStream(arg, fits))
	}
	return s
}

func (c *Call) compoundPair(kind streamKind, args []Value) Value {
	c.Charge(ObjectBytes)
	return Allocate(c, Stream{kind: kind, parts: []*Stream{c.partStream(args[0], (*Stream).readable), c.partStream(args[1], (*Stream).writable)}})
}

func (c *Call) partStream(v Value, fits func(*Stream) bool) *Stream {
	s := c.streamArgument(v)
	tested := s
	if s.kind == synonymStream {
		tested = c.stream(s.variable)
	}
	if !fits(tested) {
		c.TypeError(v, "STREAM")
	}
	return s
}
