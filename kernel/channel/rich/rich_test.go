package rich_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"org-agent/kernel/channel/rich"
)

// TestCheck: what breaks the promises of a text is found.
func TestCheck(t *testing.T) {
	span := func(start, end int, style rich.Style) rich.Span {
		return rich.Span{Start: start, End: end, Style: style}
	}
	for name, text := range map[string]rich.Text{
		"not UTF-8":            {Plain: "a\xff"},
		"a control character":  {Plain: "a\x1b[0m"},
		"a carriage return":    {Plain: "a\r\n"},
		"an empty span":        {Plain: "ab", Spans: []rich.Span{span(1, 1, rich.Bold)}},
		"beyond the end":       {Plain: "ab", Spans: []rich.Span{span(1, 3, rich.Bold)}},
		"before the beginning": {Plain: "ab", Spans: []rich.Span{span(-1, 1, rich.Bold)}},
		"no style":             {Plain: "ab", Spans: []rich.Span{span(0, 1, 0)}},
		"another style":        {Plain: "ab", Spans: []rich.Span{span(0, 1, rich.Link+1)}},
		"within a character":   {Plain: "é", Spans: []rich.Span{span(0, 1, rich.Bold)}},
		"out of order":         {Plain: "ab", Spans: []rich.Span{span(1, 2, rich.Bold), span(0, 1, rich.Bold)}},
		"overlapping":          {Plain: "abc", Spans: []rich.Span{span(0, 2, rich.Bold), span(1, 3, rich.Italic)}},
		"inner first":          {Plain: "abc", Spans: []rich.Span{span(0, 2, rich.Bold), span(0, 3, rich.Italic)}},
		"bold within code":     {Plain: "abc", Spans: []rich.Span{span(0, 3, rich.Code), span(1, 2, rich.Bold)}},
		"bold within bold":     {Plain: "abc", Spans: []rich.Span{span(0, 3, rich.Bold), span(0, 3, rich.Italic), span(1, 2, rich.Bold)}},
		"a part of a line":     {Plain: "abc", Spans: []rich.Span{span(0, 2, rich.Block)}},
		"a line and its end":   {Plain: "a\nb", Spans: []rich.Span{span(0, 2, rich.Quote)}},
	} {
		if text.Check() == nil {
			t.Errorf("%s: nothing is found in %+v", name, text)
		}
	}
	good := rich.Text{Plain: "é\tb\ncode", Spans: []rich.Span{span(0, 4, rich.Quote), span(0, 2, rich.Bold), span(0, 2, rich.Italic), span(3, 4, rich.Code), {Start: 5, End: 9, Style: rich.Block, Value: "go"}}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := texts().Draw(t, "text").Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestUTF16 measures as UTF-16 does.
func TestUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		units := utf16.Encode([]rune(text.Plain))
		if text.Length() != len(units) {
			t.Fatalf("the length is %d, not %d", text.Length(), len(units))
		}
		entities := text.UTF16()
		if len(entities) != len(text.Spans) {
			t.Fatalf("%d entities for %d spans", len(entities), len(text.Spans))
		}
		for i, e := range entities {
			s := text.Spans[i]
			if got := string(utf16.Decode(units[e.Offset : e.Offset+e.Length])); got != text.Plain[s.Start:s.End] || e.Style != s.Style || e.Value != s.Value {
				t.Fatalf("%+v is %q, and %+v is %q", e, got, s, text.Plain[s.Start:s.End])
			}
		}
	})
}

// TestHTML: what a browser would show of the HTML is the text, with its spans as elements.
func TestHTML(t *testing.T) {
	for want, text := range map[string]rich.Text{
		"a &lt;b&gt;<br>c":      rich.Plain("a <b>\nc"),
		"<strong>a</strong>":    {Plain: "a", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Bold}}},
		"&nbsp;&nbsp;a &nbsp;b": rich.Plain("  a  b"),
		"a<br><pre><code class=\"language-go\">x :=\n  1</code></pre>b": {Plain: "a\nx :=\n  1\nb", Spans: []rich.Span{{Start: 2, End: 10, Style: rich.Block, Value: "go"}}},
		"a":                                  {Plain: "a", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Link, Value: "javascript:alert(1)"}}},
		`<a href="https://x/?a&amp;b">a</a>`: {Plain: "a", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Link, Value: "https://x/?a&b"}}},
	} {
		if got := text.HTML(); got != want {
			t.Errorf("%+v is\n%s\nwanted\n%s", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		checkHTML(t, text)
	})
}

type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkHTML(t failing, text rich.Text) {
	t.Helper()
	page, err := html.Parse(strings.NewReader("<html><head></head><body>" + text.HTML() + "</body></html>"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	shown := &browser{elements: map[string]int{}}
	shown.show(page)
	if got, want := withoutEnd(shown.out.String()), withoutEnd(text.Plain); strings.ReplaceAll(got, "\u00a0", " ") != strings.ReplaceAll(want, "\u00a0", " ") {
		t.Fatalf("the HTML of %+v is %s\nand shows %q\nof          %q", text, text.HTML(), got, want)
	}
	wanted := map[string]int{}
	for _, s := range text.Spans {
		if s.Style != rich.Link || rich.Followed(s.Value) {
			wanted[[]string{"", "strong", "em", "u", "del", "code", "code", "blockquote", "a"}[s.Style]]++
		}
	}
	for _, name := range []string{"strong", "em", "u", "del", "code", "blockquote", "a", "script", "b"} {
		if shown.elements[name] != wanted[name] {
			t.Fatalf("the HTML of %+v is %s\nwith %d elements %s and not %d", text, text.HTML(), shown.elements[name], name, wanted[name])
		}
	}
}

// withoutEnd returns a text without its last line ends, which HTML does not show.
func withoutEnd(s string) string { return strings.TrimRight(s, "\n") }

// browser shows elements as browsers do.
type browser struct {
	out      strings.Builder
	elements map[string]int
	ended    bool // an element of lines of its own ended
}

func (b *browser) write(s string) {
	if s == "" {
		return
	}
	if b.ended {
		b.out.WriteByte('\n')
	}
	b.ended = false
	b.out.WriteString(s)
}

func (b *browser) show(n *html.Node) {
	if n.Type == html.TextNode {
		b.write(n.Data)
	}
	own := n.Type == html.ElementNode && (n.Data == "pre" || n.Data == "blockquote")
	if n.Type == html.ElementNode {
		b.elements[n.Data]++
	}
	if n.Type == html.ElementNode && n.Data == "br" {
		b.write("\n")
	}
	if own && b.ended {
		b.out.WriteByte('\n')
		b.ended = false
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		b.show(child)
	}
	b.ended = b.ended || own
}

// TestChunks: the pieces have the text in its order, but for white space at the cuts; each fits, is a text itself, ends
// where a character does, and every character looks as in the whole.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkChunks(t, texts().Draw(t, "text"), rapid.IntRange(2, 60).Draw(t, "limit"))
	})
}

func checkChunks(t failing, text rich.Text, limit int) {
	t.Helper()
	at := 0
	skip := func() {
		for at < len(text.Plain) {
			r, n := utf8.DecodeRuneInString(text.Plain[at:])
			if !unicode.IsSpace(r) {
				return
			}
			at += n
		}
	}
	ends := clusterEnds(text.Plain, limit)
	for _, c := range text.Chunks(limit) {
		if err := c.Check(); err != nil {
			t.Fatalf("%v: %+v", err, c)
		}
		if c.Length() > limit || strings.TrimSpace(c.Plain) == "" {
			t.Fatalf("the piece %q has %d units of %d", c.Plain, c.Length(), limit)
		}
		if !strings.HasPrefix(text.Plain[at:], c.Plain) {
			skip()
			at -= len(c.Plain) - len(strings.TrimLeftFunc(c.Plain, unicode.IsSpace)) // the indentation of its first line
		}
		if at < 0 || !strings.HasPrefix(text.Plain[at:], c.Plain) {
			t.Fatalf("the piece %q is not what follows: %q", c.Plain, text.Plain[max(at, 0):])
		}
		for _, s := range c.Spans {
			for i := s.Start; i < s.End; i++ {
				if !looks(text, at+i, s) {
					t.Fatalf("in the piece %q, the byte %d has the span %+v, and in the text it does not", c.Plain, i, s)
				}
			}
		}
		for i, r := range c.Plain {
			for _, s := range text.Spans {
				if s.Start <= at+i && at+i < s.End && !unicode.IsSpace(r) && !looks(c, i, s) {
					t.Fatalf("in the piece %q, the byte %d has not the span %+v", c.Plain, i, s)
				}
			}
		}
		at += len(c.Plain)
		if !ends[at] {
			t.Fatalf("the piece %q ends within a character of %q", c.Plain, text.Plain)
		}
	}
	if skip(); at < len(text.Plain) {
		t.Fatalf("the pieces end before %q", text.Plain[at:])
	}
}

func looks(text rich.Text, at int, as rich.Span) bool {
	return slices.ContainsFunc(text.Spans, func(s rich.Span) bool {
		return s.Start <= at && at < s.End && s.Style == as.Style && s.Value == as.Value
	})
}

// clusterEnds returns where a text may be cut.
func clusterEnds(plain string, limit int) map[int]bool {
	ends := map[int]bool{0: true}
	for at := 0; at < len(plain); {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(plain[at:], -1)
		if rich.Length(cluster) > limit {
			for i := range cluster {
				ends[at+i] = true
			}
		}
		at += len(cluster)
		ends[at] = true
	}
	return ends
}

// TestChunksPreferences: a table of where texts are cut.
func TestChunksPreferences(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"it fits":                {"a b", 3, []string{"a b"}},
		"nothing":                {" \n ", 1, nil},
		"paragraph":              {"One. Two\nthree.\n\nFour five", 18, []string{"One. Two\nthree.", "Four five"}},
		"line":                   {"One. Two\nthree four. five", 16, []string{"One. Two", "three four. five"}},
		"sentence":               {"One two. three four five", 15, []string{"One two.", "three four five"}},
		"quoted sentence":        {"He: \"No.\" three four five", 16, []string{"He: \"No.\"", "three four five"}},
		"word":                   {"One two three four five", 15, []string{"One two three", "four five"}},
		"character":              {"ééééé", 2, []string{"éé", "éé", "é"}},
		"combining":              {"e\u0301e\u0301e\u0301", 5, []string{"e\u0301e\u0301", "e\u0301"}},
		"astral":                 {"😀😀😀", 5, []string{"😀😀", "😀"}},
		"family":                 {"aa👩‍👩‍👧‍👦bb", 12, []string{"aa", "👩‍👩‍👧‍👦b", "b"}},
		"a small paragraph":      {"Hi\n\none two. three four five six seven", 20, []string{"Hi\n\none two.", "three four five six", "seven"}},
		"an address stays whole": {"see https://example.org/abcd now", 27, []string{"see", "https://example.org/abcd", "now"}},
		"ideographs":             {"日本語の文。次の文、終わり", 8, []string{"日本語の文。", "次の文、終わり"}},
		"no break before comma":  {"日本語、日本語", 3, []string{"日本", "語、日", "本語"}},
		"indentation stays":      {"- one two\n  - three", 12, []string{"- one two", "  - three"}},
	} {
		var got []string
		for _, chunk := range rich.Plain(c.text).Chunks(c.limit) {
			got = append(got, chunk.Plain)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\nwanted %q", name, got, c.want)
		}
	}
}

// TestChunksOfCode: code that is cut is code in both pieces, cut between lines, and it is rather cut before it.
func TestChunksOfCode(t *testing.T) {
	text := rich.Text{Plain: "Look here:\nfor {\n\n  x()\n}\nDone.", Spans: []rich.Span{{Start: 11, End: 26, Style: rich.Block, Value: "go"}}}
	want := []rich.Text{
		{Plain: "Look here:"},
		{Plain: "for {\n\n  x()\n}", Spans: []rich.Span{{Start: 0, End: 14, Style: rich.Block, Value: "go"}}},
		{Plain: "Done."},
	}
	text.Spans[0].End = 25
	compare := func(limit int) {
		t.Helper()
		got := text.Chunks(limit)
		if !slices.EqualFunc(got, want, func(a, b rich.Text) bool { return a.Plain == b.Plain && slices.Equal(a.Spans, b.Spans) }) {
			t.Errorf("%+v\nwanted %+v", got, want)
		}
	}
	compare(16)
	want = []rich.Text{
		want[0],
		{Plain: "for {", Spans: []rich.Span{{Start: 0, End: 5, Style: rich.Block, Value: "go"}}},
		{Plain: "  x()\n}", Spans: []rich.Span{{Start: 0, End: 7, Style: rich.Block, Value: "go"}}},
		want[2],
	}
	compare(10)
}

// TestChunksAreLinear: texts that are hard to cut take no longer than others of their size.
func TestChunksAreLinear(t *testing.T) {
	const size = 1 << 18
	spans := make([]rich.Span, size/2)
	for i := range spans {
		spans[i] = rich.Span{Start: 2 * i, End: 2*i + 1, Style: rich.Bold}
	}
	for name, text := range map[string]rich.Text{
		"combining": rich.Plain("a" + strings.Repeat("\u0301", size)), "blanks": rich.Plain("a" + strings.Repeat(" ", size) + "b"), "closing": rich.Plain(strings.Repeat(") ", size/2)),
		"small and long words": rich.Plain(strings.Repeat("ok\n\na. b "+strings.Repeat("x", 95)+" ", size/100)), "flags": rich.Plain(strings.Repeat("🇦", size)), "spans": {Plain: strings.Repeat("a ", size/2), Spans: spans},
		"quotes": rich.Plain(strings.Repeat("\"", size)),
	} {
		began := time.Now()
		for _, c := range text.Chunks(100) {
			if c.Length() > 100 {
				t.Fatalf("%s: a piece of %d", name, c.Length())
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}
