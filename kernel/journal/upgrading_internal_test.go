package journal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestUpgradingTellsHowFar: what is told of an upgrade grows, names no share twice, and ends before it is done. Nothing is
// told where nobody listens, nor of work that is done at once.
func TestUpgradingTellsHowFar(t *testing.T) {
	var told []string
	u := &upgrading{report: func(text string) { told = append(told, text) }, size: 100, pause: time.Millisecond}
	part, path := 0.0, filepath.Join(t.TempDir(), "copy")
	step := make(chan float64)
	grows := func(time.Duration) float64 {
		select {
		case part = <-step:
		default:
		}
		return part
	}
	work := func(parts ...float64) func() error {
		return func() error {
			for _, part := range parts {
				step <- part
			}
			time.Sleep(20 * time.Millisecond)
			return nil
		}
	}
	if err := u.during(0, 30, grows, work(0.5, 0.2, 1, 7)); err != nil {
		t.Fatal(err)
	}
	if err := u.during(30, 100, grows, work(0, 0.5, 1)); err != nil {
		t.Fatal(err)
	}
	want := []string{"upgrading the journal, 15 %", "upgrading the journal, 30 %", "upgrading the journal, 65 %", "upgrading the journal, 99 %"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if err := (&upgrading{}).during(0, 100, grows, func() error { return nil }); err != nil {
		t.Error(err)
	}
	if ratio(path, 100) != 0 {
		t.Error("a file that is missing is there in part")
	}
	if err := os.WriteFile(path, make([]byte, 50), 0o600); err != nil || ratio(path, 100) != 0.5 || ratio(path, 0) != 50 {
		t.Errorf("%v, %v", ratio(path, 100), err)
	}
}
