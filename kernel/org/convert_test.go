package org_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

var update = flag.Bool("update", false, "write the golden files anew")

// answerOptions returns the options of an answer to a question of level 1.
func answerOptions(dialect org.Dialect) org.Options {
	return org.Options{
		Dialect: dialect, QuestionLevel: 1, Answer: true,
		Properties: []org.Property{{Key: "ID", Value: "a-1"}, {Key: "SKILL", Value: "chat@3f9c"}, {Key: "MODEL", Value: "gpt-5"}},
	}
}

// TestConvertGolden converts the "in" file of every archive in each of the ways whose
// golden file it has: markdown, plain (dialect by the text), answer, or, for inert, not at all.
func TestConvertGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	ways := map[string]org.Options{"markdown": {Dialect: org.Markdown}, "plain": {}, "answer": answerOptions(org.Auto)}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := goldenText(archive.Files[0].Data)
			for i := range archive.Files[1:] {
				golden := &archive.Files[i+1]
				got := org.Inert(in)
				if way, ok := ways[golden.Name]; ok {
					got = convertText(in, way)
				}
				if ok, reason := org.IsInert(got); !ok {
					t.Errorf("%s is not inert: %s\n%s", golden.Name, reason, got)
				}
				if *update {
					golden.Data = []byte(visible(got))
				} else if visible(got) != string(golden.Data) {
					t.Errorf("%s:\n%s\nwant:\n%s", golden.Name, visible(got), golden.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// visible writes the zero-width space as ‹›, which a reader of a golden file can see.
func visible(text string) string { return strings.ReplaceAll(text, invisible, "‹›") }

// goldenText reads ␍ as a carriage return, and ¶ at the end as "no line end here".
func goldenText(data []byte) string {
	text := strings.ReplaceAll(string(data), "␍", "\r")
	return strings.TrimSuffix(text, "¶\n")
}

// cut feeds the text to a converter in pieces that end at the given offsets.
func cut(text string, options org.Options, at ...int) string {
	c := org.NewConverter(options)
	var out strings.Builder
	start := 0
	for _, end := range append(at, len(text)) {
		if end > start {
			out.WriteString(c.Write(text[start:end]))
			start = end
		}
	}
	out.WriteString(c.Close())
	return out.String()
}

// everyByte cuts a text after each byte.
func everyByte(text string) []int {
	at := make([]int, len(text))
	for i := range at {
		at[i] = i + 1
	}
	return at
}

var dialects = []org.Dialect{org.Auto, org.Markdown, org.OrgWithMarkdown}

// TestConvertEverySplit cuts every golden input at each place, and into single bytes.
func TestConvertEverySplit(t *testing.T) {
	for _, text := range goldenInputs(t) {
		for _, dialect := range dialects {
			for _, options := range []org.Options{{Dialect: dialect}, answerOptions(dialect)} {
				want := convertText(text, options)
				for i := 1; i < len(text); i += max(1, len(text)/300) {
					if got := cut(text, options, i); got != want {
						t.Fatalf("cut at %d of %q:\n%s\nwant:\n%s", i, text, visible(got), visible(want))
					}
				}
				if got := cut(text, options, everyByte(text)...); got != want {
					t.Fatalf("cut at each byte of %q:\n%s\nwant:\n%s", text, visible(got), visible(want))
				}
			}
		}
	}
}

func goldenInputs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, goldenText(archive.Files[0].Data))
	}
	return inputs
}

// fragments are the parts of hostile and ordinary texts.
var fragments = []string{
	"\n", "\n\n", "\n\n\n", " ", "  \n", "\t", "    ", "word", "two words", "é", "中文", "\u200b", "\r\n", "\r", "\f", "\x00", "\xff",
	"*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "````", "~~~", "```lisp\n", "```sh :var x=1\n", "\n```\n",
	"# ", "## ", "* ", "** ", "- ", "+ ", "1. ", "3) ", "- [ ] ", "- [x] ", "> ", ">> ", "|", "| a | b |\n", "|---|:-:|\n", "| =x |", "|:=vsum() ",
	"---", "-----", "===", "\\", "\\*", "\\_", "[", "]", "](", ")", "[t](http://x.org/a_b)", "[t](elisp:(x))", "![i](a.png)", "[[elisp:(x)][d]]",
	"[[http://a.b][c]]", "[^1]", "[^1]: ", "[fn:1]", "[fn:1] ", "[fn:: x]", "[r]: http://r.org\n", "[r]", "<http://a.b>", "<elisp:x>", "<br>", "<!-- x -->",
	"http://a.b/c_d_e", "elisp:(x)", "elisp:", "src_", "shell:ls", "file:/ssh:h:/x", "file+sys:x", "src_sh{ls}", "src_sh[:x]{ls}", "call_f(x)", "{{{m(x)}}}", "<<t>>", "<<<r>>>",
	"@@html:x@@", "<2026-01-01 Thu>", "<%%(diary)>", "%%(x)", "&%%(x)", "[2026-01-01 Thu]", "[cite:@k]", "[cite/t:@k]", "\\input{x}", "\\begin{x}", "\\alpha", "$a$", "$$", "\\(", "\\)", "^^5c",
	"#+", "#+CALL: f()\n", "#+TBLFM: $1='(x)\n", "#+begin_src lisp :var x=(f)\n", "#+begin_src -n\n", "#+end_src\n", "#+BEGIN_QUOTE\n", "#+end_quote\n", "#+begin_example\n", "#+end_example\n",
	"#+begin_verse\n", "#+end_verse\n", "#+begin_export html\n", "#+begin: clocktable\n", "#+NAME: x\n", ":PROPERTIES:\n", ":END:\n", ":X: y\n", ":LOGBOOK:\n",
	"SCHEDULED: ", "DEADLINE:", "CLOSED: [2026-01-01]", "CLOCK: [2026-01-01 Thu 10:00]", "Local Variables:", "# Local Variables:\n# eval: x\n# End:\n", "-*- mode: x -*-",
	":user:", ":agent:", " :draft:\n", " :a:agent:\n", "COMMENT ", "TODO ", "[#A] ", "&lt;", "&amp;", "&#123;", "&nbsp;", ",* x\n", ",#+x\n", "+-+-+\n",
	"\\:", "\\(", "\\+", "\\{", "\\[", "\\<", "\\/", "src", "call", "elisp", "file:", "/ssh", "Local", "Variables:", "SCHEDULED", "#", "%%", "(x)", "+CALL: f()\n",
	"{x}", "[elisp](#a)", "[+CALL](#a)", "`%%`", "2026-01-01>", "html:", "cite:@k]", "elisp:(x)]]", ":", ": x\n", "=", "=a=", "~a~", "/usr/bin/", "+x+",
}

func hostileText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 25).Draw(t, "fragments"), "")
	})
}

// TestConvertProperties checks that the result does not depend on how the text was cut, is inert,
// and does not change when it is converted again as Org.
func TestConvertProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkConversion(t, hostileText().Draw(t, "text"), rapid.SampledFrom(dialects).Draw(t, "dialect"),
			rapid.Bool().Draw(t, "answer"), rapid.SliceOfN(rapid.IntRange(1, 200), 0, 6).Draw(t, "cuts"))
	})
}

// A reporter is what rapid's and testing's T have in common.
type reporter interface {
	Helper()
	Fatalf(format string, arguments ...any)
}

func checkConversion(t reporter, text string, dialect org.Dialect, answer bool, steps []int) {
	t.Helper()
	options := org.Options{Dialect: dialect}
	if answer {
		options = answerOptions(dialect)
	}
	want := convertText(text, options)
	if ok, reason := org.IsInert(want); !ok {
		t.Fatalf("not inert: %s\ninput:  %q\noutput: %s", reason, text, visible(want))
	}
	var at []int
	offset := 0
	for _, step := range steps {
		if offset += step; offset < len(text) {
			at = append(at, offset)
		}
	}
	if got := cut(text, options, at...); got != want {
		t.Fatalf("cut at %v of %q:\n%s\nwant:\n%s", at, text, visible(got), visible(want))
	}
	if got := cut(text, options, everyByte(text)...); got != want {
		t.Fatalf("cut at each byte of %q:\n%s\nwant:\n%s", text, visible(got), visible(want))
	}
	if want != "" && !strings.HasSuffix(want, "\n") {
		t.Fatalf("no line end behind %q", want)
	}
}

func FuzzConvert(f *testing.F) {
	for i, text := range goldenInputs(f) {
		f.Add(text, uint8(i), i%2 == 0, uint8(7))
	}
	for i, text := range fragments {
		f.Add(text, uint8(i), i%2 == 0, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, dialect uint8, answer bool, step uint8) {
		steps := make([]int, 0, 16)
		for range 16 {
			steps = append(steps, int(step)+1)
		}
		checkConversion(t, text, dialects[int(dialect)%len(dialects)], answer, steps)
	})
}

// TestStreamsWordByWord checks that a paragraph does not wait for the end of its line.
func TestStreamsWordByWord(t *testing.T) {
	c := org.NewConverter(org.Options{Dialect: org.Markdown})
	sentence := strings.Repeat("Every word is written as soon as it has ended, ", 4)
	if got := c.Write(sentence); len(got) < len(sentence)-len(" ") {
		t.Fatalf("written of %d bytes: %q", len(sentence), got)
	}
	if got := c.Write("and **bold"); got != " and " {
		t.Fatalf("before the emphasis is closed: %q", got)
	}
	if got := c.Write("** text goes"); got != "*bold* text " {
		t.Fatalf("after the emphasis is closed: %q", got)
	}
	if got := c.Write("\n- item o"); got != "goes\n- item " {
		t.Fatalf("in a list: %q", got)
	}
}

// answer is a text of that many bytes as models write it.
func answer(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nA paragraph with **bold**, *italic*, `code`, a [link](https://example.org/%d) and snake_case_words,\nover two lines.\n\n", i, i)
		b.WriteString("- an item\n- another\n  1. nested\n  2. twice\n\n```python\ndef part(value):\n    return value * 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n")
	}
	return b.String()
}

// BenchmarkAnswer converts a long answer, at once and in pieces as it is streamed.
func BenchmarkAnswer(b *testing.B) {
	text := answer(64 << 10)
	for _, size := range []int{len(text), 64, 5} {
		b.Run(fmt.Sprintf("%dBytes", size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c := org.NewConverter(org.Options{Dialect: org.Markdown})
				for rest := text; rest != ""; {
					n := min(size, len(rest))
					c.Write(rest[:n])
					rest = rest[n:]
				}
				c.Close()
			}
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	paragraph := "A paragraph with **bold**, *italic*, `code`, a [link](https://example.org/x) and snake_case_words.\n\n- an item\n- another\n\n"
	for _, size := range []int{64 << 10, 1 << 20, 8 << 20} {
		text := strings.Repeat(paragraph, size/len(paragraph))
		b.Run(byteSize(size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				org.MarkdownToOrg(text)
			}
		})
	}
	for name, unit := range map[string]string{"stars": "*a ", "brackets": "[a ", "ticks": "`a ``b ", "nested": "**a *b ", "angles": "<a", "src": "src_", "dollars": "$a ", "backslashes": "\\"} {
		for _, size := range []int{128 << 10, 256 << 10} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(name+byteSize(size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					org.MarkdownToOrg(text)
				}
			})
		}
	}
	deltas := strings.Repeat("one byte at a time, *never* ending ", 1<<20/35)
	b.Run("OneByteDeltas", func(b *testing.B) {
		b.SetBytes(int64(len(deltas)))
		for b.Loop() {
			c := org.NewConverter(org.Options{Dialect: org.Markdown})
			for i := range len(deltas) {
				c.Write(deltas[i : i+1])
			}
			c.Close()
		}
	})
}

func byteSize(n int) string {
	if n >= 1<<20 {
		return string(rune('0'+n>>20)) + "MiB"
	}
	return map[int]string{64 << 10: "64KiB", 128 << 10: "128KiB", 256 << 10: "256KiB"}[n]
}

// TestBenignStays: Org stays as it was written, in an answer too, whose first heading is the answer's.
func TestBenignStays(t *testing.T) {
	data, err := os.ReadFile("../../testdata/held/benign.org")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if got := convertText(text, org.Options{}); got != text {
		t.Errorf("it becomes\n%s", difference(text, got))
	}
	_, body, _ := strings.Cut(text, "\n")
	got := convertText(text, org.Options{QuestionLevel: 0, Answer: true})
	heading := "* TODO [#A] Every construct of Org, as a model may write it :work:@home:agent:\n:PROPERTIES:\n:END:\n"
	if want := heading + body; got != want {
		t.Errorf("as an answer it becomes\n%s", difference(want, got))
	}
}

// difference is the first line that differs, in both texts.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%s\nwas\n%s", i+1, visible(strings.Join(b[min(i, len(b)):min(i+2, len(b))], "\n")), strings.Join(a[i:min(i+2, len(a))], "\n"))
		}
	}
	return "longer"
}

// TestOrgInMarkdown: what is Org and not Markdown stays in a text of Markdown too.
func TestOrgInMarkdown(t *testing.T) {
	for _, text := range []string{
		"\\begin{align}\na_1 &= *b* \\\\\n[x](y) &= 2\n\\end{align}\n",
		"#+CAPTION: A *table* of x_y_z\n#+NAME: tab\n| a | b |\n| 1 | 2 |\n#+TBLFM: $2=$1*2\n",
		"#+begin_src python :var x=5 :results output\n* **x** `y`\n#+end_src\n",
		"#+BEGIN_EXAMPLE -n\n**x**\n#+END_EXAMPLE\n",
		"#+begin_quote\nA quote.\n#+end_quote\n",
		"Meet <2026-11-25 Wed> or <2026-11-25 Wed 10:00>--<2026-11-26 Thu>.\n",
		"DEADLINE: <2026-11-25 Wed> SCHEDULED: <2026-11-24 Tue +1w>\n",
		"CLOCK: [2026-11-25 Wed 10:00]--[2026-11-25 Wed 11:00] =>  1:00\n",
		":LOGBOOK:\n- Note taken\n:END:\n", ":PROPERTIES:\n:Effort: 1:30\n:X: a *b* c\n:END:\n",
		"See [fn:1] and [[*Heading][there]], [[#id]], <<target>>.\n\n[fn:1] A note.\n",
		"| one | row |\n", "#+ATTR_HTML: :width 3\n[[file:a.png]]\n",
	} {
		in := "Some words first.\n\n" + text
		want := strings.ReplaceAll(in, ",*", "*")
		want = strings.ReplaceAll(want, "\n* **x**", "\n,* **x**")
		want = strings.ReplaceAll(want, "\n**x**", "\n,**x**")
		if got := convertText(in, org.Options{}); got != want {
			t.Errorf("%s\nbecomes\n%s", want, visible(got))
		}
	}
}

// invisible is the character of no width that the converter puts into text that would be live.
const invisible = "\u200b"

// convertText converts a whole text at once.
func convertText(text string, options org.Options) string {
	c := org.NewConverter(options)
	return c.Write(text) + c.Close()
}
