package skill_test

import (
	"os"
	"testing"
	"time"

	"org-agent/kernel/skill"
)

// TestReplaced stands for an update of the program while a kernel runs.
func TestReplaced(t *testing.T) {
	replaced := skill.Replaced()
	if replaced() {
		t.Error("nothing happened, and the program counts as replaced")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if !replaced() {
		t.Error("the program has another time, and does not count as replaced")
	}
}
