package lisp

import (
	"unicode"
	"unicode/utf16"
)

// characterFunctions are about characters.
func characterFunctions() []Builtin {
	test := func(name, doc string, test func(rune) bool) Builtin {
		return Builtin{Name: name, LambdaList: "(character)", Doc: doc, One: func(c *Call, a Value) Value { return Boolean(test(rune(c.Character(a)))) }}
	}
	rows := []Builtin{
		test("alpha-char-p", "True for a letter.", unicode.IsLetter),
		test("alphanumericp", "True for a letter or digit.", func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
		test("upper-case-p", "True for an upper case letter.", func(r rune) bool { return Lower(r) != r }),
		test("lower-case-p", "True for a lower case letter.", func(r rune) bool { return Upper(r) != r }),
		test("both-case-p", "True for a letter that has both cases.", func(r rune) bool { return Lower(r) != Upper(r) }),
		test("graphic-char-p", "True for a printing character.", func(r rune) bool { return r >= ' ' && r < 0x7f || r > 0x9f }),
		test("standard-char-p", "True for a printing ASCII character or newline.", func(r rune) bool { return r == '\n' || r >= ' ' && r < 0x7f }),
		{Name: "characterp", LambdaList: "(object)", Doc: "True for a character.", One: func(_ *Call, a Value) Value { _, ok := a.(Character); return Boolean(ok) }},
		{Name: "character", LambdaList: "(designator)", Doc: "The character that a string or symbol of length one names.", One: func(c *Call, a Value) Value { return c.designatedCharacter(a) }},
		{Name: "char-code", LambdaList: "(character)", Doc: "The code point.", One: func(c *Call, a Value) Value { return Integer(int64(c.Character(a))) }},
		{Name: "char-int", LambdaList: "(character)", Doc: "The code point.", One: func(c *Call, a Value) Value { return Integer(int64(c.Character(a))) }},
		{Name: "code-char", LambdaList: "(code)", Doc: "The character of a code point, nil for half of a surrogate pair.", One: func(c *Call, a Value) Value {
			n := c.Index(a)
			if n > unicode.MaxRune {
				c.TypeError(a, "(MOD 1114112)")
			}
			if utf16.IsSurrogate(rune(n)) {
				return Nil
			}
			return Character(n)
		}},
		{Name: "char-upcase", LambdaList: "(character)", Doc: "The upper case letter.", One: func(c *Call, a Value) Value { return Character(Upper(rune(c.Character(a)))) }},
		{Name: "char-downcase", LambdaList: "(character)", Doc: "The lower case letter.", One: func(c *Call, a Value) Value { return Character(Lower(rune(c.Character(a)))) }},
		{Name: "char-name", LambdaList: "(character)", Doc: "The name of a character.", One: func(c *Call, a Value) Value {
			if name := fullCharacterName(rune(c.Character(a))); name != "" {
				return c.Text(name)
			}
			return Nil
		}},
		{Name: "name-char", LambdaList: "(name)", Doc: "The character of that name, or nil.", One: func(c *Call, a Value) Value {
			if ch, ok := characterNamed(c.Name(a)); ok && len(c.Chars(a)) > 1 {
				return ch
			}
			return Nil
		}},
		{Name: "digit-char-p", LambdaList: "(character &optional radix)", Doc: "The weight of a digit, or nil.", Named: func(c *Call, args Args) Value {
			radixArg := args.Get("radix")

			radix := 10
			if radixArg != nil {
				radix = c.radix(radixArg)
			}
			if n := DigitWeight(rune(c.Character(args.Get("character")))); n >= 0 && n < radix {
				return Count(n)
			}
			return Nil
		}},
		{Name: "digit-char", LambdaList: "(weight &optional radix)", Doc: "The digit of a weight, or nil.", Named: func(c *Call, args Args) Value {
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
	if chars := c.Chars(v); len(chars) == 1 {
		return Character(chars[0])
	}
	c.TypeError(v, "CHARACTER")
	return nil
}

// DigitWeight is the value of a decimal digit of any script or of a Latin letter, -1 for
// other characters.
func DigitWeight(r rune) int {
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

// Upper and lower change letters that have exactly one counterpart, as SBCL does.
func Upper(r rune) rune {
	if u := unicode.ToUpper(r); u != r && unicode.ToLower(u) == r {
		return u
	}
	return r
}

func Lower(r rune) rune {
	if l := unicode.ToLower(r); l != r && unicode.ToUpper(l) == r {
		return l
	}
	return r
}

func same(r rune) rune { return r }

func characterComparisons() []Builtin {
	chain := func(name string, fold func(rune) rune, test func(order int) bool) Builtin {
		pair := func(c *Call, a, b Value) Value {
			return Boolean(test(int(fold(rune(c.Character(a)))) - int(fold(rune(c.Character(b))))))
		}
		return Builtin{Name: name, LambdaList: "(character &rest more)", Doc: "Compare characters in sequence.", Two: pair, Call: func(c *Call, args []Value) Value {
			c.Character(args[0])
			for i := 1; i < len(args); i++ {
				if pair(c, args[i-1], args[i]) == Nil {
					return Nil
				}
			}
			return T
		}}
	}
	different := func(name string, fold func(rune) rune) Builtin {
		return Builtin{Name: name, LambdaList: "(character &rest more)", Doc: "True if all are different.", Call: func(c *Call, args []Value) Value {
			seen := map[rune]bool{}
			for _, arg := range args {
				c.Charge(EntryBytes)
				r := fold(rune(c.Character(arg)))
				if seen[r] {
					return Nil
				}
				seen[r] = true
			}
			return T
		}}
	}
	return []Builtin{
		chain("char=", same, func(o int) bool { return o == 0 }), chain("char<", same, func(o int) bool { return o < 0 }),
		chain("char>", same, func(o int) bool { return o > 0 }), chain("char<=", same, func(o int) bool { return o <= 0 }),
		chain("char>=", same, func(o int) bool { return o >= 0 }), different("char/=", same),
		chain("char-equal", Lower, func(o int) bool { return o == 0 }), chain("char-lessp", Lower, func(o int) bool { return o < 0 }),
		chain("char-greaterp", Lower, func(o int) bool { return o > 0 }), chain("char-not-greaterp", Lower, func(o int) bool { return o <= 0 }),
		chain("char-not-lessp", Lower, func(o int) bool { return o >= 0 }), different("char-not-equal", Lower),
	}
}
