package rich

import (
	"html"
	"net/url"
	"slices"
	"strings"
)

// HTML returns the text in the part of HTML that Matrix names org.matrix.custom.html. Line ends are <br>, but for one
// behind a block or a quote, which end their lines by themselves. Blanks that HTML would drop do not break.
func (t Text) HTML() string {
	w := htmlWriter{plain: t.Plain}
	for _, s := range t.Spans {
		w.closeTo(s.Start)
		w.text(s.Start)
		w.open(s)
	}
	w.closeTo(len(t.Plain))
	w.text(len(t.Plain))
	return w.out.String()
}

// htmlWriter writes a text from its beginning to its end.
type htmlWriter struct {
	out   strings.Builder
	plain string
	at    int // what is before is written
	spans []Span
	ended bool // a block or a quote ends at at
}

// text writes the text up to a place.
func (w *htmlWriter) text(to int) {
	for w.at < to {
		end := to
		if i := strings.IndexByte(w.plain[w.at:to], '\n'); i >= 0 {
			end = w.at + i
		}
		w.blanks(w.plain[w.at:end])
		if w.at = end; end == to {
			w.ended = w.ended && end == w.at
			return
		}
		switch {
		case w.within(Block):
			w.out.WriteByte('\n')
		case !w.ended:
			w.out.WriteString("<br>")
		}
		w.ended = false
		w.at++
	}
}

// blanks writes what has no line end.
func (w *htmlWriter) blanks(line string) {
	if line == "" {
		return
	}
	w.ended = false
	if w.within(Block) {
		w.out.WriteString(html.EscapeString(line))
		return
	}
	lost := w.at == 0 || w.plain[w.at-1] == '\n' || w.plain[w.at-1] == ' ' // whether HTML would drop a blank here
	for line != "" {
		word, rest, blank := strings.Cut(line, " ")
		w.out.WriteString(html.EscapeString(word))
		if blank && lost && word == "" {
			w.out.WriteString("&nbsp;")
		} else if blank {
			w.out.WriteByte(' ')
		}
		lost, line = true, rest
	}
}

func (w *htmlWriter) within(style Style) bool {
	return slices.ContainsFunc(w.spans, func(s Span) bool { return s.Style == style })
}

func (w *htmlWriter) open(s Span) {
	w.spans = append(w.spans, s)
	opening, _ := s.tags()
	w.out.WriteString(opening)
	w.ended = false
}

// closeTo closes the spans that end at a place or before, and writes the text in them.
func (w *htmlWriter) closeTo(place int) {
	for len(w.spans) > 0 && w.spans[len(w.spans)-1].End <= place {
		last := w.spans[len(w.spans)-1]
		w.text(last.End)
		_, closing := last.tags()
		w.out.WriteString(closing)
		w.ended = w.ended || last.Style.wholeLines()
		w.spans = w.spans[:len(w.spans)-1]
	}
}

// tags returns how the element of a span begins and ends. A link whose address a chat would not follow is not one.
func (s Span) tags() (opening, closing string) {
	switch s.Style {
	case Bold:
		return "<strong>", "</strong>"
	case Italic:
		return "<em>", "</em>"
	case Underline:
		return "<u>", "</u>"
	case Strike:
		return "<del>", "</del>"
	case Code:
		return "<code>", "</code>"
	case Block:
		if s.Value == "" {
			return "<pre><code>", "</code></pre>"
		}
		return `<pre><code class="language-` + html.EscapeString(s.Value) + `">`, "</code></pre>"
	case Quote:
		return "<blockquote>", "</blockquote>"
	case Link:
		if Followed(s.Value) {
			return `<a href="` + html.EscapeString(s.Value) + `">`, "</a>"
		}
	}
	return "", ""
}

// Followed reports whether chats follow an address: one of the web, or of mail.
func Followed(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" || err == nil && u.Scheme == "mailto"
}
