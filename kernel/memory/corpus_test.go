package memory_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// corpus writes notes as people have them: a language of 200,000 pronounceable words whose
// frequencies follow Zipf's law; accents, numbers, and now and then a text of Han characters;
// headings below headings with tags, properties, timestamps, lists, links and source. The same seed
// writes the same notes.
//
// Numbers with a letter before them would be no such language: the hash of FTS5 puts many of them
// in one place, and finds one in four times as many steps.
type corpus struct {
	random *rand.Rand
	words  []string // the most frequent first
	ranks  *rand.Zipf
	han    *rand.Zipf
}

// corpusWords is how many words the language has.
const corpusWords = 200_000

var (
	onsets = strings.Split("  b c d f g h j k l m n p r s t v w z b d f h k l m n p r s t w br ch dr gr pr qu sh st th", " ")
	nuclei = strings.Split("a e i o u a e i o u a e i o u a e i o ai ea ie oo ou é ü ø", " ")
	codas  = strings.Split("    d l m n n r r s s t t nd ng rd st", " ")
)

func newCorpus(seed uint64) *corpus {
	c := &corpus{random: rand.New(rand.NewPCG(seed, 2))}
	c.ranks, c.han = rand.NewZipf(c.random, 1.1, 3, corpusWords-1), rand.NewZipf(c.random, 1.1, 20, 3000)
	known := map[string]bool{}
	for len(c.words) < corpusWords {
		syllables := 1
		for _, rank := range []int{800, 20_000} {
			if len(c.words) >= rank {
				syllables += 1 + c.random.IntN(2)
			}
		}
		var word string
		for range syllables {
			word += c.of(onsets) + c.of(nuclei)
		}
		if word += c.of(codas); !known[word] {
			known[word] = true
			c.words = append(c.words, word)
		}
	}
	return c
}

func (c *corpus) of(some []string) string { return some[c.random.IntN(len(some))] }

// text returns that many words, in sentences.
func (c *corpus) text(words int) string {
	var t strings.Builder
	left := 0 // in this sentence
	for range words {
		word := c.words[c.ranks.Uint64()]
		if c.random.IntN(50) == 0 {
			word = strconv.Itoa(c.random.IntN(1 + c.random.IntN(1+c.random.IntN(1_000_000))))
		}
		switch {
		case left == 0:
			if t.Len() > 0 {
				t.WriteString(". ")
			}
			left, word = 6+c.random.IntN(14), capitalised(word)
		case left%7 == 0:
			t.WriteString(", ")
		case left%11 == 0:
			t.WriteByte('\n')
		default:
			t.WriteByte(' ')
		}
		left--
		t.WriteString(word)
	}
	return t.String()
}

// capitalised returns a word with a capital letter first.
func capitalised(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

// chinese returns that many Han characters.
func (c *corpus) chinese(characters int) string {
	var t strings.Builder
	for i := range characters {
		if i%17 == 16 {
			t.WriteRune('，')
		}
		t.WriteRune(rune(0x4e00 + c.han.Uint64()))
	}
	return t.String()
}

// body returns the text below a heading.
func (c *corpus) body() string {
	switch c.random.IntN(20) {
	case 0:
		return c.chinese(80) + "。"
	case 1:
		return "- " + c.text(12) + "\n- [X] " + c.text(9) + "\n  1. " + c.text(20)
	case 2:
		return "#+begin_src python\ndef " + c.text(1) + "(" + c.text(1) + "):\n    return " + fmt.Sprint(c.random.IntN(10_000)) + "\n#+end_src\n" + c.text(30)
	case 3:
		return c.text(20) + " [[https://example.org/" + c.text(1) + "][" + c.text(2) + "]] " + c.text(30)
	}
	return c.text(30+c.random.IntN(40)) + ".\n\n" + c.text(15)
}

// note returns the note with that number, with that many headings.
func (c *corpus) note(number, headings int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "#+TITLE: %s\n#+FILETAGS: :%s:\n\n%s.\n", c.text(3), c.text(1), c.text(20))
	for n := range headings {
		tags := ""
		if n%5 == 0 {
			tags = " :" + c.words[c.random.IntN(200)] + ":work:"
		}
		stars := strings.Repeat("*", 1+n%3)
		fmt.Fprintf(&t, "%s %s%s\n:PROPERTIES:\n:ID: %d-%d\n:CREATED: [2024-%02d-%02d Fri 10:%02d]\n:END:\n%s\n",
			stars, c.text(2+c.random.IntN(4)), tags, number, n, 1+n%12, 1+n%28, n%60, c.body())
	}
	return t.String()
}

// notesOf100MB writes notes of 100 MB into a directory, and returns their size in bytes.
func (c *corpus) notesOf100MB(b *testing.B, directory string) (size int64) {
	for i := 0; size < 100<<20; i++ {
		note := c.note(i, 100)
		put(b, directory, fmt.Sprintf("%d.org", i), note)
		size += int64(len(note))
	}
	return size
}
