package rpctest

import "testing"

// What is saved while an answer is being written is the conversation without it.
func TestPreviewsAreNotSettled(t *testing.T) {
	before := "* One :user:\n:PROPERTIES:\n:ID:       q1\n:END:\n* "
	b := buffer{text: before, previews: map[string]*span{}}
	for offset, text := range []string{"** D", "", "", "", "one\n** more"} {
		if text != "" && !b.preview("a1", "t1", "q1", "One", offset, text) {
			t.Fatalf("a gap before %q", text)
		}
		if got := b.settled(); got != before {
			t.Errorf("with the preview in %q what is saved is %q", b.text, got)
		}
	}
	b.insert(b.draftStart(), "* Two :user:\n:PROPERTIES:\n:ID:       q2\n:END:\n")
	want := before[:len(before)-2] + "* Two :user:\n:PROPERTIES:\n:ID:       q2\n:END:\n* "
	if got := b.settled(); got != want {
		t.Errorf("saved is %q, want %q", got, want)
	}
}
