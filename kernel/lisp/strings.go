package lisp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// stringFunctions make and change strings.
func stringFunctions() []Builtin {
	convert := func(name, doc string, change func([]rune)) Builtin {
		return Builtin{Name: name, LambdaList: "(string &key start end)", Doc: doc, Named: func(c *Call, args Args) Value {
			chars := c.Chars(args.Get("string"))
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(chars))
			result := c.CopyRunes(chars)
			change(result.chars[from:to])
			return result
		}}
	}
	destroy := func(name, doc string, change func([]rune)) Builtin {
		return Builtin{Name: name, LambdaList: "(string &key start end)", Doc: doc, Named: func(c *Call, args Args) Value {
			s := c.TakeString(args.Get("string"))
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
			c.Work(to - from)
			change(s.chars[from:to])
			return s
		}}
	}
	trim := func(name, doc string, left, right bool) Builtin {
		return Builtin{Name: name, LambdaList: "(characters string)", Doc: doc, Two: func(c *Call, a, b Value) Value { return trimString(c, a, b, left, right) }}
	}
	return []Builtin{
		{Name: "string", LambdaList: "(designator)", Doc: "The string that a symbol or character names.", One: func(c *Call, a Value) Value {
			if s, ok := a.(*String); ok {
				return s
			}
			return c.CopyRunes(c.Chars(a))
		}},
		{Name: "make-string", LambdaList: "(size &key initial-element element-type)", Doc: "A string of size characters.", Named: func(c *Call, args Args) Value {
			initialElement := args.Get("initial-element")
			n := c.Index(args.Get("size"))
			chars := MakeSlice[rune](c, n)
			if initialElement != nil {
				r := rune(c.Character(initialElement))
				for i := range chars {
					chars[i] = r
				}
			}
			return c.StringOf(chars)
		}},
		convert("string-upcase", "The string in upper case.", func(rs []rune) { MapRunes(rs, Upper) }),
		convert("string-downcase", "The string in lower case.", func(rs []rune) { MapRunes(rs, Lower) }),
		convert("string-capitalize", "Each word with a capital.", Capitalize),
		destroy("nstring-upcase", "Change to upper case.", func(rs []rune) { MapRunes(rs, Upper) }),
		destroy("nstring-downcase", "Change to lower case.", func(rs []rune) { MapRunes(rs, Lower) }),
		destroy("nstring-capitalize", "Change each word to have a capital.", Capitalize),
		trim("string-trim", "The string without the characters at both ends.", true, true),
		trim("string-left-trim", "The string without the characters at its beginning.", true, false),
		trim("string-right-trim", "The string without the characters at its end.", false, true),
		{Name: "parse-integer", LambdaList: "(string &key start end radix junk-allowed)", Doc: "The integer in a string, and where it ends.", Many: true, Named: parseInteger},
	}
}

// MapRunes changes characters in place.
func MapRunes(chars []rune, change func(rune) rune) {
	for i, r := range chars {
		chars[i] = change(r)
	}
}

// Capitalize gives each word of characters a capital, in place.
func Capitalize(chars []rune) {
	inside := false
	for i, r := range chars {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			inside = false
		case inside:
			chars[i] = Lower(r)
		default:
			chars[i] = Upper(r)
			inside = true
		}
	}
}

func trimString(c *Call, bag, v Value, left, right bool) Value {
	chars := c.Chars(v)
	var set []rune
	if s, ok := bag.(*String); ok {
		set = s.chars
	} else {
		for _, item := range c.Elements(bag) {
			set = Append(c, set, rune(c.Character(item)))
		}
	}
	in := func(r rune) bool {
		c.Work(len(set)/8 + 1)
		for _, other := range set {
			if other == r {
				return true
			}
		}
		return false
	}
	from, to := 0, len(chars)
	for left && from < to && in(chars[from]) {
		from++
	}
	for right && to > from && in(chars[to-1]) {
		to--
	}
	if s, ok := v.(*String); ok && from == 0 && to == len(chars) {
		return s
	}
	return c.CopyRunes(chars[from:to])
}

func parseInteger(c *Call, args Args) Value {
	radixArg, junkAllowed := args.Get("radix"), args.Get("junk-allowed")
	s := c.TakeString(args.Get("string"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
	radix, junk := 10, junkAllowed != nil && junkAllowed != Nil
	if radixArg != nil {
		radix = c.radix(radixArg)
	}
	i := from
	for i < to && unicode.IsSpace(s.chars[i]) {
		i++
	}
	negative := false
	if i < to && (s.chars[i] == '-' || s.chars[i] == '+') {
		negative = s.chars[i] == '-'
		i++
	}
	digits := i
	for i < to {
		if n := DigitWeight(s.chars[i]); n < 0 || n >= radix {
			break
		}
		i++
	}
	end := i
	for !junk && end < to && unicode.IsSpace(s.chars[end]) {
		end++
	}
	if digits == i || !junk && end < to {
		switch {
		case junk:
			return c.Values(Nil, Count(i))
		case end < to:
			c.Fail(ParseError, "junk in string %s", c.Shown(s))
		case !negative && digits == to && strings.TrimSpace(string(s.chars[from:to])) == "":
			c.Fail(ParseError, "no non-whitespace characters in string %s.", c.Shown(s))
		}
		c.Fail(ParseError, "no digits in string %s", c.Shown(s))
	}
	plain := MakeSlice[byte](c, i-digits)[:0]
	for _, r := range s.chars[digits:i] {
		plain = strconv.AppendInt(plain, int64(DigitWeight(r)), 36)
	}
	n, _ := c.ParseInteger(string(plain), radix)
	if negative {
		n.Neg(n)
	}
	if junk {
		end = i
	}
	return c.Values(normal(n), Count(end))
}

var (
	symStringCompare = []string{"string=", "string<", "string>", "string<=", "string>=", "string/="}
)

// stringComparisons compare strings and string designators.
func stringComparisons() []Builtin {
	tests := []func(order int) bool{
		func(o int) bool { return o == 0 }, func(o int) bool { return o < 0 }, func(o int) bool { return o > 0 },
		func(o int) bool { return o <= 0 }, func(o int) bool { return o >= 0 }, func(o int) bool { return o != 0 },
	}
	folded := []string{"string-equal", "string-lessp", "string-greaterp", "string-not-greaterp", "string-not-lessp", "string-not-equal"}
	var rows []Builtin
	for i, test := range tests {
		rows = append(rows, stringComparison(symStringCompare[i], test, i == 0, same), stringComparison(folded[i], test, i == 0, Lower))
	}
	return append(rows, Builtin{Name: "stringp", LambdaList: "(object)", Doc: "True for a string.", One: func(_ *Call, a Value) Value { _, ok := a.(*String); return Boolean(ok) }})
}

// stringComparison yields the index of the first difference where the test holds, or
// just T for equality.
func stringComparison(name string, test func(int) bool, equality bool, fold func(rune) rune) Builtin {
	compare := func(c *Call, a, b []rune, offset int) Value {
		c.Work(min(len(a), len(b)) / 4)
		i := 0
		for i < len(a) && i < len(b) && fold(a[i]) == fold(b[i]) {
			i++
		}
		order := 0
		switch {
		case i == len(a) && i == len(b):
		case i == len(a):
			order = -1
		case i == len(b):
			order = 1
		default:
			order = int(fold(a[i])) - int(fold(b[i]))
		}
		if !test(order) {
			return Nil
		}
		if equality {
			return T
		}
		return Count(i + offset)
	}
	return Builtin{Name: name, LambdaList: "(a b &key start1 end1 start2 end2)", Doc: "Compare two strings.",
		Two: func(c *Call, a, b Value) Value { return compare(c, c.Chars(a), c.Chars(b), 0) },
		Named: func(c *Call, args Args) Value {
			a, b := c.Chars(args.Get("a")), c.Chars(args.Get("b"))
			from1, to1 := c.Bounds(args.Get("start1"), args.Get("end1"), len(a))
			from2, to2 := c.Bounds(args.Get("start2"), args.Get("end2"), len(b))
			return compare(c, a[from1:to1], b[from2:to2], from1)
		}}
}

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

// Lower and Upper change the case of a character as the standard does: to one character.
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
				r := fold(rune(c.Character(arg)))
				if seen[r] {
					return Nil
				}
				Insert(c, seen, r, true)
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

// controlNames are the names of the characters that do not show, as they are printed.
var controlNames = strings.Fields("Nul Soh Stx Etx Eot Enq Ack Bel Backspace Tab Newline Vt Page Return So Si " +
	"Dle Dc1 Dc2 Dc3 Dc4 Nak Syn Etb Can Em Sub Esc Fs Gs Rs Us Space")

// Characters beyond those with a name of their own, and names that are read besides.
var (
	characterNames   = map[rune]string{0x7f: "Rubout", 0xa0: "NO-BREAK_SPACE", 0x200b: "ZERO_WIDTH_SPACE", 0xfeff: "ZERO_WIDTH_NO-BREAK_SPACE"}
	characterAliases = map[string]rune{
		"linefeed": '\n', "lf": '\n', "null": 0, "escape": 0x1b, "delete": 0x7f, "del": 0x7f, "bell": 7, "cr": '\r', "ff": '\f', "ht": '\t', "sp": ' ',
		"altmode": 0x1b, "bs": 8, "nl": '\n', "formfeed": '\f',
	}
)

// Names of the characters of ASCII that show, as Unicode has them.
var (
	digitNames       = strings.Fields("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE")
	punctuationNames = map[rune]string{
		'!': "EXCLAMATION_MARK", '"': "QUOTATION_MARK", '#': "NUMBER_SIGN", '$': "DOLLAR_SIGN", '%': "PERCENT_SIGN", '&': "AMPERSAND", '\'': "APOSTROPHE",
		'(': "LEFT_PARENTHESIS", ')': "RIGHT_PARENTHESIS", '*': "ASTERISK", '+': "PLUS_SIGN", ',': "COMMA", '-': "HYPHEN-MINUS", '.': "FULL_STOP", '/': "SOLIDUS",
		':': "COLON", ';': "SEMICOLON", '<': "LESS-THAN_SIGN", '=': "EQUALS_SIGN", '>': "GREATER-THAN_SIGN", '?': "QUESTION_MARK", '@': "COMMERCIAL_AT",
		'[': "LEFT_SQUARE_BRACKET", '\\': "REVERSE_SOLIDUS", ']': "RIGHT_SQUARE_BRACKET", '^': "CIRCUMFLEX_ACCENT", '_': "LOW_LINE", '`': "GRAVE_ACCENT",
		'{': "LEFT_CURLY_BRACKET", '|': "VERTICAL_LINE", '}': "RIGHT_CURLY_BRACKET", '~': "TILDE",
	}
)

// shownName is the name of a character that would not show, "" for others.
func shownName(r rune) string {
	if r >= 0 && int(r) < len(controlNames) {
		return controlNames[r]
	}
	return characterNames[r]
}

// fullCharacterName is what char-name returns: also the Unicode names of ASCII; "" for
// characters whose name is not known here.
func fullCharacterName(r rune) string {
	switch name := shownName(r); {
	case name != "":
		return name
	case r >= 'a' && r <= 'z':
		return "LATIN_SMALL_LETTER_" + string(r-'a'+'A')
	case r >= 'A' && r <= 'Z':
		return "LATIN_CAPITAL_LETTER_" + string(r)
	case r >= '0' && r <= '9':
		return "DIGIT_" + digitNames[r-'0']
	case !unicode.IsPrint(r):
		return fmt.Sprintf("U%X", r)
	}
	return punctuationNames[r]
}

// characterName is what prin1 prints behind #\.
func characterName(ch Character) string {
	if name := shownName(rune(ch)); name != "" {
		return name
	}
	if !unicode.IsPrint(rune(ch)) {
		return fmt.Sprintf("U%X", int(ch))
	}
	return string(rune(ch))
}

// characterNamed finds the character that #\NAME reads as; case does not count.
func characterNamed(name string) (Character, bool) {
	if r, n := utf8.DecodeRuneInString(name); n == len(name) {
		return Character(r), true
	}
	for r := range rune(128) {
		if strings.EqualFold(fullCharacterName(r), name) {
			return Character(r), true
		}
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
