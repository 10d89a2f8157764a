package journal

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text: its place in bytes, and its form in lower case and without accents, by
// which it is found.
type word struct {
	start, end int
	folded     string
}

// wordsIn splits text into words, in the same way for the index, for queries and for snippets. A
// word is a run of letters, digits and their marks. In a script without blanks each character is a
// word, so that a phrase finds any part of a text.
func wordsIn(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		start := -1
		for i, r := range text {
			inside, single := 'a' <= r && r <= 'z', false
			if !inside {
				single = r >= firstUnblanked && unicode.In(r, unblanked...)
				inside = !single && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
			}
			if start >= 0 && !inside {
				if !yield(word{start, i, fold(text[start:i])}) {
					return
				}
				start = -1
			}
			switch {
			case single:
				if !yield(word{i, i + len(string(r)), string(r)}) {
					return
				}
			case inside && start < 0:
				start = i
			}
		}
		if start >= 0 {
			yield(word{start, len(text), fold(text[start:])})
		}
	}
}

// unblanked are the scripts without blanks between words.
var unblanked = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// firstUnblanked is the first character of those scripts: Thai.
const firstUnblanked = 0xe00

// accented are groups of letters: first the letter without an accent, then its accented forms.
var accented = []string{
	"aàáâãäåāăąǎǻạảấầẩẫậắằẳẵặ", "cçćĉċč", "dďđ", "eèéêëēĕėęěẹẻẽếềểễệ", "gĝğġģ", "hĥħ", "iìíîïĩīĭįıǐỉị", "jĵ", "kķ",
	"lĺļľŀł", "nñńņňŉ", "oòóôõöøōŏőǒọỏốồổỗộơớờởỡợ", "rŕŗř", "sśŝşšș", "tţťŧț", "uùúûüũūŭůűųǔụủưứừửữự", "wŵ", "yýÿŷỳỵỷỹ", "zźżž",
	"αά", "εέ", "ηή", "ιίϊΐ", "οό", "υύϋΰ", "ωώ", "σς", "её",
}

// unaccented maps each letter of accented to the first of its group.
var unaccented = func() map[rune]rune {
	letters := map[rune]rune{}
	for _, group := range accented {
		var plain rune
		for i, r := range group {
			if i == 0 {
				plain = r
			}
			letters[r] = plain
		}
	}
	return letters
}()

// fold returns a word in lower case and without accents. Accents may also be characters of their
// own.
func fold(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' }) < 0 {
		return word
	}
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if plain, ok := unaccented[r]; ok {
			return plain
		}
		if r >= 0x300 && r <= 0x36f { // combining accents
			return -1
		}
		return r
	}, word)
}

// searchBytes is the length of the beginning of a text that is indexed.
const searchBytes = 256 << 10

// indexed returns the part of the text that is indexed.
func indexed(text string) string {
	var b strings.Builder
	text = text[:min(len(text), searchBytes)]
	b.Grow(len(text))
	for w := range wordsIn(text) {
		if w.folded != "" {
			b.WriteString(w.folded)
			b.WriteByte(' ')
		}
	}
	return b.String()
}
