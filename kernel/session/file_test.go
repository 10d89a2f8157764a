package session_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

// unkept is what a conversation's file is after turns that nobody keeps it in, behind text of
// so many lines; another program changes it meanwhile.
func unkept(t *testing.T, lines int) string {
	t.Helper()
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	path := filepath.Join(h.directory, "sessions", "main.org")
	filler := "* Notes\n:PROPERTIES:\n:ID:       notes\n:END:\n" + strings.Repeat("a line of a person's own text, as it stands there\n", lines)
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	say := func(id, text string) {
		t.Helper()
		if _, err := h.Submit(t.Context(), message(id, text)); err != nil {
			t.Fatal(err)
		}
		until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	}
	write(filler)
	say("q1", "one\nwith a second line")
	first := h.file(t, "main")
	say("q2", "two")
	write(strings.Replace(h.file(t, "main"), "Answer to one", "What I made of it", 1) + "* a draft\nof two lines")
	say("q3", "three")
	write(first) // as a git checkout does
	say("q4", "four")
	write(h.file(t, "main") + "\n* no end of line")
	if _, err := h.Retry(t.Context(), protocol.TurnRetryParams{Event: "q1"}, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	say("q5", "five")
	return regexp.MustCompile(`id-\d+-`).ReplaceAllString(strings.TrimPrefix(h.file(t, "main"), filler), "id-")
}

// TestALargeFileGrowsAsASmallOneDoes: what is written at its end only is the same, byte for byte.
func TestALargeFileGrowsAsASmallOneDoes(t *testing.T) {
	small, large := unkept(t, 1), unkept(t, 40_000)
	if small != large {
		t.Errorf("the small one became\n%s\nthe large one\n%s", small, large)
	}
	if strings.Count(small, ":ID:") < 6 || !strings.Contains(small, "* no end of line") {
		t.Errorf("the test proves nothing:\n%s", small)
	}
}

// TestFileOfANewConversation: nobody else may read what is said. A mode that the person gives the
// file stays.
func TestFileOfANewConversation(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	directory := filepath.Join(h.directory, "sessions")
	path := filepath.Join(directory, "main.org")
	say := func(id string) {
		t.Helper()
		if _, err := h.Submit(t.Context(), message(id, id)); err != nil {
			t.Fatal(err)
		}
		until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	}
	mode := func(path string) os.FileMode {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	say("q1")
	if of, in := mode(path), mode(directory); of != 0o600 || in != 0o700 {
		t.Errorf("the file has mode %o, its directory %o", of, in)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	say("q2")
	if of := mode(path); of != 0o640 {
		t.Errorf("the file has mode %o, and was given 640", of)
	}
}
