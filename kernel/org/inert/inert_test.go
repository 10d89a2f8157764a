package inert

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// heldCase is a case of testdata/held/cases.
type heldCase struct {
	name, text, want string
	rules            []int
	tags             []string // the person's own
}

// options are those of a writer for the case.
func (c heldCase) options() Options { return Options{Tags: c.tags} }

var codePoint = regexp.MustCompile(`<U\+([0-9A-F]{4})>`)

// caseText reads a text of the cases.
func caseText(text string) string {
	text = codePoint.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[3:7], 16, 32)
		return string(rune(n))
	})
	return strings.ReplaceAll(text, "‹›", Mark)
}

func heldCases(t testing.TB) []heldCase {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/held/cases")
	if err != nil {
		t.Fatal(err)
	}
	var cases []heldCase
	for section := range strings.SplitSeq(regexp.MustCompile(`(?m)\n*^########.*$`).ReplaceAllString(string(data), ""), "\n== ") {
		if section == "" || strings.HasPrefix(section, "What is held") {
			continue
		}
		first, text, _ := strings.Cut(strings.TrimRight(section, "\n")+"\n", "\n")
		c := heldCase{name: first}
		for word := range strings.FieldsSeq(first) {
			n, err := strconv.Atoi(word)
			if err != nil {
				if strings.HasPrefix(word, ":") {
					c.tags = []string{strings.Trim(word, ":")}
				}
				break
			}
			c.rules = append(c.rules, n)
		}
		text, want, changed := strings.Cut(text, "\n--\n")
		if changed {
			text += "\n"
		} else {
			want = text
		}
		c.text, c.want = caseText(text), caseText(want)
		cases = append(cases, c)
	}
	if len(cases) < 60 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// places makes a text inert and returns the rules of the places that are held.
func places(text string, options Options) (string, []int) {
	var rules []int
	w := New(options)
	w.noted = func(p Place) { rules = append(rules, int(p.Rule)) }
	return w.Write(text) + w.Close(), rules
}

// cut gives a writer the text in pieces of whole characters.
func cut(text string, options Options, size func(i int) int) string {
	w := New(options)
	var out strings.Builder
	runes := []rune(text)
	for i := 0; len(runes) > 0; i++ {
		n := min(max(size(i), 1), len(runes))
		out.WriteString(w.Write(string(runes[:n])))
		runes = runes[n:]
	}
	return out.String() + w.Close()
}

func visibly(text string) string { return strings.ReplaceAll(text, Mark, "‹›") }

// TestCases: each case is held as the file says, by the rules that it says, however it is cut, and
// what was held is inert.
func TestCases(t *testing.T) {
	for _, c := range heldCases(t) {
		got, rules := places(c.text, c.options())
		if got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, visibly(got), visibly(c.want))
			continue
		}
		held := map[int]bool{}
		for _, rule := range rules {
			held[rule] = true
		}
		for _, rule := range c.rules {
			delete(held, rule)
			if rule > 0 && len(rules) == 0 || rule == 0 && len(rules) > 0 {
				t.Errorf("%s: held by the rules %v", c.name, rules)
			}
		}
		if len(held) > 0 {
			t.Errorf("%s: held by other rules too: %v", c.name, rules)
		}
		if place, ok := Check(c.want, c.options()); !ok {
			t.Errorf("%s: the result is not inert: %+v\n%s", c.name, place, visibly(c.want))
		}
		for _, n := range []int{1, 2, 3, 7} {
			if got := cut(c.text, c.options(), func(int) int { return n }); got != c.want {
				t.Errorf("%s in pieces of %d:\n%s\nwant:\n%s", c.name, n, visibly(got), visibly(c.want))
			}
		}
	}
}

// fragments are what random texts are made of: the lines and the words of the cases, and signs.
func fragments(t testing.TB) []string {
	var all []string
	for _, c := range heldCases(t) {
		for line := range strings.SplitSeq(c.text, "\n") {
			all = append(all, line+"\n", line)
			all = append(all, strings.Fields(line)...)
		}
	}
	return append(all, "\n", "\n\n", " ", "*", "/", "_", "+", "=", "~", "[", "]", "{", "}", "<", ">", "$", "|", ":", "@", "(", ")", "-", "%", "^", "\\",
		"é", "中", Mark, "\r\n", "\r", "\t", "* ", "- ", "a", "b ", "#+begin_src sh\n", "#+end_src\n", ":END:\n", "#+begin_verse\n", "#+end_verse\n")
}

func document(fragments []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 30).Draw(t, "fragments"), "")
	})
}

// TestAnyText: whatever the text and the cuts, the result is the same and inert, and making it inert
// again changes nothing.
func TestAnyText(t *testing.T) {
	from := document(fragments(t))
	rapid.Check(t, func(t *rapid.T) {
		check(t, from.Draw(t, "text"), rapid.SliceOfN(rapid.IntRange(1, 40), 1, 8).Draw(t, "cuts"))
	})
}

type fataler interface {
	Fatalf(format string, arguments ...any)
}

func check(t fataler, text string, cuts []int) {
	file := func() *File { return Read("#+NAME: fig\n[fn:1] x\n") }
	for _, options := range []Options{{}, {File: file}, {Tags: []string{"Robot"}}} {
		want := cut(text, options, func(int) int { return len(text) + 1 })
		for _, size := range []func(int) int{func(int) int { return 1 }, func(i int) int { return cuts[i%len(cuts)] }} {
			if got := cut(text, options, size); got != want {
				t.Fatalf("the cuts %v change\n%q\nto\n%s\nfrom\n%s", cuts, text, visibly(got), visibly(want))
			}
		}
		if place, ok := Check(want, Options{Tags: options.Tags}); !ok {
			t.Fatalf("%+v in\n%s\nfrom %q", place, visibly(want), text)
		}
		if again := cut(want, Options{Tags: options.Tags}, func(int) int { return len(want) + 1 }); again != want {
			t.Fatalf("%q becomes\n%q, then\n%q", text, want, again)
		}
	}
}

func FuzzAnyText(f *testing.F) {
	for i, c := range heldCases(f) {
		f.Add(c.text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		check(t, strings.ToValidUTF8(text, "?"), []int{int(n%13) + 1, 1, int(n/13) + 1})
	})
}

// TestStreams: text is written as it comes. Only what may be held waits.
func TestStreams(t *testing.T) {
	w := New(Options{})
	for _, step := range []struct{ text, want string }{
		{"A word an", "A word an"}, {"d *bold* te", "d *bold* te"}, {"xt src", "xt src"}, {"_sh", ""}, {"{", "\u200b_sh{"},
		{"x} =a", "x} =a"}, {" b {{{m", " b {{"}, {"}}} c= d", "{m}}} c= d"}, {"\n- [fn:1] ", "\n- [fn:1] "}, {"*x* ", "*x* "},
		{"\n#+CAP", "\n"}, {"TION: x\n", "#+CAPTION: x\n"},
	} {
		if got := w.Write(step.text); got != step.want {
			t.Fatalf("%q: %q, want %q", step.text, got, step.want)
		}
	}
}

// TestVerbatimWithoutEnd: a character of TeX by its code behind a sign without an end, in mathematics
// that begins behind that sign too, is held however the text is cut.
func TestVerbatimWithoutEnd(t *testing.T) {
	for _, text := range []string{"=a $ ^^c", "~a \\( ^^c and more\n", "=a $ ^^c= d\n", "=a ^^c $= d\n"} {
		check(t, text, []int{1, 3})
	}
}

// TestDashes: since Org 9.6 emphasis begins and ends beside a dash. What is verbatim before or since only is
// held.
func TestDashes(t *testing.T) {
	for text, want := range map[string]string{
		"a —=src_sh{x}= b":              "a —=src‹›_sh{x}= b",
		"a =b=— src_sh{x}= c":           "a =b=— src‹›_sh{x}= c",
		"a =src_sh{x}=– b =src_sh{x}=.": "a =src‹›_sh{x}=– b =src_sh{x}=.",
		"/http:a/—help:ab":              "/http:a/—help‹›:ab",
		"a—b =src_sh{x}= — c":           "a—b =src_sh{x}= — c",
	} {
		for _, size := range []int{1, 3, len(text)} {
			if got := visibly(cut(text, Options{}, func(int) int { return size })); got != want {
				t.Errorf("%q in pieces of %d becomes %q", text, size, got)
			}
		}
	}
}

// TestNamesOfTheFile: a name that the file has, or that a block of the person's reaches for, is held,
// and the label of a footnote that the file has becomes another.
func TestNamesOfTheFile(t *testing.T) {
	file := func() *File {
		return Read("#+NAME: data\n| 1 |\n#+begin_src sh :var x=table :noweb yes\n<<setup>>\n#+end_src\n#+CALL: run(1)\ncall_go(2)\n$1=remote(far,@1)\nSee [fn:1].\n\n[fn:1] a [fn:2:b]\n")
	}
	got := cut(`#+NAME: Data
#+RESULTS[0a]: data
#+NAME: setup
#+tblname: table
#+NAME: run
#+NAME: go
#+NAME: far
#+NAME: new
#+RESULTS: new
#+RESULTS:
[fn:1] =[fn:1]= [fn:2: x] [fn:3] [fn:: y] [fn:1]
[fn:1] z [fn:1-2]
`, Options{File: file}, func(int) int { return 5 })
	want := `#‹›+NAME: Data
#‹›+RESULTS[0a]: data
#‹›+NAME: setup
#‹›+tblname: table
#‹›+NAME: run
#‹›+NAME: go
#‹›+NAME: far
#+NAME: new
#+RESULTS: new
#+RESULTS:
[fn:1-2] =[fn:1]= [fn:2-2: x] [fn:3] [fn:: y] [fn:1-2]
[fn:1-2] z [fn:1-2-2]
`
	if visibly(got) != want {
		t.Errorf("%s\nwant:\n%s", visibly(got), want)
	}
}

func BenchmarkWriter(b *testing.B) {
	paragraph := "A paragraph with *bold*, /italic/, ~code~, a [[https://example.org/x][link]] and snake_case_words: 1 + 2 = 3.\n\n- an item\n- another\n\n"
	for name, unit := range map[string]string{
		"text": paragraph, "verbatim": "=src_x{ ", "calls": "=call_f( ~", "brackets": "[[", "citations": "[cite:", "braces": "{{{a", "modes": "-*- ", "links": "elisp:", "names": "[fn:1] ",
	} {
		for _, size := range []int{1 << 20, 4 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%dMiB", name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Text(text, Options{})
				}
			})
		}
	}
	b.Run("ByteByByte", func(b *testing.B) {
		text := strings.Repeat("one byte at a time =never src_x{ ending ", 1<<20/40)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			w := New(Options{})
			for i := range len(text) {
				w.Write(text[i : i+1])
			}
			w.Close()
		}
	})
}

// TestBenignStays: Org that does nothing of the list stays as it was written, to the byte.
func TestBenignStays(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/held/benign.org")
	if err != nil {
		t.Fatal(err)
	}
	w := New(Options{})
	w.noted = func(p Place) { t.Errorf("line %d: %s is held", p.Line, p.What) }
	if got := w.Write(string(data)) + w.Close(); got != string(data) {
		t.Errorf("it becomes\n%s", visibly(got))
	}
}
