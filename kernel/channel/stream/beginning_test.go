package stream

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBeginning is a table of what a chat shows of a text that is being written.
func TestBeginning(t *testing.T) {
	for _, c := range []struct {
		said, want string
		limit      int
		begun      bool
	}{
		{"", "…", 100, false},
		{" \n", "…", 100, false},
		{"NO", "…", 100, false},
		{"NO_REPLY", "…", 100, false},
		{"NO_REPLY\n", "…", 100, false},
		{"Nothing is", "Nothing is …", 100, true},
		{"A *bold* word ", "A bold word …", 100, true},
		{"#+begin_src go\nx := 1\n#+end_src", "x := 1\n…", 100, true},
		{"one two three four", "one two …", 10, true},
	} {
		text, begun := beginning(c.said, c.limit)
		if text.Plain != c.want || begun != c.begun {
			t.Errorf("of %q is shown %q, %v, not %q", c.said, text.Plain, begun, c.want)
		}
	}
}

// TestBeginningFits checks that what is shown of any text is a text that a chat takes.
func TestBeginningFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\n", " ", "*bold*", "`x`", "#+begin_src go\n", "#+end_src\n", "#+begin_quote\n", "#+end_quote\n", "> said\n", "```\n", "word ", "𝄞"}))
		said := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		limit := rapid.IntRange(10, 60).Draw(t, "limit")
		text, _ := beginning(said, limit)
		if err := text.Check(); err != nil || text.Length() > limit || !strings.HasSuffix(text.Plain, more) {
			t.Errorf("of %q is shown %+v: %v", said, text, err)
		}
	})
}
