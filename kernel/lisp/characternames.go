package lisp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
