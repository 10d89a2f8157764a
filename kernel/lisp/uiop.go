package lisp

var (
	kwSeparator = standardKeyword("SEPARATOR")
	kwMax       = standardKeyword("MAX")
)

// uiopFunctions are those of uiop that need nothing from outside.
func uiopFunctions() []builtin {
	affix := func(name, doc string, test func(affix, s []rune) bool) builtin {
		return builtin{name: name, list: "(affix string)", doc: doc, two: func(c *Call, a, b Value) Value {
			x, y := c.chars(a), c.chars(b)
			return Boolean(len(x) <= len(y) && test(x, y))
		}}
	}
	return []builtin{
		{name: "uiop:split-string", list: "(string &key max separator)", doc: "The parts between separator characters in a list; at most max, counted from the end.", call: splitString},
		affix("uiop:string-prefix-p", "True if string begins with affix.", func(x, s []rune) bool { return string(s[:len(x)]) == string(x) }),
		{name: "uiop:string-suffix-p", list: "(string affix)", doc: "True if string ends with affix.", two: func(c *Call, a, b Value) Value {
			s, x := c.chars(a), c.chars(b)
			return Boolean(len(x) <= len(s) && string(s[len(s)-len(x):]) == string(x))
		}},
		{name: "uiop:strcat", list: "(&rest strings)", doc: "The strings joined.", call: func(c *Call, args []Value) Value {
			var chars []rune
			for _, arg := range args {
				if arg == Nil {
					continue
				}
				part := c.chars(arg)
				c.chargeMany(len(part), runeBytes)
				chars = append(chars, part...)
			}
			return runesString(chars)
		}},
		{name: "uiop:emptyp", list: "(sequence)", doc: "True for a sequence without elements.", one: func(c *Call, a Value) Value { return Boolean(c.length(a) == 0) }},
		{name: "uiop:first-char", list: "(string)", doc: "The first character, or nil.", one: func(c *Call, a Value) Value {
			if chars := c.str(a).chars; len(chars) > 0 {
				return Character(chars[0])
			}
			return Nil
		}},
		{name: "uiop:last-char", list: "(string)", doc: "The last character, or nil.", one: func(c *Call, a Value) Value {
			if chars := c.str(a).chars; len(chars) > 0 {
				return Character(chars[len(chars)-1])
			}
			return Nil
		}},
		{name: "uiop:stripln", list: "(string)", doc: "The string without the newlines at its end.", one: func(c *Call, a Value) Value {
			chars := c.str(a).chars
			n := len(chars)
			for n > 0 && (chars[n-1] == '\n' || chars[n-1] == '\r') {
				n--
			}
			return c.newString(append([]rune(nil), chars[:n]...))
		}},
		{name: "uiop:symbol-call", list: "(package name &rest arguments)", doc: "Call the function of that name in a package.", many: true, call: func(c *Call, args []Value) Value {
			symbol, ok := c.pkg(args[0]).find(c.name(args[1]))
			if !ok {
				c.fail(simpleError, "there is no function %s in %s", c.name(args[1]), c.pkg(args[0]).name)
			}
			return c.funcall(symbol, args[2:])
		}},
	}
}

// splitString splits from the end, so that with max the first part holds the rest.
func splitString(c *Call, args []Value) Value {
	k := c.keywords(args[1:], kwMax, kwSeparator)
	chars := c.chars(args[0])
	limit := -1
	if k[0] != nil && k[0] != Nil {
		limit = c.index(k[0])
	}
	separates := func(r rune) bool { return r == ' ' || r == '\t' }
	if k[1] != nil {
		bag := c.separators(k[1])
		separates = func(r rune) bool {
			for _, b := range bag {
				if r == b {
					return true
				}
			}
			return false
		}
	}
	c.chargeMany(len(chars), runeBytes)
	list := Value(Nil)
	end := len(chars)
	for pieces := 1; ; pieces++ {
		start := end - 1
		for start >= 0 && !separates(chars[start]) {
			start--
		}
		c.charge(consBytes)
		if start < 0 || limit >= 0 && pieces >= limit {
			return &Cons{Car: c.newString(append([]rune(nil), chars[:end]...)), Cdr: list}
		}
		list = &Cons{Car: c.newString(append([]rune(nil), chars[start+1:end]...)), Cdr: list}
		end = start
	}
}

func (c *Call) separators(v Value) []rune {
	if ch, ok := v.(Character); ok {
		return []rune{rune(ch)}
	}
	var bag []rune
	for _, item := range c.elements(v) {
		bag = append(bag, rune(c.character(item)))
	}
	return bag
}
