package lisp

import (
	"slices"
	"strings"
)

// uiopFunctions are those of uiop that need nothing from outside.
func uiopFunctions() []builtin {
	return slices.Concat(uiopStrings(), uiopLists(), uiopSymbols(), uiopVersions(), uiopStreams())
}

func uiopStrings() []builtin {
	affix := func(name, list, doc string, text, part int, test func(s, x []rune) bool) builtin {
		return builtin{name: name, list: list, doc: doc, call: func(c *Call, args []Value) Value {
			s, x := c.chars(args[text]), c.chars(args[part])
			c.work(len(x) / 8)
			return Boolean(len(x) <= len(s) && test(s, x))
		}}
	}
	begins := func(s, x []rune) bool { return slices.Equal(s[:len(x)], x) }
	ends := func(s, x []rune) bool { return slices.Equal(s[len(s)-len(x):], x) }
	end := func(name, doc string, pick func(chars []rune) rune) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value {
			if text, ok := a.(*String); ok && len(text.chars) > 0 {
				return Character(pick(text.chars))
			}
			return Nil
		}}
	}
	return []builtin{
		{name: "uiop:split-string", list: "(string &key max separator)", doc: "The parts between separator characters in a list; at most max, counted from the end.", named: splitString},
		affix("uiop:string-prefix-p", "(affix string)", "True if string begins with affix.", 1, 0, begins),
		affix("uiop:string-suffix-p", "(string affix)", "True if string ends with affix.", 0, 1, ends),
		{name: "uiop:string-enclosed-p", list: "(prefix string suffix)", doc: "True if string begins with prefix and ends with suffix.", call: func(c *Call, args []Value) Value {
			p, s, x := c.chars(args[0]), c.chars(args[1]), c.chars(args[2])
			c.work((len(p) + len(x)) / 8)
			return Boolean(len(p) <= len(s) && len(x) <= len(s) && begins(s, p) && ends(s, x))
		}},
		{name: "uiop:strcat", list: "(&rest strings)", doc: "Strings and characters joined; nil is none.", call: func(c *Call, args []Value) Value { return c.strcat(args) }},
		{name: "uiop:reduce/strcat", list: "(strings &key key start end)", doc: "The strings and characters of a list joined.", named: func(c *Call, args Args) Value {
			keyArg := args.Get("key")

			items := c.slice(args.Get("strings"))
			from, to := c.bounds(args.Get("start"), args.Get("end"), len(items))
			items = items[from:to]
			if given(keyArg) {
				key := c.function(keyArg)
				for i, item := range items {
					items[i] = c.call1(key, item)
				}
			}
			return c.strcat(items)
		}},
		{name: "uiop:emptyp", list: "(sequence)", doc: "True for a sequence without elements.", one: func(c *Call, a Value) Value { return Boolean(isSequence(a) && c.length(a) == 0) }},
		end("uiop:first-char", "The first character, or nil.", func(chars []rune) rune { return chars[0] }),
		end("uiop:last-char", "The last character, or nil.", func(chars []rune) rune { return chars[len(chars)-1] }),
		{name: "uiop:stripln", list: "(string)", doc: "The string without the end of line at its end, and that.", many: true, one: func(c *Call, a Value) Value {
			text := c.str(a).String()
			for _, ending := range []string{"\r\n", "\n", "\r"} {
				if line, found := strings.CutSuffix(text, ending); found {
					return c.values(c.text(line), c.text(ending))
				}
			}
			return c.values(a, Nil)
		}},
		{name: "uiop:frob-substrings", list: "(string substrings &optional replacement)", doc: "The string with the substrings taken out, or replaced by a string or by what a function of the substring and a function that writes strings writes.", named: frobSubstrings},
	}
}

func (c *Call) strcat(items []Value) Value {
	var chars []rune
	for _, item := range items {
		switch x := item.(type) {
		case *String:
			c.chargeMany(len(x.chars)+1, runeBytes)
			chars = append(chars, x.chars...)
		case Character:
			c.charge(runeBytes)
			chars = append(chars, rune(x))
		default:
			if item != Nil {
				c.typeError(item, "STRING")
			}
		}
	}
	return runesString(chars)
}

// splitString splits from the end, so that with max the first part holds the rest.
func splitString(c *Call, args Args) Value {
	maxArg, separator := args.Get("max"), args.Get("separator")

	chars := c.chars(args.Get("string"))
	if len(chars) == 0 {
		return Nil
	}
	limit := -1
	if given(maxArg) {
		limit = c.index(maxArg)
	}
	separates := func(r rune) bool { return r == ' ' || r == '\t' }
	if separator != nil {
		if _, ok := separator.(Character); ok {
			c.typeError(separator, "SEQUENCE")
		}
		separates = c.bag(separator)
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
			return &Cons{Car: c.newString(slices.Clone(chars[:end])), Cdr: list}
		}
		list = &Cons{Car: c.newString(slices.Clone(chars[start+1 : end])), Cdr: list}
		end = start
	}
}

// bag is the test of the characters in a sequence.
func (c *Call) bag(v Value) func(rune) bool {
	characters := c.separators(v)
	ranges := make([]runeRange, len(characters))
	c.chargeMany(len(characters), 2*runeBytes)
	for i, r := range characters {
		ranges[i] = runeRange{r, r}
	}
	if len(ranges) == 0 {
		return func(rune) bool { return false }
	}
	return inRanges(ranges)
}

func (c *Call) separators(v Value) []rune {
	if ch, ok := v.(Character); ok {
		return []rune{rune(ch)}
	}
	var bag []rune
	for _, item := range c.elements(v) {
		c.charge(runeBytes)
		bag = append(bag, rune(c.character(item)))
	}
	return bag
}

// frobSubstrings goes through the string once for each substring; what was put in is not
// looked at again.
func frobSubstrings(c *Call, args Args) Value {
	replacement := args.Get("replacement")

	var out strings.Builder
	write := &Function{name: "WRITE-PART", least: 1, most: 1, one: func(c *Call, a Value) Value {
		text := c.str(a).String()
		c.charge(len(text))
		out.WriteString(text)
		return Nil
	}}
	var frob func(text string, rest []Value)
	frob = func(text string, rest []Value) {
		c.descend(4)
		defer c.ascend(4)
		c.chargeMany(len(text), 1)
		if len(rest) == 0 {
			out.WriteString(text)
			return
		}
		wanted := c.str(rest[0]).String()
		for wanted != "" {
			before, after, found := strings.Cut(text, wanted)
			if !found {
				break
			}
			frob(before, rest[1:])
			switch x := replacement.(type) {
			case nil:
			case *String:
				write.one(c, x)
			default:
				if x != Nil {
					c.funcall(x, []Value{c.text(wanted), write})
				}
			}
			text = after
		}
		frob(text, rest[1:])
	}
	frob(c.str(args.Get("string")).String(), c.slice(args.Get("substrings")))
	return c.text(out.String())
}
