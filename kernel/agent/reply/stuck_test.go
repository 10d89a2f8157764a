package reply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stuckIn writes the text in pieces and returns where the model was found to be stuck.
func stuckIn(text string, piece int) (from int, found bool) {
	s := newStuck()
	began := time.Unix(0, 0)
	s.now = func() time.Time { return began.Add(time.Duration(s.bytesRead) * time.Second / 400) } // as models write
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(piece, len(runes))
		if from, found := s.write(string(runes[:n])); found {
			return from, true
		}
		runes = runes[n:]
	}
	return 0, false
}

func TestStuck(t *testing.T) {
	page := ""
	for i := range 90 {
		page += fmt.Sprintf("Sentence %d says what stands in line %d. ", i, i*7)
	}
	for name, said := range map[string]string{
		"a word":               "no ",
		"a sentence":           "I will now look at the file once more.\n",
		"a paragraph":          "First this, then that.\n\nAnd so on; see above (p. 3).\n\n- one\n- two\n",
		"a page":               page[:3700],
		"a letter":             "a",
		"a sign":               "!",
		"blanks":               "\n \t",
		"a word without blank": "haha",
		"Chinese":              "我会再看一遍文件。",
		"a line of code":       "    x = x + 1\n",
		"in a string":          `\nand again \"it\" says`,
	} {
		before := "Here is what you asked for, in short: it is done.\n"
		text := before + strings.Repeat(said, 90_000/len(said))
		for _, piece := range []int{1, 3, 16, 1000} {
			from, found := stuckIn(text, piece)
			if !found {
				t.Errorf("%s, %d at a time: it is not found", name, piece)
				continue
			}
			if from < len(before)-1 || from > len(before)+2*len(said)+40 {
				t.Errorf("%s, %d at a time: it is kept to %d, %q", name, piece, from, text[max(0, from-30):from])
			}
		}
	}
}

// Repetitive text that people ask for is not detected.
func TestNotStuck(t *testing.T) {
	rows := func(n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(row(i))
		}
		return b.String()
	}
	random := uint32(1)
	coin := func() int { random = random*1664525 + 1013904223; return int(random >> 31) }
	for name, text := range map[string]string{
		"a long table":      rows(2000, func(i int) string { return fmt.Sprintf("| %d | yes | no | yes |\n", i) }),
		"a table of alike":  rows(60, func(int) string { return "| yes | no | yes | no |\n" }),
		"ones and zeros":    rows(20_000, func(int) string { return fmt.Sprint(coin(), " ") }),
		"a matrix of zeros": rows(20, func(int) string { return strings.Repeat("0 ", 20) + "\n" }),
		"rules":             rows(100, func(i int) string { return strings.Repeat("-", 80) + "\n" + fmt.Sprint("Part ", i, "\n") }),
		"one long rule":     strings.Repeat("=", 3000),
		"a refrain": rows(30, func(i int) string {
			return fmt.Sprintf("Verse %d tells of another thing.\nAnd the wind it rains, every day.\nAnd the wind it rains, every day.\n", i)
		}),
		"tests that pass":    rows(900, func(i int) string { return fmt.Sprintf("--- PASS: TestNumber%d (0.00s)\n", i) }),
		"one word a hundred": strings.Repeat("ha ", 300),
		"base64":             rows(2000, func(i int) string { return fmt.Sprintf("%032x", uint64(i)*0x9e3779b97f4a7c15) }),
		"an empty page":      strings.Repeat("\n", 500),
		"getters":            rows(200, func(i int) string { return fmt.Sprintf("func (t T) Field%d() int {\n\treturn t.field%d\n}\n\n", i, i) }),
	} {
		if from, found := stuckIn(text, 16); found {
			t.Errorf("%s: it is stuck at %d", name, from)
		}
	}
}

// The position of the repetition does not depend on the pieces of the text, and is inside it.
func TestStuckWhateverThePieces(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", " ", "word ", "\n", "é", "界", "-", "\\n", "0", "\U0001F600"})
	rapid.Check(t, func(r *rapid.T) {
		said := strings.Join(rapid.SliceOfN(pieces, 1, 6).Draw(r, "said"), "")
		text := strings.Repeat(said, rapid.IntRange(1, 4000).Draw(r, "times"))
		from, found := stuckIn(text, 1)
		other, also := stuckIn(text, rapid.IntRange(1, 50).Draw(r, "piece"))
		if from != other || found != also || from < 0 || from > len(text) {
			r.Fatalf("%d %t, and %d %t, of %d", from, found, other, also, len(text))
		}
	})
}

func BenchmarkStuck(b *testing.B) {
	text := ""
	for i := range 1000 {
		text += fmt.Sprintf("Sentence %d says what stands in line %d. ", i, i*7)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, found := newStuck().write(text); found {
			b.Fatal("it is stuck")
		}
	}
}
