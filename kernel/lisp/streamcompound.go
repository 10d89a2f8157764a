package lisp

// compoundStreamFunctions make streams of streams.
func compoundStreamFunctions() []builtin {
	part := func(name string, kind streamKind, index int) builtin {
		return builtin{name: name, list: "(stream)", doc: "The stream it was made of.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.typeError(a, "STREAM")
			}
			return s.parts[index]
		}}
	}
	parts := func(name string, kind streamKind) builtin {
		return builtin{name: name, list: "(stream)", doc: "The streams it was made of.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.typeError(a, "STREAM")
			}
			list := make([]Value, len(s.parts))
			for i, p := range s.parts {
				list[i] = p
			}
			return c.newList(list)
		}}
	}
	return []builtin{
		{name: "make-broadcast-stream", list: "(&rest streams)", doc: "A stream that writes to all of the streams.", call: func(c *Call, args []Value) Value {
			return c.compound(broadcastStream, args, (*Stream).writable)
		}},
		{name: "make-concatenated-stream", list: "(&rest streams)", doc: "A stream that reads from one stream after the other.", call: func(c *Call, args []Value) Value {
			return c.compound(concatenatedStream, args, (*Stream).readable)
		}},
		{name: "make-two-way-stream", list: "(input output)", doc: "A stream that reads from one stream and writes to another.", call: func(c *Call, args []Value) Value {
			return c.compoundPair(twoWayStream, args)
		}},
		{name: "make-echo-stream", list: "(input output)", doc: "A two-way stream that also writes what it reads.", call: func(c *Call, args []Value) Value {
			return c.compoundPair(echoStream, args)
		}},
		{name: "make-synonym-stream", list: "(symbol)", doc: "A stream that stands for the value of a variable.", one: func(c *Call, a Value) Value {
			c.charge(closureBytes)
			return &Stream{kind: synonymStream, variable: c.symbol(a)}
		}},
		{name: "synonym-stream-symbol", list: "(stream)", doc: "The variable it stands for.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != synonymStream {
				c.typeError(a, "STREAM")
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
	c.chargeMany(len(args)+8, valueBytes)
	s := &Stream{kind: kind}
	for _, arg := range args {
		s.parts = append(s.parts, c.partStream(arg, fits))
	}
	return s
}

func (c *Call) compoundPair(kind streamKind, args []Value) Value {
	c.charge(closureBytes)
	return &Stream{kind: kind, parts: []*Stream{c.partStream(args[0], (*Stream).readable), c.partStream(args[1], (*Stream).writable)}}
}

func (c *Call) partStream(v Value, fits func(*Stream) bool) *Stream {
	s := c.streamArgument(v)
	tested := s
	if s.kind == synonymStream {
		tested = c.stream(s.variable)
	}
	if !fits(tested) {
		c.typeError(v, "STREAM")
	}
	return s
}
