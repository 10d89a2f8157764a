package signal

import (
	"fmt"
	"strings"

	"org-agent/kernel/channel/rich"
)

// stylesOf are those of Signal. What is underlined stays plain, because Signal has nothing for it.
var stylesOf = map[rich.Style]string{
	rich.Bold: "BOLD", rich.Italic: "ITALIC", rich.Strike: "STRIKETHROUGH", rich.Code: "MONOSPACE", rich.Block: "MONOSPACE",
}

// render returns the text as Signal has it, and its styles as "START:LENGTH:STYLE" in UTF-16 code units. Lines of a
// quotation begin with ">", and behind the text of a link is its address, because Signal has neither.
func render(t rich.Text) (text string, styled []string) {
	w := writer{}
	var open []opened
	next := 0
	quoted := 0
	for at := 0; ; {
		for len(open) > 0 && open[len(open)-1].End <= at {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			switch last.Style {
			case rich.Quote:
				quoted--
			case rich.Link:
				if label := w.b.String()[last.begin:]; label != last.Value {
					w.write(" (" + last.Value + ")")
				}
			}
			if name := stylesOf[last.Style]; name != "" && w.units > last.units {
				styled = append(styled, fmt.Sprintf("%d:%d:%s", last.units, w.units-last.units, name))
			}
		}
		for next < len(t.Spans) && t.Spans[next].Start <= at {
			span := t.Spans[next]
			next++
			if span.Style == rich.Quote {
				if quoted++; quoted == 1 {
					w.write("> ")
				}
			}
			open = append(open, opened{span, w.b.Len(), w.units})
		}
		if at >= len(t.Plain) {
			return w.b.String(), styled
		}
		end := len(t.Plain)
		if len(open) > 0 {
			end = min(end, open[len(open)-1].End)
		}
		if next < len(t.Spans) {
			end = min(end, t.Spans[next].Start)
		}
		part := t.Plain[at:end]
		if quoted > 0 {
			part = strings.ReplaceAll(part, "\n", "\n> ")
			if outer := outerQuote(open); end == outer && strings.HasSuffix(part, "\n> ") {
				part = strings.TrimSuffix(part, "> ") // the end of its last line
			}
		}
		w.write(part)
		at = end
	}
}

// opened is a span that has begun in what is written, at a byte and a code unit.
type opened struct {
	rich.Span
	begin, units int
}

// outerQuote returns where the outermost quotation ends.
func outerQuote(open []opened) int {
	for _, o := range open {
		if o.Style == rich.Quote {
			return o.End
		}
	}
	return -1
}

// writer counts code units.
type writer struct {
	b     strings.Builder
	units int
}

func (w *writer) write(s string) {
	w.b.WriteString(s)
	w.units += rich.Length(s)
}
