package lisp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// characterNames are the names that are printed; characterAliases are read besides.
var (
	characterNames = map[rune]string{
		' ': "Space", '\n': "Newline", '\t': "Tab", '\r': "Return", '\f': "Page", '\b': "Backspace", 0x7f: "Rubout", 0: "Nul",
		1: "Soh", 2: "Stx", 3: "Etx", 4: "Eot", 5: "Enq", 6: "Ack", 0xb: "Vt", 0xe: "So", 0xf: "Si", 0x10: "Dle", 0x11: "Dc1", 0x12: "Dc2",
		0x13: "Dc3", 0x14: "Dc4", 0x15: "Nak", 0x16: "Syn", 0x17: "Etb", 0x18: "Can", 0x19: "Em", 0x1a: "Sub", 0x1c: "Fs", 0x1d: "Gs", 0x1e: "Rs", 0x1f: "Us",
		0x1b: "Esc", 0xa0: "NO-BREAK_SPACE", 7: "Bel", 0x200b: "ZERO_WIDTH_SPACE",
	}
	characterAliases = map[string]rune{
		"linefeed": '\n', "lf": '\n', "null": 0, "escape": 0x1b, "delete": 0x7f, "del": 0x7f, "bell": 7, "cr": '\r', "ff": '\f', "ht": '\t', "sp": ' ', "altmode": 0x1b,
	}
)

func characterNamed(name string) (Character, bool) {
	if r, n := utf8.DecodeRuneInString(name); n == len(name) {
		return Character(r), true
	}
	for r, known := range characterNames {
		if strings.EqualFold(known, name) {
			return Character(r), true
		}
	}
	if r, ok := characterAliases[strings.ToLower(name)]; ok {
		return Character(r), true
	}
	if len(name) > 1 && (name[0] == 'U' || name[0] == 'u') {
		if n, err := strconv.ParseUint(strings.TrimPrefix(name[1:], "+"), 16, 32); err == nil && n <= unicode.MaxRune {
			return Character(n), true
		}
	}
	return 0, false
}

// characterName is what prin1 prints behind #\.
func characterName(ch Character) string {
	if name, ok := characterNames[rune(ch)]; ok {
		return name
	}
	if !unicode.IsPrint(rune(ch)) {
		return fmt.Sprintf("U%X", int(ch))
	}
	return string(rune(ch))
}

// characterFunctions are about characters.
func characterFunctions() []builtin {
	test := func(name, doc string, test func(rune) bool) builtin {
		return builtin{name: name, list: "(character)", doc: doc, one: func(c *Call, a Value) Value { return Boolean(test(rune(c.character(a)))) }}
	}
	rows := []builtin{
		test("alpha-char-p", "True for a letter.", unicode.IsLetter),
		test("alphanumericp", "True for a letter or digit.", func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
		test("upper-case-p", "True for an upper case letter.", func(r rune) bool { return unicode.IsUpper(r) && unicode.ToLower(r) != r }),
		test("lower-case-p", "True for a lower case letter.", func(r rune) bool { return unicode.IsLower(r) && unicode.ToUpper(r) != r }),
		test("both-case-p", "True for a letter that has both cases.", func(r rune) bool { return unicode.ToUpper(r) != unicode.ToLower(r) }),
		test("graphic-char-p", "True for a printing character.", func(r rune) bool { return r == ' ' || unicode.IsGraphic(r) }),
		test("standard-char-p", "True for a printing ASCII character or newline.", func(r rune) bool { return r == '\n' || r >= ' ' && r < 0x7f }),
		{name: "characterp", list: "(object)", doc: "True for a character.", one: func(_ *Call, a Value) Value { _, ok := a.(Character); return Boolean(ok) }},
		{name: "character", list: "(designator)", doc: "The character that a string or symbol of length one names.", one: func(c *Call, a Value) Value { return c.designatedCharacter(a) }},
		{name: "char-code", list: "(character)", doc: "The code point.", one: func(c *Call, a Value) Value { return Integer(int64(c.character(a))) }},
		{name: "char-int", list: "(character)", doc: "The code point.", one: func(c *Call, a Value) Value { return Integer(int64(c.character(a))) }},
		{name: "code-char", list: "(code)", doc: "The character of a code point.", one: func(c *Call, a Value) Value {
			n := c.index(a)
			if n > unicode.MaxRune {
				c.typeError(a, "(INTEGER 0 1114111)")
			}
			return Character(n)
		}},
		{name: "char-upcase", list: "(character)", doc: "The upper case letter.", one: func(c *Call, a Value) Value { return Character(upper(rune(c.character(a)))) }},
		{name: "char-downcase", list: "(character)", doc: "The lower case letter.", one: func(c *Call, a Value) Value { return Character(lower(rune(c.character(a)))) }},
		{name: "char-name", list: "(character)", doc: "The name of a character.", one: func(c *Call, a Value) Value {
			name := characterName(c.character(a))
			if utf8.RuneCountInString(name) == 1 {
				return Nil
			}
			return c.text(name)
		}},
		{name: "name-char", list: "(name)", doc: "The character of that name, or nil.", one: func(c *Call, a Value) Value {
			if ch, ok := characterNamed(c.name(a)); ok && len(c.chars(a)) > 1 {
				return ch
			}
			return Nil
		}},
		{name: "digit-char-p", list: "(character &optional radix)", doc: "The weight of a digit, or nil.", call: func(c *Call, args []Value) Value {
			radix := 10
			if len(args) > 1 {
				radix = c.radix(args[1])
			}
			if n := digitWeight(rune(c.character(args[0]))); n >= 0 && n < radix {
				return count(n)
			}
			return Nil
		}},
		{name: "digit-char", list: "(weight &optional radix)", doc: "The digit of a weight, or nil.", call: func(c *Call, args []Value) Value {
			radix := 10
			if len(args) > 1 {
				radix = c.radix(args[1])
			}
			n := c.index(args[0])
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

func digitWeight(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= 'a' && r <= 'z':
		return int(r-'a') + 10
	case r >= 'A' && r <= 'Z':
		return int(r-'A') + 10
	}
	return -1
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
