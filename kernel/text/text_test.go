package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"org-agent/kernel/text"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"line", text.Line("  a\n\tb  c "), "a b c"},
		{"short", text.Clip("äöü", 3), "äöü"},
		{"clipped", text.Clip("äöüß", 3), "äö…"},
		{"clipped at a blank", text.Clip("one two three", 5), "one…"},
		{"nothing left", text.Clip("abc", 1), "…"},
		{"invalid", text.Clip("a\xffb", 9), "a\uFFFDb"},
		{"plain", text.PlainLine("a\x1b[31m\u202eb\u200b\nc", 20), "a [31mb c"},
		{"plain, clipped", text.PlainLine("a b c d", 5), "a b…"},
		{"prefix", text.Prefix("äöü", 3), "ä"},
		{"suffix", text.Suffix("äöü", 3), "ü"},
		{"whole suffix", text.Suffix("äöü", 6), "äöü"},
		{"no suffix", text.Suffix("äöü", 1), ""},
		{"abridged", text.Abridge("äöü", 3), "ä… [4 bytes more]"},
		{"not abridged", text.Abridge("äöü", 6), "äöü"},
		{"whole prefix", text.Prefix("äöü", 6), "äöü"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestTextFits checks that any text fits and is valid, and that a line of a stranger contains
// nothing that controls a screen.
func TestTextFits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		source := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(r, "text")
		limit := rapid.IntRange(1, 40).Draw(r, "limit")
		clipped, line, prefix, suffix := text.Clip(source, limit), text.PlainLine(source, limit), text.Prefix(source, limit), text.Suffix(source, limit)
		if utf8.RuneCountInString(clipped) > limit || !utf8.ValidString(clipped) {
			r.Errorf("clipped: %q", clipped)
		}
		if utf8.RuneCountInString(line) > limit || strings.ContainsFunc(line, func(c rune) bool { return !unicode.IsPrint(c) && c != 0x200c && c != 0x200d }) {
			r.Errorf("line: %q", line)
		}
		if len(prefix) > limit || !strings.HasPrefix(source, prefix) {
			r.Errorf("prefix: %q", prefix)
		}
		if len(suffix) > limit || !strings.HasSuffix(source, suffix) || utf8.ValidString(source) && !utf8.ValidString(suffix) {
			r.Errorf("suffix: %q", suffix)
		}
	})
}

// TestLine compares Line with its definition, also for texts that need no change.
func TestLine(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "word", " ", "  ", "\t", "\n", "\v", "\x00", "é", "\u00a0", "\u2028", "\xff"})).Draw(r, "parts")
		source := strings.Join(parts, "")
		if got, want := text.Line(source), strings.Join(strings.Fields(source), " "); got != want {
			r.Fatalf("Line(%q) = %q, not %q", source, got, want)
		}
	})
}
