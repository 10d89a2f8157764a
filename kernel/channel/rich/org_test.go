package rich_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/channel/rich"
)

// TestFromOrg: a table of Org and what people see of it, as HTML.
func TestFromOrg(t *testing.T) {
	for name, c := range map[string]struct{ org, want string }{
		"nothing":                               {"", ""},
		"a paragraph":                           {"Yes, *bold*, /it/, _u_, +s+, =v=, ~c~.\nOver.", "Yes, <strong>bold</strong>, <em>it</em>, <u>u</u>, <del>s</del>, <code>v</code>, <code>c</code>.<br>Over."},
		"nested":                                {"*a /b =*c*=/ d*", "<strong>a <em>b <code>*c*</code></em> d</strong>"},
		"emphasis in itself":                    {"*a *b* c*.", "<strong>a *b</strong> c*."},
		"two lines":                             {"*a\nb* /a\nb\nc/", "<strong>a<br>b</strong> /a<br>b<br>c/"},
		"no emphasis":                           {"a*b* * a * 2*3*4 snake_case_x a/b/c *", "a*b* * a * 2*3*4 snake_case_x a/b/c *"},
		"held marks":                            {"a \u200b*b* c\u200b#+x \u200b*", "a <strong>b</strong> c#+x *"},
		"links":                                 {"[[https://x.y/a_b][*the* page]] [[https://x.y]] <https://z.y> https://a.b/c_d_e [[file:a.org][note]] [[id:1]]", `<a href="https://x.y/a_b"><strong>the</strong> page</a> <a href="https://x.y">https://x.y</a> <a href="https://z.y">https://z.y</a> https://a.b/c_d_e note id:1`},
		"a link to code":                        {"[[javascript:alert(1)][press]]", "press"},
		"headings":                              {"* TODO [#A] Plan /it/ :agent:\nSCHEDULED: <2026-12-01 Tue>\n:PROPERTIES:\n:ID: 1\n:END:\nText.\n** Below\n", "<strong>TODO Plan <em>it</em></strong><br>Text.<br><br><strong>Below</strong>"},
		"a heading at the end":                  {"Text.\n* End", "Text.<br><br><strong>End</strong>"},
		"lists":                                 {"- one\n  more\n  1. [X] two\n  2) [ ] three\n- term *a* :: what\n+ four\n * five", "• one<br>&nbsp;&nbsp;more<br>&nbsp;&nbsp;1. ☑ two<br>&nbsp;&nbsp;2) ☐ three<br>• <strong>term *a*</strong>: what<br>• four<br>&nbsp;• five"},
		"a counter":                             {"3. [@3] three", "3. three"},
		"a table":                               {"| a | wide cell |\n|---+---|\n| 1 \\vert{} 2 | *b* |\n|   | <r> |\nAfter", "<pre><code>| a     | wide cell |\n|-------+-----------|\n| 1 | 2 |         b |</code></pre>After"},
		"wide characters":                       {"| 日本 | a |\n| b | c |", "<pre><code>| 日本 | a |\n| b    | c |</code></pre>"},
		"code":                                  {"So:\n\n#+name: x\n#+begin_src go -n :tangle no\n  x := *y*\n  ,* z\n#+end_src\n\nThere.", "So:<br><br><pre><code class=\"language-go\">x := *y*\n* z</code></pre><br>There."},
		"an example":                            {"#+begin_example\n<b>\n\n  c\n#+end_example", "<pre><code>&lt;b&gt;\n\n  c</code></pre>"},
		"fixed width":                           {": a\n:  b\n:\nText", "<pre><code>a\n b</code></pre>Text"},
		"a quote":                               {"#+begin_quote\nOne *two*\n\nthree\n#+end_quote\nAfter", "<blockquote>One <strong>two</strong><br><br>three</blockquote>After"},
		"an inner quote, which is none for Org": {"#+begin_quote\na\n#+begin_quote\nb\n#+end_quote\n#+begin_src c\nd\n#+end_src\n#+end_quote", "<blockquote>a<br>b</blockquote><pre><code class=\"language-c\">d</code></pre>"},
		"code in a quote":                       {"#+begin_quote\na\n#+begin_src c\nd\n#+end_src\n#+end_quote", "<blockquote>a<br><pre><code class=\"language-c\">d</code></pre></blockquote>"},
		"an open quote":                         {"#+begin_quote\na", "a"},
		"dropped":                               {"#+TITLE: x\n# comment\n:LOG:\n- note\n:END:\nText\n#+begin_comment\nc\n#+end_comment\n#+begin_export html\n<b>\n#+end_export", "Text"},
		"not dropped":                           {"#hash\n:no: drawer\n#+1 vote: yes\n:open:", "#hash<br>:no: drawer<br>#+1 vote: yes<br>:open:"},
		"footnotes":                             {"See[fn:1] and[fn::inline /x/].\n\n[fn:1] The *note*.", "See[1] and(inline <em>x</em>).<br><br>[1] The <strong>note</strong>."},
		"mathematics":                           {"\\(a *b* c\\) and\n\\begin{align}\na *b*\n\\end{align}", "\\(a *b* c\\) and<br><pre><code class=\"language-latex\">\\begin{align}\na *b*\n\\end{align}</code></pre>"},
		"a rule":                                {"a\n-----\nb", "a<br>———<br>b"},
		"hard ends":                             {"a \\\\\nb\\\\", "a<br>b"},
		"targets":                               {"<<here>>a <<<there>>>", "a there"},
		"verse":                                 {"#+begin_verse\nOne /two/\n  three\n#+end_verse", "One <em>two</em><br>&nbsp;&nbsp;three"},
		"blank lines":                           {"\n\na\n\n\n\nb\n\n", "a<br><br>b"},
		"control characters":                    {"a\x1b[0m\x00b\r\nc\xff", "a[0mb<br>c\ufffd"},
	} {
		text := rich.FromOrg(c.org)
		if err := text.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := text.HTML(); got != c.want {
			t.Errorf("%s:\n%s\nis\n%s\nand not\n%s", name, c.org, got, c.want)
		}
	}
}

// TestFromModel: both dialects become the same.
func TestFromModel(t *testing.T) {
	want := "<strong>Title</strong><br><br>Some <strong>bold</strong> and <code>code</code>.<br><br>• one<br>• two<br><br><pre><code class=\"language-go\">* x := 1</code></pre><br><blockquote>quoted</blockquote>"
	for name, text := range map[string]string{
		"Markdown": "# Title\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```go\n* x := 1\n```\n\n> quoted\n",
		"Org":      "* Title\n\nSome *bold* and ~code~.\n\n- one\n- two\n\n#+begin_src go\n,* x := 1\n#+end_src\n\n#+begin_quote\nquoted\n#+end_quote\n",
	} {
		if got := rich.FromModel(text).HTML(); got != want {
			t.Errorf("%s is\n%s\nand not\n%s", name, got, want)
		}
	}
	if got := rich.FromModel("| a | b |\n|--|--:|\n| 1 | 22 |\n").Plain; got != "| a |  b |\n|---+----|\n| 1 | 22 |" {
		t.Errorf("a table is\n%s", got)
	}
}

// org are what Org and Markdown texts are made of.
var pieces = []string{
	"*", "/", "_", "=", "~", "+", "**", "`", "```\n", "#+begin_src go\n", "#+end_src\n", "#+begin_quote\n", "#+end_quote\n", "#+begin_example\n", "#+end_example\n", "> ", "- ", "* ", "# ", "1. ", "| ", "|-", ":x:\n", ":END:\n", ":PROPERTIES:\n", "[[", "]]", "][", "[fn:1]", "[fn::", "]",
	"https://x.y/z", "<", ">", "\\(", "\\)", "\\vert{}", "\\begin{a}\n", "\\end{a}\n", "\u200b", "e\u0301", "😀", "日本", "a", "b c", ".", "\n", "\n\n", " ", "\t", "\x00", "\xff", " :: ", "[X] ", "#+x: y\n", "-----\n", ": ",
}

// TestFromModelKeepsPromises: whatever the text, the spans nest, its HTML shows it, and its pieces fit.
func TestFromModelKeepsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkModel(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), ""))
	})
}

func checkModel(t failing, source string) {
	t.Helper()
	for _, text := range []rich.Text{rich.FromModel(source), rich.FromOrg(source)} {
		if err := text.Check(); err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		checkHTML(t, text)
		checkChunks(t, text, 40)
		if strings.Contains(text.Plain, "\u200b") {
			t.Fatalf("%q: a mark of what is held is left in %q", source, text.Plain)
		}
	}
}

// FuzzFromModel fuzzes what models and people write.
func FuzzFromModel(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "a" + p)
	}
	f.Add(strings.Join(pieces, ""))
	f.Fuzz(func(t *testing.T, source string) { checkModel(t, source) })
}

// TestFromOrgIsLinear: what never ends takes no longer than other texts.
func TestFromOrgIsLinear(t *testing.T) {
	for _, unit := range []string{"*a ", "/a\n", "[[", "[fn::", "<", "<<", "\\(", "\\begin{a}\n", ":a:\n", "#+begin_quote\n", "| a\n|-\n", "* ", "https://", "=a *b /c ", "- \n", "* a\n", "<http://a", "[fn:x ", "[[a][b ", "<a\n", "*a\n"} {
		began := time.Now()
		text := rich.FromOrg(strings.Repeat(unit, (1<<18)/len(unit)))
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
		if len(text.Plain) > 4<<18 {
			t.Errorf("%q becomes %d bytes", unit, len(text.Plain))
		}
	}
}

// TestCorpora: the documents of Org's constructs and those that attack become texts that keep their promises, and nothing
// of what is held leaves its mark.
func TestCorpora(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../../../testdata/held", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		checkModel(t, string(source))
		return nil
	})
	if err != nil || n != 3 {
		t.Errorf("%d documents, %v", n, err)
	}
}

// BenchmarkFromModel measures an answer of ordinary size, in bytes a second.
func BenchmarkFromModel(b *testing.B) {
	source := strings.Repeat("# Title\n\nSome **bold** words and `code` and a [link](https://example.org/a), and more of them.\n\n- one\n- two\n\n```go\nx := 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 20)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		rich.FromModel(source).Chunks(4096)
	}
}
