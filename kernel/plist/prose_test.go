package plist_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/plist"
)

// prose draws a reply of what stands in prose, and now and then a proposal. A closing tag closes what was opened.
var prose = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"Roses", " want", " water.", "\n", "\n\n", " ", "* ", "- ", "é", "日本", "\"", "'", "`", "``", "```\n", "```lisp\n(defun f ())\n", "~~~\n", "nil", "n",
		"(a)", "(", ")", ":(", "(:", ":-)", "{", "}", "{\"a\": 1}", "{\"a\": ", "{\"type\": ", "\"b\"}", "[1]", "#+begin_src lisp\n", ";", ":type", "<", "<b>", "<think>", "(type",
		" (:type :log :text \"x\")", "'(:type :log)", "(list :type :log)",
	}), 0, 12)
	return rapid.SampledFrom([]string{"", "", "<think>Hm.</think>"}).Draw(t, "thought") + strings.Join(parts.Draw(t, "parts"), "")
})

// However a reply is cut, its prose only grows, and is the beginning of what Recover takes for prose. Of a reply
// with a proposal nothing of that is shown.
func TestProseStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := prose.Draw(t, "text")
		var s plist.Stream
		var all []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			s.Write(rest[:n])
			rest = rest[n:]
			if now := s.Prose(); now != "" {
				all = append(all, now)
			}
		}
		final := plist.Recover(text, plist.RecoverOptions{Finished: true})
		said, _ := plist.Get(final.Proposal, "text")
		for i, now := range all {
			switch {
			case i > 0 && !strings.HasPrefix(now, all[i-1]):
				t.Fatalf("of %q the prose was %q and became %q", text, all[i-1], now)
			case final.Proposal == nil && final.Err == nil && !strings.HasPrefix(final.Text, now):
				t.Fatalf("of %q the prose was %q and is %q", text, now, final.Text)
			case said != nil && strings.Count(text, ":log :text") == 1 && strings.Contains(now, ":log :text"):
				t.Fatalf("of %q the proposal is shown in %q", text, now)
			}
		}
	})
}

// Most of an answer is shown before it is complete, whatever it has.
func TestProseIsShownEarly(t *testing.T) {
	for _, text := range []string{
		"Roses want water. They (the red ones) want more: see [[file:a.org]] and `code` \"quoted\" :(",
		"* Roses\nThey want water.\n\n#+begin_src lisp\n(defun f (x) x)\n#+end_src\nThat is all.",
		"```lisp\n(defun f (x)\n  (list x))\n```\nThis is the function, which returns a list.",
		"<think>Hm, roses.</think>\nRoses want water, and more of it.",
		"\"Roses\" is what they are called.",
		"See:\n```python\ndef f(x):\n    return {\"a\": {\"b\": [1]}}[x]\n\nprint(f(1))\n```\nThat is all, or {\"none\" of a rose}.",
	} {
		var s plist.Stream
		for i := range len(text) - 1 {
			s.Write(text[i : i+1])
		}
		_, want, _ := strings.Cut(text, "</think>\n")
		if want == "" {
			want = text
		}
		if got := s.Prose(); !strings.HasPrefix(want, got) || len(want)-len(got) > 4 {
			t.Errorf("of %q only %q is shown", text, got)
		}
	}
}
