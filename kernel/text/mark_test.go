package text_test

import (
	"crypto/sha256"
	"hash"
	"strings"
	"testing"

	"org-agent/kernel/text"
)

// TestMark checks that a mark is in no text, and the same for the same texts.
func TestMark(t *testing.T) {
	in := func(all string) func(string) bool {
		return func(mark string) bool { return strings.Contains(all, mark) }
	}
	seed := func(all string) hash.Hash {
		h := sha256.New()
		h.Write([]byte(all))
		return h
	}
	first := text.Mark(seed("seed"), in(""))
	second := text.Mark(seed("seed"), in(first))
	if first == second || text.Mark(seed("seed"), in("")) != first || text.Mark(seed("other"), in("")) == first {
		t.Errorf("the marks are %q and %q", first, second)
	}
}
