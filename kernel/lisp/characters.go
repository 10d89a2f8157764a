package lisp

import (
	"unicode"
	"unicode/utf16"
)

// characterFunctions are about characters.
func characterFunctions() []builtin {
	test := func(name, doc string, test func(rune) bool) builtin {
		return builtin{name: name, list: "(character)", doc: doc, one: func(c *Call, a Value) Value { return Boolean(test(rune(c.character(a)))) }}
	}
	rows := []builtin{
		test("alpha-char-p", "True for a letter.", unicode.IsLetter),
		test("alphanumericp", "True for a letter or digit.", func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
		test("upper-case-p", "True for an upper case letter.", func(r rune) bool { return lower(r) != r }),
		test("lower-case-p", "True for a lower case letter.", func(r rune) bool { return upper(r) != r }),
		test("both-case-p", "True for a letter that has both cases.", func(r rune) bool { return lower(r) != upper(r) }),
		test("graphic-char-p", "True for a printing character.", func(r rune) bool { return r >= ' ' && r < 0x7f || r > 0x9f }),
		test("standard-char-p", "True for a printing ASCII character or newline.", func(r rune) bool { return r == '\n' || r >= ' ' && r < 0x7f }),
		{name: "characterp", list: "(object)", doc: "True for a character.", one: func(_ *Call, a Value) Value { _, ok := a.(Character); return Boolean(ok) }},
		{name: "character", list: "(designator)", doc: "The character that a string or symbol of length one names.", one: func(c *Call, a Value) Value { return c.designatedCharacter(a) }},
		{name: "char-code", list: "(character)", doc: "The code point.", one: func(c *Call, a Value) Value { return Integer(int64(c.character(a))) }},
		{name: "char-int", list: "(character)", doc: "The code point.", one: func(c *Call, a Value) Value { return Integer(int64(c.character(a))) }},
		{name: "code-char", list: "(code)", doc: "The character of a code point, nil for half of a surrogate pair.", one: func(c *Call, a Value) Value {
			n := c.index(a)
			if n > unicode.MaxRune {
				c.typeError(a, "(MOD 1114112)")
			}
			if utf16.IsSurrogate(rune(n)) {
				return Nil
			}
			return Character(n)
		}},
		{name: "char-upcase", list: "(character)", doc: "The upper case letter.", one: func(c *Call, a Value) Value { return Character(upper(rune(c.character(a)))) }},
		{name: "char-downcase", list: "(character)", doc: "The lower case letter.", one: func(c *Call, a Value) Value { return Character(lower(rune(c.character(a)))) }},
		{name: "char-name", list: "(character)", doc: "The name of a character.", one: func(c *Call, a Value) Value {
			if name := fullCharacterName(rune(c.character(a))); name != "" {
				return c.text(name)
			}
			return Nil
		}},
		{name: "name-char", list: "(name)", doc: "The character of that name, or nil.", one: func(c *Call, a Value) Value {
			if ch, ok := characterNamed(c.name(a)); ok && len(c.chars(a)) > 1 {
				return ch
			}
			return Nil
		}},
		{name: "digit-char-p", list: "(character &optional radix)", doc: "The weight of a digit, or nil.", named: func(c *Call, args Args) Value {
			radixArg := args.Get("radix")

			radix := 10
			if radixArg != nil {
				radix = c.radix(radixArg)
			}
			if n := digitWeight(rune(c.character(args.Get("character")))); n >= 0 && n < radix {
				return count(n)
			}
			return Nil
		}},
		{name: "digit-char", list: "(weight &optional radix)", doc: "The digit of a weight, or nil.", named: func(c *Call, args Args) Value {
			radixArg := args.Get("radix")

			radix := 10
			if radixArg != nil {
				radix = c.radix(radixArg)
			}
			n := c.amount(args.Get("weight"))
			if n >= radix {
				return Nil
			}
			return Character("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n])
		}},
	}
	return append(rows, characterComparisons()...)
}

// designatedCharacter takes a character, or a string or symbol of length one.
func (c *Call) designatedCharacter(v Value) Value {
	if chars := c.chars(v); len(chars) == 1 {
		return Character(chars[0])
	}
	c.typeError(v, "CHARACTER")
	return nil
}

// digitWeight is the value of a decimal digit of any script or of a Latin letter, -1 for
// other characters.
func digitWeight(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= 'a' && r <= 'z':
		return int(r-'a') + 10
	case r >= 'A' && r <= 'Z':
		return int(r-'A') + 10
	case r < 128 || !unicode.IsDigit(r):
		return -1
	}
	zero := r // the digits of a script are in blocks of ten that follow one another
	for unicode.IsDigit(zero - 1) {
		zero--
	}
	return int(r-zero) % 10
}

// upper and lower change letters that have exactly one counterpart, as SBCL does.
func upper(r rune) rune {
	if u := unicode.ToUpper(r); u != r && unicode.ToLower(u) == r {
		return u
	}
	return r
}

func lower(r rune) rune {
	if l := unicode.ToLower(r); l != r && unicode.ToUpper(l) == r {
		return l
	}
	return r
}

func same(r rune) rune { return r }

func characterComparisons() []builtin {
	chain := func(name string, fold func(rune) rune, test func(order int) bool) builtin {
		pair := func(c *Call, a, b Value) Value {
			return Boolean(test(int(fold(rune(c.character(a)))) - int(fold(rune(c.character(b))))))
		}
		return builtin{name: name, list: "(character &rest more)", doc: "Compare characters in sequence.", two: pair, call: func(c *Call, args []Value) Value {
			c.character(args[0])
			for i := 1; i < len(args); i++ {
				if pair(c, args[i-1], args[i]) == Nil {
					return Nil
				}
			}
			return T
		}}
	}
	different := func(name string, fold func(rune) rune) builtin {
		return builtin{name: name, list: "(character &rest more)", doc: "True if all are different.", call: func(c *Call, args []Value) Value {
			seen := map[rune]bool{}
			for _, arg := range args {
				c.charge(entryBytes)
				r := fold(rune(c.character(arg)))
				if seen[r] {
					return Nil
				}
				seen[r] = true
			}
			return T
		}}
	}
	return []builtin{
		chain("char=", same, func(o int) bool { return o == 0 }), chain("char<", same, func(o int) bool { return o < 0 }),
		chain("char>", same, func(o int) bool { return o > 0 }), chain("char<=", same, func(o int) bool { return o <= 0 }),
		chain("char>=", same, func(o int) bool { return o >= 0 }), different("char/=", same),
		chain("char-equal", lower, func(o int) bool { return o == 0 }), chain("char-lessp", lower, func(o int) bool { return o < 0 }),
		chain("char-greaterp", lower, func(o int) bool { return o > 0 }), chain("char-not-greaterp", lower, func(o int) bool { return o <= 0 }),
		chain("char-not-lessp", lower, func(o int) bool { return o >= 0 }), different("char-not-equal", lower),
	}
}
