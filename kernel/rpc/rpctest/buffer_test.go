package rpctest

import "testing"

// A file that is saved while an answer arrives does not contain the part that has arrived.
func TestPreviewsAreNotSaved(t *testing.T) {
	before := "* One :user:\n:PROPERTIES:\n:ID:       q1\n:END:\n* "
	b := buffer{text: before, previews: map[string]*span{}}
	for offset, text := range []string{"** D", "", "", "", "one\n** more"} {
		if text != "" && !b.preview("a1", "t1", "q1", "One", offset, text) {
			t.Fatalf("a gap before %q", text)
		}
		if got := b.withoutPreviews(); got != before {
			t.Errorf("with the preview in %q the saved text is %q", b.text, got)
		}
	}
	b.insert(b.draftStart(), "* Two :user:\n:PROPERTIES:\n:ID:       q2\n:END:\n")
	want := before[:len(before)-2] + "* Two :user:\n:PROPERTIES:\n:ID:       q2\n:END:\n* "
	if got := b.withoutPreviews(); got != want {
		t.Errorf("saved is %q, want %q", got, want)
	}
}
