package rich

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Length returns the length of a text in UTF-16 code units, in which chats measure it.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Length returns the length of the text in UTF-16 code units.
func (t Text) Length() int { return Length(t.Plain) }

// wholeLines reports whether such a span stands in lines of its own.
func (s Style) wholeLines() bool { return s == Block || s == Quote }

// Check says what of the text breaks the promises of its type, nil for nothing.
func (t Text) Check() error {
	if !utf8.ValidString(t.Plain) {
		return fmt.Errorf("the text %q is not valid UTF-8", t.Plain)
	}
	for i, r := range t.Plain {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return fmt.Errorf("the text has the control character %U at byte %d", r, i)
		}
	}
	var open []Span
	last := 0
	for _, s := range t.Spans {
		if s.Start < last || s.End <= s.Start || s.End > len(t.Plain) || s.Style < Bold || s.Style > Link {
			return fmt.Errorf("the span %+v is out of order, empty, out of the text of %d bytes or without a style", s, len(t.Plain))
		}
		if !utf8.RuneStart(t.Plain[s.Start]) || s.End < len(t.Plain) && !utf8.RuneStart(t.Plain[s.End]) {
			return fmt.Errorf("the span %+v begins or ends within a character", s)
		}
		for len(open) > 0 && open[len(open)-1].End <= s.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			if outer := open[len(open)-1]; s.End > outer.End || outer.Style == Code || outer.Style == Block {
				return fmt.Errorf("the span %+v overlaps %+v, or is within code", s, outer)
			}
		}
		if slices.ContainsFunc(open, func(o Span) bool { return o.Style == s.Style }) {
			return fmt.Errorf("the span %+v is within one of its own style", s)
		}
		if s.Style.wholeLines() && (s.Start > 0 && t.Plain[s.Start-1] != '\n' || s.End < len(t.Plain) && t.Plain[s.End] != '\n') {
			return fmt.Errorf("the span %+v is not of whole lines", s)
		}
		open, last = append(open, s), s.Start
	}
	return nil
}
