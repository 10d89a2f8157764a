package uiop

import (
	"slices"
	"strings"

	"org-agent/kernel/lisp"
)

// uiopFunctions are those of uiop that need nothing from outside.
func uiopFunctions() []lisp.Builtin {
	return slices.Concat(uiopStrings(), uiopLists(), uiopSymbols(), uiopVersions(), uiopStreams())
}

func uiopStrings() []lisp.Builtin {
	affix := func(name, list, doc string, test func(c *lisp.Call, s, x []rune) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			s, x := c.Chars(args.Get("string")), c.Chars(args.Get("affix"))
			return lisp.Boolean(len(x) <= len(s) && test(c, s, x))
		}}
	}
	begins := func(c *lisp.Call, s, x []rune) bool { return c.SameRunes(s[:len(x)], x) }
	ends := func(c *lisp.Call, s, x []rune) bool { return c.SameRunes(s[len(s)-len(x):], x) }
	end := func(name, doc string, pick func(chars []rune) rune) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if text, ok := a.(*lisp.String); ok && len(text.Runes()) > 0 {
				return lisp.Character(pick(text.Runes()))
			}
			return lisp.Nil
		}}
	}
	return []lisp.Builtin{
		{Name: "split-string", LambdaList: "(string &key max separator)", Doc: "The parts between separator characters in a list; at most max, counted from the end.", Named: splitString},
		affix("string-prefix-p", "(affix string)", "True if string begins with affix.", begins),
		affix("string-suffix-p", "(string affix)", "True if string ends with affix.", ends),
		{Name: "string-enclosed-p", LambdaList: "(prefix string suffix)", Doc: "True if string begins with prefix and ends with suffix.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			p, s, x := c.Chars(args[0]), c.Chars(args[1]), c.Chars(args[2])
			return lisp.Boolean(len(p) <= len(s) && len(x) <= len(s) && begins(c, s, p) && ends(c, s, x))
		}},
		{Name: "strcat", LambdaList: "(&rest strings)", Doc: "Strings and characters joined; nil is none.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value { return strcat(c, args) }},
		{Name: "reduce/strcat", LambdaList: "(strings &key key start end)", Doc: "The strings and characters of a list joined.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			keyArg := args.Get("key")
			items := c.Slice(args.Get("strings"))
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(items))
			items = items[from:to]
			if lisp.Given(keyArg) {
				key := c.Function(keyArg)
				for i, item := range items {
					items[i] = c.Call1(key, item)
				}
			}
			return strcat(c, items)
		}},
		{Name: "emptyp", LambdaList: "(sequence)", Doc: "True for a sequence without elements.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return lisp.Boolean(lisp.IsSequence(a) && c.Length(a) == 0)
		}},
		end("first-char", "The first character, or nil.", func(chars []rune) rune { return chars[0] }),
		end("last-char", "The last character, or nil.", func(chars []rune) rune { return chars[len(chars)-1] }),
		{Name: "stripln", LambdaList: "(string)", Doc: "The string without the end of line at its end, and that.", Many: true, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			chars := c.TakeString(a).Runes()
			for _, ending := range []string{"\r\n", "\n", "\r"} {
				if at := len(chars) - len(ending); at >= 0 && string(chars[at:]) == ending {
					return c.Values(c.CopyRunes(chars[:at]), c.Text(ending))
				}
			}
			return c.Values(a, lisp.Nil)
		}},
		{Name: "frob-substrings", LambdaList: "(string substrings &optional replacement)", Doc: "The string with the substrings taken out, or replaced by a string or by what a function of the substring and a function that writes strings writes.", Named: frobSubstrings},
	}
}

func strcat(c *lisp.Call, items []lisp.Value) lisp.Value {
	var chars []rune
	for _, item := range items {
		switch x := item.(type) {
		case *lisp.String:
			chars = lisp.Append(c, chars, x.Runes()...)
		case lisp.Character:
			chars = lisp.Append(c, chars, rune(x))
		default:
			if item != lisp.Nil {
				c.TypeError(item, "STRING")
			}
		}
	}
	return c.StringOf(chars)
}

// splitString splits from the end, so that with max the first part holds the rest.
func splitString(c *lisp.Call, args lisp.Args) lisp.Value {
	maxArg, separator := args.Get("max"), args.Get("separator")
	chars := c.Chars(args.Get("string"))
	if len(chars) == 0 {
		return lisp.Nil
	}
	limit := -1
	if lisp.Given(maxArg) {
		limit = c.Index(maxArg)
	}
	separates := func(r rune) bool { return r == ' ' || r == '\t' }
	if separator != nil {
		if _, ok := separator.(lisp.Character); ok {
			c.TypeError(separator, "SEQUENCE")
		}
		separates = c.CharacterBag(separator)
	}
	c.Work(len(chars))
	list := lisp.Value(lisp.Nil)
	end := len(chars)
	for pieces := 1; ; pieces++ {
		start := end - 1
		for start >= 0 && !separates(chars[start]) {
			start--
		}
		if start < 0 || limit >= 0 && pieces >= limit {
			return c.Cons(c.CopyRunes(chars[:end]), list)
		}
		list = c.Cons(c.CopyRunes(chars[start+1:end]), list)
		end = start
	}
}

// frobSubstrings goes through the string once for each substring; what was put in is not
// looked at again.
func frobSubstrings(c *lisp.Call, args lisp.Args) lisp.Value {
	replacement := args.Get("replacement")
	out := lisp.NewStringBuilder(c)
	put := func(c *lisp.Call, a lisp.Value) lisp.Value {
		out.WriteRunes(c.TakeString(a).Runes())
		return lisp.Nil
	}
	write := lisp.NewFunction(lisp.Builtin{Name: "WRITE-PART", LambdaList: "(string)", One: put})
	var frob func(text string, rest []lisp.Value)
	frob = func(text string, rest []lisp.Value) {
		c.Descend(4)
		defer c.Ascend(4)
		c.Work(len(text) / 8)
		if len(rest) == 0 {
			out.WriteString(text)
			return
		}
		wanted := c.TakeText(rest[0])
		for wanted != "" {
			before, after, found := strings.Cut(text, wanted)
			if !found {
				break
			}
			frob(before, rest[1:])
			switch x := replacement.(type) {
			case nil:
			case *lisp.String:
				put(c, x)
			default:
				if x != lisp.Nil {
					c.Funcall(x, c.Text(wanted), write)
				}
			}
			text = after
		}
		frob(text, rest[1:])
	}
	frob(c.TakeText(args.Get("string")), c.Slice(args.Get("substrings")))
	return out.Value()
}
