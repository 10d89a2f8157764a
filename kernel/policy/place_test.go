package policy

import (
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/protocol"
)

// TestPlaceOf checks that the file of an item is found in a place that is written for people.
func TestPlaceOf(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	for _, name := range []string{"a.go", "one, two.org", "of b"} {
		if err := os.WriteFile(filepath.Join(user, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for place, want := range map[string]string{
		"~/a.go": "a.go", user + "/a.go": "a.go", "~/a.go, not saved": "a.go", "lines 3-9 of ~/a.go": "a.go", "line 3 of ~/of b": "of b",
		"~/one, two.org, narrowed to lines 1-2, not saved": "one, two.org", "~/gone": "", "a buffer": "", "lines 1-2 of the buffer x": "", "a.go": "",
		"/ssh:host:/a.go": "", "": "", ", ": "",
	} {
		if want != "" {
			want = filepath.Join(user, want)
		}
		if got := placeOf(protocol.ContextItem{Kind: "file", Place: place}); got != want {
			t.Errorf("%q: %q and not %q", place, got, want)
		}
	}
	if got := placeOf(protocol.ContextItem{Kind: protocol.ContextMemory, Place: "~/a.go"}); got != "" {
		t.Errorf("what the kernel found itself opens %s", got)
	}
}
