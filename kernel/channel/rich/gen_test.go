package rich_test

import (
	"strings"

	"pgregory.net/rapid"

	"org-agent/kernel/channel/rich"
)

// words are what texts are made of: what is hard to cut, to measure and to escape.
var words = []string{
	"a", "word", "Ende.", "\"So?\"", "…", "x", "e\u0301", "👩‍👩‍👧‍👦", "🇦🇹🇨🇭", "क्षि", "日本語", "、", "。", "\u00a0", "<b>", "&amp;", "'\"", "  ", "\t", "\n", "\n\n", " ", " ", " ",
	"https://example.org/a?b=c&d", "😀😀😀", "שלום", "\u200f", "ﷺ", "z\u0335\u0336\u0337\u0338", "\u0301", strings.Repeat("long", 9),
}

// texts generates texts with spans, made of words: what nests, with blocks and quotes in lines of their own.
func texts() *rapid.Generator[rich.Text] {
	return rapid.Custom(func(t *rapid.T) rich.Text {
		w := writer{open: map[rich.Style]bool{}}
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			w.part(t, 0)
		}
		return w.text
	})
}

type writer struct {
	text rich.Text
	open map[rich.Style]bool
}

func (w *writer) words(t *rapid.T) {
	w.text.Plain += strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "words"), "")
}

func (w *writer) part(t *rapid.T, depth int) {
	style := rich.Style(rapid.IntRange(0, int(rich.Link)).Draw(t, "style"))
	own := style == rich.Block || style == rich.Quote
	if style == 0 || depth > 0 && own || w.open[style] {
		w.words(t)
		return
	}
	if own && w.text.Plain != "" && !strings.HasSuffix(w.text.Plain, "\n") {
		w.text.Plain += "\n"
	}
	span := rich.Span{Start: len(w.text.Plain), Style: style}
	if style == rich.Link {
		span.Value = rapid.SampledFrom([]string{"https://example.org/?a=\"b\"&c", "javascript:alert(1)", "mailto:a@b.c"}).Draw(t, "address")
	}
	if style == rich.Block {
		span.Value = rapid.SampledFrom([]string{"", "go", "a\"b"}).Draw(t, "language")
	}
	i := len(w.text.Spans)
	w.text.Spans = append(w.text.Spans, span)
	w.words(t)
	w.open[style] = true
	if style != rich.Code && style != rich.Block && depth < 3 {
		for range rapid.IntRange(0, 2).Draw(t, "inner") {
			w.part(t, depth+1)
		}
	}
	w.open[style] = false
	w.text.Spans[i].End = len(w.text.Plain)
	if own {
		w.text.Plain += "\n"
	}
}
