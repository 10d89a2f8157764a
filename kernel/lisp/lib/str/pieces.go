package str

import (
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib/ppcre"
)

func strPieces() []lisp.Builtin {
	shorten := func(name string) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(length string &key ellipsis)", Doc: "The string cut to length, with an ellipsis at its end.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return shorten(c, args.Get("length"), args.Get("string"), defaulted(c, args.Get("ellipsis"), "*ELLIPSIS*"))
		}}
	}
	end := func(name, doc string, piece func(chars []rune) []rune) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			chars := c.Chars(a)
			if len(chars) > 0 {
				chars = piece(chars)
			}
			return c.CopyRunes(chars)
		}}
	}
	return []lisp.Builtin{
		{Name: "substring", LambdaList: "(start end string)", Doc: "The part from start to end: end may be beyond the end, negative to count from it, or t or nil for it.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			chars := charsOrNone(c, args[2])
			n := int64(len(chars))
			from, to := max(0, c.Fixnum(args[0])), n
			if args[1] != lisp.Nil && args[1] != lisp.T {
				to = min(c.Fixnum(args[1]), n)
			}
			if to < -n {
				to = 0
			}
			if to < 0 {
				to += n
			}
			if from > n || to < from {
				return c.Text("")
			}
			return c.CopyRunes(chars[from:to])
		}},
		shorten("shorten"), shorten("prune"),
		end("s-first", "The first character as a string.", func(chars []rune) []rune { return chars[:1] }),
		end("s-last", "The last character as a string.", func(chars []rune) []rune { return chars[len(chars)-1:] }),
		end("s-rest", "All but the first character.", func(chars []rune) []rune { return chars[1:] }),
		{Name: "s-nth", LambdaList: "(n string)", Doc: "The nth character as a string, counted from 0; empty if there is none.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			if b == lisp.Nil {
				return lisp.Nil
			}
			n, chars := c.Fixnum(a), c.Chars(b)
			if n < 0 || n >= int64(len(chars)) {
				return c.Text("")
			}
			return c.CopyRunes(chars[n : n+1])
		}},
		{Name: "s-assoc-value", LambdaList: "(alist key)", Doc: "The value of a key in an alist, whatever its case, and the pair.", Many: true, Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			pair := lisp.Single(c.Standard("ASSOC", b, a, lisp.Keyword("TEST"), lisp.CL("STRING-EQUAL")))
			if cell, ok := pair.(*lisp.Cons); ok {
				return c.Values(cell.Cdr, cell)
			}
			return c.Values(lisp.Nil, lisp.Nil)
		}},
		{Name: "s-member", LambdaList: "(list string &key test ignore-case)", Doc: "True if a string is in a list.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			testArg := args.Get("test")
			test := lisp.Value(lisp.CL("STRING="))
			if testArg != nil {
				test = testArg
			}
			if lisp.Given(defaulted(c, args.Get("ignore-case"), "*IGNORE-CASE*")) {
				test = lisp.CL("STRING-EQUAL")
			}
			return lisp.Boolean(lisp.Single(c.Standard("MEMBER", args.Get("string"), args.Get("list"), lisp.Keyword("TEST"), test)) != lisp.Nil)
		}},
		{Name: "count-substring", LambdaList: "(substring string &key start end ignore-case)", Doc: "How often a substring occurs.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			part, chars := charsOrNone(c, args.Get("substring")), charsOrNone(c, stringArg)
			if len(part) == 0 || stringArg == lisp.Nil {
				return lisp.Nil
			}
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(chars))
			text, search := chars[from:to], part
			if lisp.Given(defaulted(c, args.Get("ignore-case"), "*IGNORE-CASE*")) {
				text, search = lowered(c, text), lowered(c, search)
			}
			return lisp.Count(strings.Count(c.GoText(text), c.GoText(search)))
		}},
	}
}

func shorten(c *lisp.Call, length, text, ellipsis lisp.Value) lisp.Value {
	if length == lisp.Nil {
		return text
	}
	n, chars := c.Fixnum(length), charsOrNone(c, text)
	if n >= int64(len(chars)) {
		return text
	}
	mark := charsOrNone(c, ellipsis)
	return c.StringOf(lisp.Concat(c, chars[:max(0, n-int64(len(mark)))], mark))
}

func strReplacing() []lisp.Builtin {
	replace := func(name, doc string, limit int) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(old new string &key regex)", Doc: doc, Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return replaceText(c, args.Get("old"), args.Get("new"), args.Get("string"), args.True("regex"), limit)
		}}
	}
	return []lisp.Builtin{
		replace("replace-all", "Every old replaced by new, and whether there was one; old is a pattern with :regex t.", -1),
		replace("replace-first", "The first old replaced by new, and whether there was one; old is a pattern with :regex t.", 1),
		{Name: "replace-using", LambdaList: "(replacements string &key regex)", Doc: "The string with each old of a list (old new …) replaced by its new.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			regex := args.Get("regex")
			pairs, text := c.Slice(args.Get("replacements")), args.Get("string")
			for i := 0; i < len(pairs); i += 2 {
				text = lisp.Single(replaceText(c, c.TakeString(pairs[i]), c.TakeString(lisp.OrNil(lisp.Optional(pairs, i+1))), text, lisp.Given(regex), -1))
			}
			return text
		}},
	}
}

func replaceText(c *lisp.Call, old, with, text lisp.Value, regex bool, limit int) lisp.Value {
	if !regex {
		old = c.NewList([]lisp.Value{sequenceKey, c.CopyRunes(c.Chars(old))})
		with = c.NewList([]lisp.Value{c.TakeString(with)})
	}
	return ppcre.Replace(c, ppcre.Replacement{Pattern: old, Target: text, With: with}, limit)
}

func strFilling() []lisp.Builtin {
	pad := func(name, doc string, side *lisp.Symbol) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(length string &key pad-char)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return strPad(c, args.Get("length"), args.Get("string"), side, defaulted(c, args.Get("pad-char"), "*PAD-CHAR*"))
		}}
	}
	return []lisp.Builtin{
		{Name: "pad", LambdaList: "(length string &key pad-side pad-char)", Doc: "The string filled to length at :right, :left or :center.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return strPad(c, args.Get("length"), args.Get("string"), defaulted(c, args.Get("pad-side"), "*PAD-SIDE*"), defaulted(c, args.Get("pad-char"), "*PAD-CHAR*"))
		}},
		pad("pad-left", "The string filled to length at its beginning.", kwLeft),
		pad("pad-right", "The string filled to length at its end.", kwRight),
		pad("pad-center", "The string filled to length at both ends.", kwCenter),
		{Name: "fit", LambdaList: "(length string &key pad-char pad-side ellipsis)", Doc: "The string cut or filled to length.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			length, stringArg := args.Get("length"), args.Get("string")
			side := args.Get("pad-side")
			if side == nil {
				side = kwRight
			}
			if c.Fixnum(length) < int64(len(charsOrNone(c, stringArg))) {
				return shorten(c, length, stringArg, defaulted(c, args.Get("ellipsis"), "*ELLIPSIS*"))
			}
			return strPad(c, length, stringArg, side, defaulted(c, args.Get("pad-char"), "*PAD-CHAR*"))
		}},
	}
}

func strPad(c *lisp.Call, length, v, side, pad lisp.Value) lisp.Value {
	chars, n, fill := charsOrNone(c, v), c.Fixnum(length), ' '
	if n < int64(len(chars)) {
		return v
	}
	switch x := pad.(type) {
	case lisp.Character:
		fill = rune(x)
	case *lisp.String:
		if len(x.Runes()) != 1 {
			c.Fail(lisp.SimpleError, "pad-char must be a character or a string of one character, not %s", c.Shown(pad))
		}
		fill = x.Runes()[0]
	default:
		c.TypeError(pad, "CHARACTER")
	}
	c.ChargeMany(int(min(n, 1<<40)), lisp.RuneBytes)
	left := 0
	switch side {
	case kwRight:
	case kwLeft:
		left = int(n) - len(chars)
	case kwCenter:
		left = (int(n) - len(chars)) / 2
	default:
		c.Fail(lisp.SimpleError, "%s is no side to fill: use :left, :right or :center", c.Shown(side))
	}
	out := slices.Repeat([]rune{fill}, int(n))
	copy(out[left:], chars)
	return c.StringOf(out)
}
