package lisp

import (
	"slices"
	"strings"
)

func strPieces() []builtin {
	shorten := func(name string) builtin {
		return builtin{name: name, list: "(length string &key ellipsis)", doc: "The string cut to length, with an ellipsis at its end.", named: func(c *Call, args Args) Value {
			return c.strShorten(args.Get("length"), args.Get("string"), c.strDefault(args.Get("ellipsis"), "*ELLIPSIS*"))
		}}
	}
	end := func(name, doc string, piece func(chars []rune) []rune) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			chars := c.chars(a)
			if len(chars) > 0 {
				chars = piece(chars)
			}
			return c.newString(slices.Clone(chars))
		}}
	}
	return []builtin{
		{name: "str:substring", list: "(start end string)", doc: "The part from start to end: end may be beyond the end, negative to count from it, or t or nil for it.", call: func(c *Call, args []Value) Value {
			chars := c.strChars(args[2])
			n := int64(len(chars))
			from, to := max(0, c.fixnum(args[0])), n
			if args[1] != Nil && args[1] != T {
				to = min(c.fixnum(args[1]), n)
			}
			if to < -n {
				to = 0
			}
			if to < 0 {
				to += n
			}
			if from > n || to < from {
				return c.text("")
			}
			return c.newString(slices.Clone(chars[from:to]))
		}},
		shorten("str:shorten"), shorten("str:prune"),
		end("str:s-first", "The first character as a string.", func(chars []rune) []rune { return chars[:1] }),
		end("str:s-last", "The last character as a string.", func(chars []rune) []rune { return chars[len(chars)-1:] }),
		end("str:s-rest", "All but the first character.", func(chars []rune) []rune { return chars[1:] }),
		{name: "str:s-nth", list: "(n string)", doc: "The nth character as a string, counted from 0; empty if there is none.", two: func(c *Call, a, b Value) Value {
			if b == Nil {
				return Nil
			}
			n, chars := c.fixnum(a), c.chars(b)
			if n < 0 || n >= int64(len(chars)) {
				return c.text("")
			}
			return c.newString([]rune{chars[n]})
		}},
		{name: "str:s-assoc-value", list: "(alist key)", doc: "The value of a key in an alist, whatever its case, and the pair.", many: true, two: func(c *Call, a, b Value) Value {
			pair := single(c.standard(standardSymbol("ASSOC"), b, a, kwTest, standardSymbol("STRING-EQUAL")))
			if cell, ok := pair.(*Cons); ok {
				return c.values(cell.Cdr, cell)
			}
			return c.values(Nil, Nil)
		}},
		{name: "str:s-member", list: "(list string &key test ignore-case)", doc: "True if a string is in a list.", named: func(c *Call, args Args) Value {
			testArg := args.Get("test")

			test := Value(standardSymbol("STRING="))
			if testArg != nil {
				test = testArg
			}
			if given(c.strDefault(args.Get("ignore-case"), "*IGNORE-CASE*")) {
				test = standardSymbol("STRING-EQUAL")
			}
			return Boolean(single(c.standard(symMember, args.Get("string"), args.Get("list"), kwTest, test)) != Nil)
		}},
		{name: "str:count-substring", list: "(substring string &key start end ignore-case)", doc: "How often a substring occurs.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			part, chars := c.strChars(args.Get("substring")), c.strChars(stringArg)
			if len(part) == 0 || stringArg == Nil {
				return Nil
			}
			from, to := c.bounds(args.Get("start"), args.Get("end"), len(chars))
			c.chargeMany(to-from+len(part), 8)
			text, search := string(chars[from:to]), string(part)
			if given(c.strDefault(args.Get("ignore-case"), "*IGNORE-CASE*")) {
				text, search = strings.Map(lower, text), strings.Map(lower, search)
			}
			return count(strings.Count(text, search))
		}},
	}
}

func (c *Call) strShorten(length, text, ellipsis Value) Value {
	if length == Nil {
		return text
	}
	n, chars := c.fixnum(length), c.strChars(text)
	if n >= int64(len(chars)) {
		return text
	}
	mark := c.strChars(ellipsis)
	return c.newString(slices.Concat(chars[:max(0, n-int64(len(mark)))], mark))
}

func strReplacing() []builtin {
	replace := func(name, doc string, limit int) builtin {
		return builtin{name: name, list: "(old new string &key regex)", doc: doc, many: true, named: func(c *Call, args Args) Value {
			return c.strReplace(args.Get("old"), args.Get("new"), args.Get("string"), args.True("regex"), limit)
		}}
	}
	return []builtin{
		replace("str:replace-all", "Every old replaced by new, and whether there was one; old is a pattern with :regex t.", -1),
		replace("str:replace-first", "The first old replaced by new, and whether there was one; old is a pattern with :regex t.", 1),
		{name: "str:replace-using", list: "(replacements string &key regex)", doc: "The string with each old of a list (old new …) replaced by its new.", named: func(c *Call, args Args) Value {
			regex := args.Get("regex")

			pairs, text := c.slice(args.Get("replacements")), args.Get("string")
			for i := 0; i < len(pairs); i += 2 {
				text = single(c.strReplace(c.str(pairs[i]), c.str(orNil(optional(pairs, i+1))), text, given(regex), -1))
			}
			return text
		}},
	}
}

func (c *Call) strReplace(old, with, text Value, regex bool, limit int) Value {
	if !regex {
		old = c.newList([]Value{kwSequence, c.newString(slices.Clone(c.chars(old)))})
		with = c.newList([]Value{c.str(with)})
	}
	return c.replaceMatches(replacement{pattern: old, target: text, with: with}, limit)
}

func strFilling() []builtin {
	pad := func(name, doc string, side *Symbol) builtin {
		return builtin{name: name, list: "(length string &key pad-char)", doc: doc, named: func(c *Call, args Args) Value {
			return c.strPad(args.Get("length"), args.Get("string"), side, c.strDefault(args.Get("pad-char"), "*PAD-CHAR*"))
		}}
	}
	return []builtin{
		{name: "str:pad", list: "(length string &key pad-side pad-char)", doc: "The string filled to length at :right, :left or :center.", named: func(c *Call, args Args) Value {
			return c.strPad(args.Get("length"), args.Get("string"), c.strDefault(args.Get("pad-side"), "*PAD-SIDE*"), c.strDefault(args.Get("pad-char"), "*PAD-CHAR*"))
		}},
		pad("str:pad-left", "The string filled to length at its beginning.", kwLeft),
		pad("str:pad-right", "The string filled to length at its end.", kwRight),
		pad("str:pad-center", "The string filled to length at both ends.", kwCenter),
		{name: "str:fit", list: "(length string &key pad-char pad-side ellipsis)", doc: "The string cut or filled to length.", named: func(c *Call, args Args) Value {
			length, stringArg := args.Get("length"), args.Get("string")

			side := args.Get("pad-side")
			if side == nil {
				side = kwRight
			}
			if c.fixnum(length) < int64(len(c.strChars(stringArg))) {
				return c.strShorten(length, stringArg, c.strDefault(args.Get("ellipsis"), "*ELLIPSIS*"))
			}
			return c.strPad(length, stringArg, side, c.strDefault(args.Get("pad-char"), "*PAD-CHAR*"))
		}},
	}
}

func (c *Call) strPad(length, v, side, pad Value) Value {
	chars, n, fill := c.strChars(v), c.fixnum(length), ' '
	if n < int64(len(chars)) {
		return v
	}
	switch x := pad.(type) {
	case Character:
		fill = rune(x)
	case *String:
		if len(x.chars) != 1 {
			c.fail(simpleError, "pad-char must be a character or a string of one character, not %s", c.shown(pad))
		}
		fill = x.chars[0]
	default:
		c.typeError(pad, "CHARACTER")
	}
	c.chargeMany(int(min(n, 1<<40)), runeBytes)
	left := 0
	switch side {
	case kwRight:
	case kwLeft:
		left = int(n) - len(chars)
	case kwCenter:
		left = (int(n) - len(chars)) / 2
	default:
		c.fail(simpleError, "%s is no side to fill: use :left, :right or :center", c.shown(side))
	}
	out := slices.Repeat([]rune{fill}, int(n))
	copy(out[left:], chars)
	return runesString(out)
}
