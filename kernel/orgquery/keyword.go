package orgquery

import (
	"slices"

	"org-agent/kernel/org"
)

// Reopened returns the keyword that a repeating entry gets when it was done. One without a keyword gets none.
func (f *File) Reopened(h *org.Heading) string {
	if to, ok := h.Property("REPEAT_TO_STATE"); ok && slices.Contains(f.Keywords, to) {
		return to
	}
	at := slices.Index(f.Keywords, h.Todo)
	for _, first := range slices.Backward(f.Starts) {
		if i := slices.Index(f.Keywords, first); at >= 0 && i <= at {
			return first
		}
	}
	return h.Todo
}

// DoneWord returns the keyword with which an entry is done: the first such one of its sequence.
func (f *File) DoneWord(h *org.Heading) string {
	for _, word := range f.Keywords[max(slices.Index(f.Keywords, h.Todo), 0):] {
		if f.Done[word] {
			return word
		}
	}
	return ""
}
