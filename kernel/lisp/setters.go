package lisp

import "strings"

// standardSetters are the functions behind setf: they take the new value first, then
// what the function of the same name takes.
func standardSetters() map[string]*Function {
	setters := map[string]func(c *Call, args []Value) Value{
		"car":     func(c *Call, args []Value) Value { c.cell(args[1]).Car = args[0]; return args[0] },
		"cdr":     func(c *Call, args []Value) Value { c.cell(args[1]).Cdr = args[0]; return args[0] },
		"rest":    func(c *Call, args []Value) Value { c.cell(args[1]).Cdr = args[0]; return args[0] },
		"nth":     func(c *Call, args []Value) Value { c.cell(c.nthcdr(args[1], args[2])).Car = args[0]; return args[0] },
		"elt":     func(c *Call, args []Value) Value { c.setElement(args[1], c.Index(args[2]), args[0]); return args[0] },
		"gethash": func(c *Call, args []Value) Value { c.HashTable(args[2]).put(c, args[1], args[0]); return args[0] },
		"symbol-value": func(c *Call, args []Value) Value {
			c.setSpecial(c.environment.global(c.TakeSymbol(args[1])), args[0])
			return args[0]
		},
		"symbol-function": setFunctionOf,
		"fdefinition":     setFunctionOf,
		"macro-function":  setMacroFunction,
		"compiler-macro-function": func(c *Call, args []Value) Value {
			g := c.unfrozen(c.TakeSymbol(args[1]))
			if g.compilerMacro = nil; args[0] != Nil {
				g.compilerMacro = c.Function(args[0])
			}
			return args[0]
		},
		"symbol-plist": func(c *Call, args []Value) Value {
			c.environment.global(c.TakeSymbol(args[1])).plist = args[0]
			return args[0]
		},
		"fill-pointer": func(c *Call, args []Value) Value { c.setFillPointer(args[1], c.Index(args[0])); return args[0] },
		"slot-value":   setSlotValue,
		"class-name": func(c *Call, args []Value) Value {
			class := c.namedClass(args[1])
			if c.environment.language.classes[class.name] == class {
				c.Fail(packageError, "%s belongs to Common Lisp and cannot be renamed", class.name.name)
			}
			class.name = c.TakeSymbol(args[0])
			return class.name
		},
		"find-class": func(c *Call, args []Value) Value {
			name := c.unfrozen(c.TakeSymbol(args[1])).symbol
			if args[0] == Nil {
				delete(c.environment.classes, name)
			} else {
				c.environment.classes[name] = c.namedClass(args[0])
			}
			return args[0]
		},
		"readtable-case": setReadtableCase,
		"subseq":         setSubseq,
		"documentation": func(c *Call, args []Value) Value {
			if p, ok := args[1].(*Package); ok {
				c.changeable(p).doc = args[0]
				return args[0]
			}
			c.environment.global(c.TakeSymbol(args[1])).document(c.TakeSymbol(Optional(args, 2)), args[0])
			return args[0]
		},
		"row-major-aref": func(c *Call, args []Value) Value {
			c.setArrayElement(args[1], c.Index(args[2]), args[0])
			return args[0]
		},
		"aref":  setAref,
		"svref": setAref,
		"char":  setAref,
		"schar": setAref,
		"bit":   setBit,
		"sbit":  setBit,
		"get": func(c *Call, args []Value) Value {
			g := c.environment.global(c.TakeSymbol(args[1]))
			g.plist = putf(c, []Value{g.plist, args[2], args[0]})
			return args[0]
		},
	}
	for i, name := range ordinals {
		setters[name] = setNth(i)
	}
	for _, steps := range paths {
		follow := path(steps[1:])
		car := steps[0] == 'a'
		setters["c"+steps+"r"] = func(c *Call, args []Value) Value {
			cell := c.cell(follow(c, args[1]))
			if car {
				cell.Car = args[0]
			} else {
				cell.Cdr = args[0]
			}
			return args[0]
		}
	}
	table := map[string]*Function{}
	for name, call := range setters {
		table[name] = &Function{name: "(SETF " + strings.ToUpper(name) + ")", call: call}
	}
	return table
}

func setNth(n int) func(c *Call, args []Value) Value {
	return func(c *Call, args []Value) Value {
		c.cell(c.nthcdr(Count(n), args[1])).Car = args[0]
		return args[0]
	}
}

func setFunctionOf(c *Call, args []Value) Value {
	fn := c.Function(args[0])
	if name, ok := setfName(args[1]); ok {
		c.environment.global(name).setter = fn
		return fn
	}
	c.definable(c.TakeSymbol(args[1])).function = fn
	return fn
}

func setMacroFunction(c *Call, args []Value) Value {
	fn, g := c.Function(args[0]), c.definable(c.TakeSymbol(args[1]))
	g.macro = &macro{name: g.symbol.name, expand: func(cp *Compiler, form *Cons) Value {
		return Single(cp.apply(fn, []Value{form, Nil}))
	}}
	return fn
}

func setAref(c *Call, args []Value) Value {
	c.setArrayElement(args[1], c.rowMajor(args[1], args[2:]), args[0])
	return args[0]
}

func setBit(c *Call, args []Value) Value {
	c.element(bitElements, args[0])
	return setAref(c, args)
}

func setSubseq(c *Call, args []Value) Value {
	replacement := append([]Value(nil), c.Elements(args[0])...)
	from, to := c.Bounds(args[2], Optional(args, 3), c.Length(args[1]))
	c.store(args[1], from, replacement[:min(len(replacement), to-from)])
	return args[0]
}
