package lisp

import "slices"

// uiopLists are about lists, hash tables and functions.
func uiopLists() []builtin {
	lexicographic := func(name, doc string, equal bool) builtin {
		return builtin{name: name, list: "(less a b)", doc: doc, call: func(c *Call, args []Value) Value {
			less, a, b := c.function(args[0]), c.slice(args[1]), c.slice(args[2])
			for i := range min(len(a), len(b)) {
				if c.call2(less, a[i], b[i]) != Nil {
					return T
				}
				if c.call2(less, b[i], a[i]) != Nil {
					return Nil
				}
			}
			return Boolean(len(a) < len(b) || equal && len(a) == len(b))
		}}
	}
	return []builtin{
		{name: "uiop:ensure-list", list: "(object)", doc: "The object if it is a list, else a list of it.", one: func(c *Call, a Value) Value {
			if isList(a) {
				return a
			}
			return c.cons(a, Nil)
		}},
		{name: "uiop:remove-plist-key", list: "(key plist)", doc: "The plist without a key.", two: func(c *Call, a, b Value) Value { return c.withoutKeys(b, []Value{a}) }},
		{name: "uiop:remove-plist-keys", list: "(keys plist)", doc: "The plist without some keys.", two: func(c *Call, a, b Value) Value { return c.withoutKeys(b, c.slice(a)) }},
		{name: "uiop:length=n-p", list: "(list n)", doc: "True if a list has n elements, found without going through all of it.", two: func(c *Call, a, b Value) Value {
			n := c.index(b)
			for ; n > 0; n-- {
				c.step()
				cell, ok := a.(*Cons)
				if !ok {
					return Nil
				}
				a = cell.Cdr
			}
			return Boolean(a == Nil)
		}},
		lexicographic("uiop:lexicographic<", "True if list a is before b, element by element.", false),
		lexicographic("uiop:lexicographic<=", "True if list a is not behind b, element by element.", true),
		{name: "uiop:access-at", list: "(object at)", doc: "The part of an object at an index, a function's result, or a list of those.", two: func(c *Call, a, b Value) Value { return c.accessAt(a, b) }},
		{name: "uiop:access-at-count", list: "(at)", doc: "How many elements must be read to access that place, or nil.", one: func(c *Call, a Value) Value {
			if cell, ok := a.(*Cons); ok {
				a = cell.Car
			}
			if n, ok := a.(int64); ok && n >= 0 {
				return Integer(n + 1)
			}
			return Nil
		}},
		{name: "uiop:list-to-hash-set", list: "(list &optional table)", doc: "A table in which the elements of a list are true.", named: func(c *Call, args Args) Value {
			listArg := args.Get("list")

			table := args.Get("table")
			if table == nil {
				table = single(c.standard(standardSymbol("MAKE-HASH-TABLE"), kwTest, standardSymbol("EQUAL")))
			}
			for _, item := range c.slice(listArg) {
				c.hashTable(table).put(c, item, T)
			}
			return table
		}},
		{name: "uiop:ensure-gethash", list: "(key table default)", doc: "The value of a key in a table, where the default, or what it returns if it is a function, is stored first if there is none; and whether there was one.", many: true, call: func(c *Call, args []Value) Value {
			found := every(c.standard(standardSymbol("GETHASH"), args[0], args[1]))
			if found[1] != Nil {
				return c.values(found[0], T)
			}
			v := args[2]
			if fn, ok := v.(*Function); ok {
				v = single(c.apply(fn, nil))
			}
			c.hashTable(args[1]).put(c, args[0], v)
			return c.values(v, Nil)
		}},
		{name: "uiop:ensure-function", list: "(function &key package)", doc: "A function: what it names, or what always returns it if it is a truth value, number, character or pathname.", named: func(c *Call, args Args) Value {
			return c.ensureFunction(args.Get("function"))
		}},
		{name: "uiop:call-function", list: "(function &rest arguments)", doc: "Call what uiop:ensure-function makes of something.", many: true, call: func(c *Call, args []Value) Value {
			return c.apply(c.ensureFunction(args[0]), slices.Clone(args[1:]))
		}},
		{name: "uiop:call-functions", list: "(functions)", doc: "Call functions without arguments.", one: func(c *Call, a Value) Value {
			for _, fn := range c.slice(a) {
				c.apply(c.ensureFunction(fn), nil)
			}
			return Nil
		}},
		{name: "uiop:parse-body", list: "(body &key documentation whole)", doc: "The forms of a body, its declarations and its documentation.", many: true, named: func(c *Call, args Args) Value {
			documentation := args.Get("documentation")

			forms, declarations, text := c.slice(args.Get("body")), []Value(nil), Value(Nil)
			for len(forms) > 0 {
				_, isText := forms[0].(*String)
				head, isList := forms[0].(*Cons)
				switch {
				case given(documentation) && isText && text == Nil && len(forms) > 1:
					text = forms[0]
				case isList && head.Car == symDeclare:
					declarations = append(declarations, head)
				default:
					return c.values(c.newList(forms), c.newList(declarations), text)
				}
				forms = forms[1:]
			}
			return c.values(Nil, c.newList(declarations), text)
		}},
	}
}

func (c *Call) withoutKeys(list Value, keys []Value) Value {
	items := c.slice(list)
	var kept []Value
	for i := 0; i+1 < len(items); i += 2 {
		c.work(len(keys))
		if !slices.Contains(keys, items[i]) {
			kept = append(kept, items[i], items[i+1])
		}
	}
	return c.newList(kept)
}

func (c *Call) accessAt(object, at Value) Value {
	switch x := at.(type) {
	case int64:
		return single(c.standard(standardSymbol("ELT"), object, x))
	case *Cons:
		for _, step := range c.slice(x) {
			object = c.accessAt(object, step)
		}
		return object
	}
	if at == Nil {
		return object
	}
	return single(c.funcall(at, []Value{object}))
}

func (c *Call) ensureFunction(v Value) *Function {
	switch x := v.(type) {
	case *Function:
		return x
	case Character, *Pathname, int64, float32, float64:
		return &Function{name: "CONSTANTLY", most: -1, call: func(*Call, []Value) Value { return v }}
	case *Symbol:
		if x == T || x == Nil || x.Keyword() {
			return &Function{name: "CONSTANTLY", most: -1, call: func(*Call, []Value) Value { return v }}
		}
	case *Cons:
		if x.Car != symLambda {
			return c.function(single(c.evaluate(NewList(symFunction, v))))
		}
	}
	return c.function(v)
}

// uiopSymbols find symbols, packages and conditions.
func uiopSymbols() []builtin {
	return []builtin{
		{name: "uiop:symbol-call", list: "(package name &rest arguments)", doc: "Call the function of that name in a package.", many: true, call: func(c *Call, args []Value) Value {
			symbol, ok := c.pkg(args[0]).find(c.name(args[1]))
			if !ok {
				c.fail(simpleError, "there is no function %s in %s", c.name(args[1]), c.pkg(args[0]).name)
			}
			return c.funcall(symbol, slices.Clone(args[2:]))
		}},
		{name: "uiop:find-symbol*", list: "(name package &optional error)", doc: "The symbol of that name; an error, or nil if error is nil, if there is none.", many: true, named: func(c *Call, args Args) Value {
			nameArg, packageArg := args.Get("name"), args.Get("package")

			p := c.environment.packages[c.packageName(packageArg)]
			if p != nil {
				if symbol, ok := p.find(c.name(nameArg)); ok {
					return c.values(symbol, p.status(symbol))
				}
			}
			if args.Get("error") == Value(Nil) {
				return Nil
			}
			c.fail(simpleError, "there is no symbol %s in the package %s", c.name(nameArg), c.shown(packageArg))
			return nil
		}},
		{name: "uiop:find-package*", list: "(name &optional error)", doc: "The package of that name; an error, or nil if error is nil, if there is none.", named: func(c *Call, args Args) Value {
			name := args.Get("name")

			p := c.environment.packages[c.packageName(name)]
			switch {
			case p != nil:
				return p
			case args.Get("error") == Value(Nil):
				return Nil
			}
			c.fail(simpleError, "there is no package %s", c.shown(name))
			return nil
		}},
		{name: "uiop:intern*", list: "(name package)", doc: "The symbol of that name in a package, made if there is none.", two: func(c *Call, a, b Value) Value {
			return single(c.standard(standardSymbol("INTERN"), c.text(c.name(a)), b))
		}},
		{name: "uiop:match-condition-p", list: "(kind condition)", doc: "True if a condition is of a type, a function says so, or its report is a string.", two: func(c *Call, a, b Value) Value {
			switch x := a.(type) {
			case *Function:
				return c.call1(x, b)
			case *String:
				condition, ok := b.(*Instance)
				return Boolean(ok && c.report(condition) == x.String())
			}
			return Boolean(c.typep(b, a))
		}},
		{name: "uiop:featurep", list: "(expression &optional features)", doc: "True if a feature, or an expression of :and, :or and :not, holds.", named: func(c *Call, args Args) Value {
			features := args.Get("features")
			if features == nil {
				features = c.symbolValue(standardSymbol("*FEATURES*"))
			}
			return Boolean(c.feature(args.Get("expression"), c.slice(features)))
		}},
		{name: "uiop:os-unix-p", list: "()", doc: "True: names of files are as on Unix.", call: func(*Call, []Value) Value { return T }},
		{name: "uiop:os-windows-p", list: "()", doc: "False: names of files are as on Unix.", call: func(*Call, []Value) Value { return Nil }},
	}
}

func (c *Call) packageName(v Value) string {
	if p, ok := v.(*Package); ok {
		return p.name
	}
	return c.name(v)
}

// featureWords join expressions of features.
var featureWords = [3]*Symbol{standardKeyword("AND"), standardKeyword("OR"), standardKeyword("NOT")}

func (c *Call) feature(expression Value, features []Value) bool {
	c.descend(4)
	defer c.ascend(4)
	cell, ok := expression.(*Cons)
	if !ok {
		return slices.Contains(features, expression)
	}
	parts := c.slice(cell.Cdr)
	holds := func(v Value) bool { return c.feature(v, features) }
	switch cell.Car {
	case featureWords[0]:
		return !slices.ContainsFunc(parts, func(v Value) bool { return !holds(v) })
	case featureWords[1]:
		return slices.ContainsFunc(parts, holds)
	case featureWords[2]:
		if len(parts) == 1 {
			return !holds(parts[0])
		}
	}
	c.fail(parseError, "%s is no expression of features", c.shown(expression))
	return false
}
