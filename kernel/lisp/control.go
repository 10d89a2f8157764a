package lisp

import (
	"fmt"
	"time"
)

// controlFunctions call functions and evaluate forms.
func controlFunctions() []builtin {
	return []builtin{
		{name: "funcall", list: "(function &rest arguments)", doc: "Call a function.", many: true, call: func(c *Call, args []Value) Value { return c.funcall(args[0], args[1:]) }},
		{name: "apply", list: "(function argument &rest more)", doc: "Call a function with the elements of the last argument.", many: true, call: applyFunction},
		{name: "values", list: "(&rest objects)", doc: "Return the objects as values.", many: true, call: func(c *Call, args []Value) Value { return c.values(args...) }},
		{name: "values-list", list: "(list)", doc: "Return the elements as values.", many: true, one: func(c *Call, a Value) Value { return c.values(c.slice(a)...) }},
		{name: "identity", list: "(object)", doc: "The object.", one: func(_ *Call, a Value) Value { return a }},
		{name: "constantly", list: "(value)", doc: "A function that always returns value.", one: func(c *Call, a Value) Value {
			c.charge(closureBytes)
			return &Function{name: "CONSTANTLY", most: -1, frame: &frame{slots: []Value{a}}, call: func(*Call, []Value) Value { return a }}
		}},
		{name: "complement", list: "(predicate)", doc: "The function that is true where predicate is not.", one: func(c *Call, a Value) Value {
			fn := c.function(a)
			c.charge(closureBytes)
			return &Function{name: "COMPLEMENT", most: -1, frame: &frame{slots: []Value{fn}}, call: func(c *Call, args []Value) Value { return Boolean(single(c.apply(fn, args)) == Nil) }}
		}},
		{name: "eval", list: "(form)", doc: "Evaluate a form.", many: true, one: func(c *Call, a Value) Value { return c.evaluate(a) }},
		{name: "compile", list: "(name &optional definition)", doc: "The function; everything is compiled already.", call: func(c *Call, args []Value) Value {
			if len(args) > 1 {
				return c.function(args[1])
			}
			return args[0]
		}},
		{name: "macroexpand-1", list: "(form &optional environment)", doc: "Expand a macro form once; true if it was one.", many: true, call: func(c *Call, args []Value) Value {
			form, expanded := c.expandOnce(args[0], c.scopeArgument(optional(args, 1)))
			return c.values(form, Boolean(expanded))
		}},
		{name: "macroexpand", list: "(form &optional environment)", doc: "Expand until it is no macro form.", many: true, call: func(c *Call, args []Value) Value {
			form, any := args[0], false
			sc := c.scopeArgument(optional(args, 1))
			for {
				c.step()
				next, expanded := c.expandOnce(form, sc)
				if !expanded {
					return c.values(form, Boolean(any))
				}
				form, any = next, true
			}
		}},
		{name: "proclaim", list: "(declaration)", doc: "Declare a variable special; other declarations do nothing.", one: func(c *Call, a Value) Value {
			c.proclaim(a)
			return Nil
		}},
		{name: "documentation", list: "(object &optional kind)", doc: "The documentation string, or nil.", call: documentation},
		{name: "provide", list: "(name)", doc: "Does nothing: a note is one module.", one: func(*Call, Value) Value { return T }},
	}
}

func applyFunction(c *Call, args []Value) Value {
	last := args[len(args)-1]
	all := append([]Value(nil), args[1:len(args)-1]...)
	for cell, ok := c.next(last); ok; cell, ok = c.next(cell.Cdr) {
		c.charge(valueBytes)
		all = append(all, cell.Car)
	}
	return c.funcall(args[0], all)
}

func (c *Call) proclaim(declaration Value) {
	parts := c.slice(declaration)
	if len(parts) > 0 && parts[0] == symSpecial {
		for _, part := range parts[1:] {
			c.environment.global(c.symbol(part)).special = true
		}
	}
}

func documentation(c *Call, args []Value) Value {
	switch x := args[0].(type) {
	case *Function:
		return c.docOf(x.doc)
	case *Package:
		if x.doc == nil {
			return Nil
		}
		return x.doc
	}
	symbol, ok := args[0].(*Symbol)
	if !ok {
		return Nil
	}
	g := c.environment.global(symbol)
	kind, _ := optional(args, 1).(*Symbol)
	if doc, ok := g.docs[kind]; ok {
		return doc
	}
	if kind == symFunction {
		switch m := c.environment.macro(symbol); {
		case g.function != nil:
			return c.docOf(g.function.doc)
		case m != nil:
			return c.docOf(m.doc)
		}
	}
	return Nil
}

func (c *Call) docOf(text string) Value {
	if text == "" {
		return Nil
	}
	return c.text(text)
}

// universalEpoch is 1900-01-01 in Unix seconds, from where universal time counts.
const universalEpoch = 2208988800

// timeFunctions read the clock of the configuration.
func timeFunctions() []builtin {
	return []builtin{
		{name: "get-universal-time", list: "()", doc: "Seconds since 1900-01-01 00:00 UTC.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().Unix() + universalEpoch)
		}},
		{name: "get-internal-real-time", list: "()", doc: "Microseconds of the clock.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{name: "get-internal-run-time", list: "()", doc: "Microseconds of the clock.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{name: "sleep", list: "(seconds)", doc: "Wait; the time counts for the call's limit.", one: sleep},
		{name: "decode-universal-time", list: "(time &optional zone)", doc: "Second, minute, hour, day, month, year, weekday (Monday is 0), daylight, zone.", many: true, call: func(c *Call, args []Value) Value {
			return c.decodeTime(c.fixnum(args[0]), optional(args, 1))
		}},
		{name: "get-decoded-time", list: "()", doc: "Like decode-universal-time of now.", many: true, call: func(c *Call, _ []Value) Value {
			return c.decodeTime(c.environment.config.Now().Unix()+universalEpoch, nil)
		}},
		{name: "encode-universal-time", list: "(second minute hour day month year &optional zone)", doc: "The universal time of a date.", call: func(c *Call, args []Value) Value {
			var n [6]int
			for i := range n {
				n[i] = int(c.fixnum(args[i]))
				if bounds := timeBounds[i]; n[i] < bounds[0] || n[i] > bounds[1] {
					c.typeError(args[i], fmt.Sprintf("(INTEGER %d %d)", bounds[0], bounds[1]))
				}
			}
			t := time.Date(n[5], time.Month(n[4]), n[3], n[2], n[1], n[0], 0, c.zone(optional(args, 6)))
			return Integer(t.Unix() + universalEpoch)
		}},
	}
}

// timeBounds are the bounds of what encode-universal-time is given.
var timeBounds = [6][2]int{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 1_000_000}}

// zone takes a time zone as hours west of Greenwich; the local one by default.
func (c *Call) zone(v Value) *time.Location {
	if v == nil || v == Nil {
		return c.environment.config.Now().Location()
	}
	c.realNumber(v)
	return time.FixedZone("", int(-double(v)*3600))
}

func (c *Call) decodeTime(universal int64, zone Value) Value {
	t := time.Unix(universal-universalEpoch, 0).In(c.zone(zone))
	_, offset := t.Zone()
	west := c.divide(Integer(int64(-offset)), Integer(3600))
	return c.values(count(t.Second()), count(t.Minute()), count(t.Hour()), count(t.Day()), count(int(t.Month())), count(t.Year()),
		count((int(t.Weekday())+6)%7), Boolean(t.IsDST() && zone == nil), west)
}
