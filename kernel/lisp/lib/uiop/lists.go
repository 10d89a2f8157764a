package uiop

import (
	"slices"

	"org-agent/kernel/lisp"
)

// uiopLists are about lists, hash tables and functions.
func uiopLists() []lisp.Builtin {
	lexicographic := func(name, doc string, equal bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(less a b)", Doc: doc, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			less, a, b := c.Function(args[0]), c.Slice(args[1]), c.Slice(args[2])
			for i := range min(len(a), len(b)) {
				if c.Call2(less, a[i], b[i]) != lisp.Nil {
					return lisp.T
				}
				if c.Call2(less, b[i], a[i]) != lisp.Nil {
					return lisp.Nil
				}
			}
			return lisp.Boolean(len(a) < len(b) || equal && len(a) == len(b))
		}}
	}
	return []lisp.Builtin{
		{Name: "ensure-list", LambdaList: "(object)", Doc: "The object if it is a list, else a list of it.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if lisp.IsList(a) {
				return a
			}
			return c.Cons(a, lisp.Nil)
		}},
		{Name: "remove-plist-key", LambdaList: "(key plist)", Doc: "The plist without a key.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return withoutKeys(c, b, []lisp.Value{a}) }},
		{Name: "remove-plist-keys", LambdaList: "(keys plist)", Doc: "The plist without some keys.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return withoutKeys(c, b, c.Slice(a)) }},
		{Name: "length=n-p", LambdaList: "(list n)", Doc: "True if a list has n elements, found without going through all of it.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			n := c.Index(b)
			for range c.Rounds(n) {
				cell, ok := a.(*lisp.Cons)
				if !ok {
					return lisp.Nil
				}
				a = cell.Cdr
			}
			return lisp.Boolean(a == lisp.Nil)
		}},
		lexicographic("lexicographic<", "True if list a is before b, element by element.", false),
		lexicographic("lexicographic<=", "True if list a is not behind b, element by element.", true),
		{Name: "access-at", LambdaList: "(object at)", Doc: "The part of an object at an index, a function's result, or a list of those.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return accessAt(c, a, b) }},
		{Name: "access-at-count", LambdaList: "(at)", Doc: "How many elements must be read to access that place, or nil.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if cell, ok := a.(*lisp.Cons); ok {
				a = cell.Car
			}
			if n, ok := a.(int64); ok && n >= 0 {
				return lisp.Integer(n + 1)
			}
			return lisp.Nil
		}},
		{Name: "list-to-hash-set", LambdaList: "(list &optional table)", Doc: "A table in which the elements of a list are true.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			listArg := args.Get("list")
			table := args.Get("table")
			if table == nil {
				table = lisp.Single(c.Standard("MAKE-HASH-TABLE", lisp.Keyword("TEST"), lisp.CL("EQUAL")))
			}
			for _, item := range c.Slice(listArg) {
				c.HashTable(table).Put(c, item, lisp.T)
			}
			return table
		}},
		{Name: "ensure-gethash", LambdaList: "(key table default)", Doc: "The value of a key in a table, where the default, or what it returns if it is a function, is stored first if there is none; and whether there was one.", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			found := lisp.Every(c.Standard("GETHASH", args[0], args[1]))
			if found[1] != lisp.Nil {
				return c.Values(found[0], lisp.T)
			}
			v := args[2]
			if fn, ok := v.(*lisp.Function); ok {
				v = lisp.Single(c.Funcall(fn))
			}
			c.HashTable(args[1]).Put(c, args[0], v)
			return c.Values(v, lisp.Nil)
		}},
		{Name: "ensure-function", LambdaList: "(function &key package)", Doc: "A function: what it names, or what always returns it if it is a truth value, number, character or pathname.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return ensureFunction(c, args.Get("function"))
		}},
		{Name: "call-function", LambdaList: "(function &rest arguments)", Doc: "Call what uiop:ensure-function makes of something.", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			return c.Funcall(ensureFunction(c, args[0]), lisp.Clone(c, args[1:])...)
		}},
		{Name: "call-functions", LambdaList: "(functions)", Doc: "Call functions without arguments.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			for _, fn := range c.Slice(a) {
				c.Funcall(ensureFunction(c, fn))
			}
			return lisp.Nil
		}},
		{Name: "parse-body", LambdaList: "(body &key documentation whole)", Doc: "The forms of a body, its declarations and its documentation.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			documentation := args.Get("documentation")
			forms, declarations, text := c.Slice(args.Get("body")), []lisp.Value(nil), lisp.Value(lisp.Nil)
			for len(forms) > 0 {
				_, isText := forms[0].(*lisp.String)
				head, isList := forms[0].(*lisp.Cons)
				switch {
				case lisp.Given(documentation) && isText && text == lisp.Nil && len(forms) > 1:
					text = forms[0]
				case isList && head.Car == lisp.CL("DECLARE"):
					declarations = lisp.Append(c, declarations, lisp.Value(head))
				default:
					return c.Values(c.NewList(forms), c.NewList(declarations), text)
				}
				forms = forms[1:]
			}
			return c.Values(lisp.Nil, c.NewList(declarations), text)
		}},
	}
}

func withoutKeys(c *lisp.Call, list lisp.Value, keys []lisp.Value) lisp.Value {
	items := c.Slice(list)
	var kept []lisp.Value
	for i := 0; i+1 < len(items); i += 2 {
		c.Work(len(keys))
		if !slices.Contains(keys, items[i]) {
			kept = lisp.Append(c, kept, items[i], items[i+1])
		}
	}
	return c.NewList(kept)
}

func accessAt(c *lisp.Call, object, at lisp.Value) lisp.Value {
	switch x := at.(type) {
	case int64:
		return lisp.Single(c.Standard("ELT", object, x))
	case *lisp.Cons:
		for _, step := range c.Slice(x) {
			object = accessAt(c, object, step)
		}
		return object
	}
	if at == lisp.Nil {
		return object
	}
	return lisp.Single(c.Funcall(at, object))
}

func ensureFunction(c *lisp.Call, v lisp.Value) *lisp.Function {
	switch x := v.(type) {
	case *lisp.Function:
		return x
	case lisp.Character, *lisp.Pathname, int64, float32, float64:
		return c.Function(c.Standard("CONSTANTLY", v))
	case *lisp.Symbol:
		if x == lisp.T || x == lisp.Nil || x.Keyword() {
			return c.Function(c.Standard("CONSTANTLY", v))
		}
	case *lisp.Cons:
		if x.Car != lisp.CL("LAMBDA") {
			return c.Function(lisp.Single(c.Standard("EVAL", lisp.NewList(lisp.CL("FUNCTION"), v))))
		}
	}
	return c.Function(v)
}

// uiopSymbols find symbols, packages and conditions.
func uiopSymbols() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "symbol-call", LambdaList: "(package name &rest arguments)", Doc: "Call the function of that name in a package.", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			symbol, ok := c.Package(args[0]).Find(c.Name(args[1]))
			if !ok {
				c.Fail(lisp.SimpleError, "there is no function %s in %s", c.Name(args[1]), c.Package(args[0]).Name())
			}
			return c.Funcall(symbol, lisp.Clone(c, args[2:])...)
		}},
		{Name: "find-symbol*", LambdaList: "(name package &optional error)", Doc: "The symbol of that name; an error, or nil if error is nil, if there is none.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			nameArg, packageArg := args.Get("name"), args.Get("package")
			if p := c.FindPackage(packageArg); p != nil {
				if _, ok := p.Find(c.Name(nameArg)); ok {
					return c.Standard("FIND-SYMBOL", c.Text(c.Name(nameArg)), p)
				}
			}
			if args.Get("error") == lisp.Value(lisp.Nil) {
				return lisp.Nil
			}
			c.Fail(lisp.SimpleError, "there is no symbol %s in the package %s", c.Name(nameArg), c.Shown(packageArg))
			return nil
		}},
		{Name: "find-package*", LambdaList: "(name &optional error)", Doc: "The package of that name; an error, or nil if error is nil, if there is none.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			name := args.Get("name")
			p := c.FindPackage(name)
			switch {
			case p != nil:
				return p
			case args.Get("error") == lisp.Value(lisp.Nil):
				return lisp.Nil
			}
			c.Fail(lisp.SimpleError, "there is no package %s", c.Shown(name))
			return nil
		}},
		{Name: "intern*", LambdaList: "(name package)", Doc: "The symbol of that name in a package, made if there is none.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			return lisp.Single(c.Standard("INTERN", c.Text(c.Name(a)), b))
		}},
		{Name: "match-condition-p", LambdaList: "(kind condition)", Doc: "True if a condition is of a type, a function says so, or its report is a string.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			switch x := a.(type) {
			case *lisp.Function:
				return c.Call1(x, b)
			case *lisp.String:
				condition, ok := b.(*lisp.Instance)
				return lisp.Boolean(ok && c.Report(condition) == x.String())
			}
			return c.Standard("TYPEP", b, a)
		}},
		{Name: "featurep", LambdaList: "(expression &optional features)", Doc: "True if a feature, or an expression of :and, :or and :not, holds.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			features := args.Get("features")
			if features == nil {
				features = c.Variable(lisp.CL("*FEATURES*"))
			}
			return lisp.Boolean(feature(c, args.Get("expression"), c.Slice(features)))
		}},
		{Name: "os-unix-p", LambdaList: "()", Doc: "True: names of files are as on Unix.", Call: func(*lisp.Call, []lisp.Value) lisp.Value { return lisp.T }},
		{Name: "os-windows-p", LambdaList: "()", Doc: "False: names of files are as on Unix.", Call: func(*lisp.Call, []lisp.Value) lisp.Value { return lisp.Nil }},
	}
}

// featureWords join expressions of features.
var featureWords = [3]*lisp.Symbol{lisp.Keyword("AND"), lisp.Keyword("OR"), lisp.Keyword("NOT")}

func feature(c *lisp.Call, expression lisp.Value, features []lisp.Value) bool {
	c.Descend(4)
	defer c.Ascend(4)
	cell, ok := expression.(*lisp.Cons)
	if !ok {
		return slices.Contains(features, expression)
	}
	parts := c.Slice(cell.Cdr)
	holds := func(v lisp.Value) bool { return feature(c, v, features) }
	switch cell.Car {
	case featureWords[0]:
		return !slices.ContainsFunc(parts, func(v lisp.Value) bool { return !holds(v) })
	case featureWords[1]:
		return slices.ContainsFunc(parts, holds)
	case featureWords[2]:
		if len(parts) == 1 {
			return !holds(parts[0])
		}
	}
	c.Fail(lisp.ParseError, "%s is no expression of features", c.Shown(expression))
	return false
}
