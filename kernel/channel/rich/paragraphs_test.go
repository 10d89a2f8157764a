package rich_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/channel/rich"
)

// TestParagraphs: a table of where texts that grow are cut, with 20 to 40 units a piece.
func TestParagraphs(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                     {"", nil},
		"blank":                       {"\n \n", nil},
		"a short text":                {"Yes.", []string{"Yes."}},
		"short paragraphs":            {"One.\n\nTwo.\n\nThree.", []string{"One.\n\nTwo.\n\nThree."}},
		"the first end behind Min":    {"A paragraph of some words.\n\nAnother one of few words.\n\nEnd.", []string{"A paragraph of some words.", "Another one of few words.", "End."}},
		"many blank lines":            {"A paragraph of some words.\n\n\n\nAnother.\n\n", []string{"A paragraph of some words.", "Another."}},
		"indentation stays":           {"A paragraph of some words.\n\n  - an item", []string{"A paragraph of some words.", "  - an item"}},
		"a line":                      {"A line of five and more words\nand another that is long enough", []string{"A line of five and more words", "and another that is long enough"}},
		"a sentence":                  {"Here is a sentence of words. And this is another, longer one.", []string{"Here is a sentence of words.", "And this is another, longer one."}},
		"a word":                      {"some words without an end that go on and on and on", []string{"some words without an end that go on and", "on and on"}},
		"a character":                 {strings.Repeat("é", 50), []string{strings.Repeat("é", 40), strings.Repeat("é", 10)}},
		"graphemes":                   {strings.Repeat("👩‍👩‍👧‍👦", 5), []string{strings.Repeat("👩‍👩‍👧‍👦", 3), strings.Repeat("👩‍👩‍👧‍👦", 2)}},
		"never behind a heading":      {"A paragraph, and a title:\n* The title of it\n\nText of it.", []string{"A paragraph, and a title:", "* The title of it\n\nText of it."}},
		"a fence with blank lines":    {"```go\nfor {\n\n\n\n  more()\n}\n```\nAfter.", []string{"```go\nfor {\n\n\n\n  more()\n}\n```", "After."}},
		"an Org block":                {"#+BEGIN_SRC go\n\nx := 1\n\n#+end_src\n\nAfter.", []string{"#+BEGIN_SRC go\n\nx := 1\n\n#+end_src", "After."}},
		"rather before than within":   {"Look at this:\n```\n1234567890\n1234567890\n```\n", []string{"Look at this:", "```\n1234567890\n1234567890\n```"}},
		"a fence that does not fit":   {"```go\n1234567890\n1234567890\n1234567890\n1234567890\n```\nEnd.", []string{"```go\n1234567890\n1234567890\n```", "```go\n1234567890\n1234567890\n```", "End."}},
		"a block that does not fit":   {"#+begin_src c\nlines of it\nand more\nof it\n#+end_src", []string{"#+begin_src c\nlines of it\n#+end_src", "#+begin_src c\nand more\nof it\n#+end_src"}},
		"another fence does not end":  {"~~~\n```\n\n\n\nlong enough\n~~\n~~~\nAfter it.", []string{"~~~\n```\n\n\n\nlong enough\n~~\n~~~", "After it."}},
		"a fence without end":         {"```\nsome lines of code\n\nbut no end", []string{"```\nsome lines of code\n\nbut no end"}},
		"code within a line":          {"```a``` is no fence here.\n\nNot at all.", []string{"```a``` is no fence here.", "Not at all."}},
		"it fits but for its end":     {"A b.\n\n" + strings.Repeat("x", 34) + "\n\n", []string{"A b.\n\n" + strings.Repeat("x", 34)}},
		"a paragraph and then a word": {"Hi.\n\nsome words without any end that go on and", []string{"Hi.\n\nsome words without any end that go", "on and"}},
	} {
		p := rich.Paragraphs{Min: 20, Max: 40}
		got := append(p.Write(c.text), p.Close()...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\nwanted %q", name, got, c.want)
		}
	}
	var p rich.Paragraphs
	if got := p.Write(strings.Repeat("word ", 39) + "word\n\nmore"); len(got) != 0 {
		t.Errorf("with 199 units, there is %q", got)
	}
	if got := p.Write(strings.Repeat(" word", 2000)); len(got) != 5 {
		t.Errorf("of 10000 units, there are %d pieces", len(got))
	}
}

// TestParagraphsKeepAll: the pieces have the text, but for white space and the marks of code, and none is too long. They
// are the same however the text grew.
func TestParagraphsKeepAll(t *testing.T) {
	marks := func(s string) string {
		var kept []string
		for line := range strings.Lines(s) {
			if l := strings.ToLower(strings.TrimSpace(line)); !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "#+begin_") && !strings.HasPrefix(l, "#+end_") {
				kept = append(kept, strings.Fields(line)...)
			}
		}
		return strings.Join(kept, "")
	}
	source := []string{"word ", "Ende. ", "\n", "\n\n", "```go\n", "\n```\n", "\n#+begin_src go\n", "\n#+end_src\n", "* Title\n", "- item\n", "👩‍👩‍👧‍👦", "e\u0301", "longlonglong", "  "}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(source), 0, 80).Draw(t, "parts")
		text := strings.Join(parts, "")
		whole := rich.Paragraphs{Min: 30, Max: 90}
		want := append(whole.Write(text), whole.Close()...)
		grown := rich.Paragraphs{Min: 30, Max: 90}
		var got []string
		for _, p := range parts {
			got = append(got, grown.Write(p)...)
		}
		got = append(got, grown.Close()...)
		if !slices.Equal(got, want) {
			t.Fatalf("grown, it is %q\nand at once %q", got, want)
		}
		for _, piece := range got {
			if strings.TrimSpace(piece) == "" || rich.Length(piece) > 90 {
				t.Fatalf("the piece %q has %d units", piece, rich.Length(piece))
			}
		}
		if marks(strings.Join(got, "\n")) != marks(text) {
			t.Fatalf("%q\nbecomes %q", text, got)
		}
	})
}

// TestParagraphsAreLinear: a text that grows by one character, and one that comes at once.
func TestParagraphsAreLinear(t *testing.T) {
	began := time.Now()
	var p rich.Paragraphs
	for range 1 << 16 {
		p.Write("x")
	}
	n := len(p.Write(strings.Repeat("a b. ", 1<<16))) + len(p.Write("```\n"+strings.Repeat("code\n", 1<<16)))
	if took := time.Since(began); took > 20*time.Second || n < 300 {
		t.Errorf("%v, %d pieces", took, n)
	}
}
