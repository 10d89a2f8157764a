package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/doctor"
	"org-agent/kernel/journal"
)

// TestMemoryIndex checks that a sound index is reported as such, and that the repair removes a
// damaged index and nothing else.
func TestMemoryIndex(t *testing.T) {
	c := patient(t, nil)
	report := func() string {
		t.Helper()
		var texts []string
		for _, f := range doctor.Examine(t.Context(), c, "memory") {
			texts = append(texts, string(f.State)+" "+f.Text)
		}
		return strings.Join(texts, "|")
	}
	if got := report(); !strings.HasPrefix(got, "ok there is no index") {
		t.Errorf("without an index: %q", got)
	}
	f, _, err := journal.OpenFiles(t.Context(), c.Paths.Index)
	must(t, err)
	note := filepath.Join(c.Paths.Home, "MEMORY.org")
	must(t, os.WriteFile(note, []byte("* Tea\n"), 0o600))
	info, err := os.Stat(note)
	must(t, err)
	documents := []journal.Document{{Path: note, Size: info.Size(), Changed: info.ModTime(), Hash: "x"}}
	for range 400 {
		documents[0].Parts = append(documents[0].Parts, journal.Part{Title: strings.Repeat("word ", 200), Line: 1})
	}
	must(t, f.Put(t.Context(), documents...))
	must(t, f.Close())
	if got := report(); got != "ok the index of notes is sound, with 1 file" {
		t.Errorf("a sound index: %q", got)
	}
	must(t, os.Chtimes(note, time.Now(), time.Now().Add(time.Hour)))
	if got := report(); !strings.HasPrefix(got, "ok 1 of 1 indexed files have changed") {
		t.Errorf("a stale index: %q", got)
	}
	data, err := os.ReadFile(c.Paths.Index)
	must(t, err)
	for i := 4096; i < len(data); i++ {
		data[i] = 'x'
	}
	must(t, os.WriteFile(c.Paths.Index, data, 0o600))
	if got := report(); !strings.HasPrefix(got, "fail the index of notes") {
		t.Errorf("a damaged index: %q", got)
	}
	if found := doctor.Mend(t.Context(), c, "memory"); len(found) != 2 || !found[0].Mended || found[1].State != doctor.OK {
		t.Errorf("mended: %+v", found)
	}
	if _, err := os.Stat(note); err != nil {
		t.Errorf("the note: %v", err)
	}
}
