package lisp

import (
	"strings"
	"unicode"
)

// lispName turns the name of a JSON field into that of a symbol, as cl-json does: words
// that begin with capitals are parted by hyphens, an underscore becomes two, a capital
// at the beginning is marked by *, words in capitals stand between +.
func lispName(name string) string {
	chars := []rune(name)
	var b strings.Builder
	for i := 0; i < len(chars); {
		end := wordEnd(chars, i)
		word := string(chars[i:end])
		first := i == 0 || chars[i-1] == '_'
		switch {
		case chars[i] == '_':
			b.WriteString("--")
		case unicode.IsUpper(chars[i]) && end-i > 1 && strings.ToUpper(word) == word:
			if !first && isWordRune(chars[i-1]) {
				b.WriteByte('-')
			}
			b.WriteString("+" + word + "+")
		case unicode.IsUpper(chars[i]):
			if first || !isWordRune(chars[i-1]) {
				b.WriteByte('*')
			} else {
				b.WriteByte('-')
			}
			b.WriteString(strings.ToUpper(word))
		default:
			if i > 0 && unicode.IsUpper(chars[i-1]) && isWordRune(chars[i]) {
				b.WriteByte('-')
			}
			b.WriteString(strings.ToUpper(word))
		}
		i = end
	}
	return b.String()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordEnd is where the word that begins at i ends: a run of capitals, a capital and
// what is small behind it, a run without capitals, or one other character.
func wordEnd(chars []rune, i int) int {
	end := i + 1
	switch {
	case !isWordRune(chars[i]):
		return end
	case !unicode.IsUpper(chars[i]):
		for end < len(chars) && isWordRune(chars[end]) && !unicode.IsUpper(chars[end]) {
			end++
		}
		return end
	}
	for end < len(chars) && (unicode.IsUpper(chars[end]) || end-i > 1 && unicode.IsDigit(chars[end])) {
		end++
	}
	if end-i > 1 {
		if end < len(chars) && unicode.IsLower(chars[end]) {
			end-- // the last capital begins the next word
		}
		if end-i > 1 {
			return end
		}
		end = i + 1
	}
	for end < len(chars) && isWordRune(chars[end]) && !unicode.IsUpper(chars[end]) {
		end++
	}
	return end
}

// fieldName is the inverse of lispName.
func fieldName(name string) string {
	chars := []rune(name)
	var b strings.Builder
	begin, capital, capitals := true, false, false
	for i := 0; i < len(chars); i++ {
		switch r := chars[i]; {
		case r == '*' && begin:
			capital = true
			continue
		case r == '+' && capitals:
			capitals, begin = false, true
			continue
		case r == '+' && begin:
			capitals = true
			continue
		case r == '-':
			begin = true
			if capitals {
				b.WriteByte('_')
			} else if i+1 < len(chars) && chars[i+1] == '-' {
				i++
				b.WriteByte('_')
			} else {
				capital = true
			}
			continue
		case capital || capitals:
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		capital, begin = false, false
	}
	return b.String()
}
