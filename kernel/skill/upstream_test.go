package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/skill"
)

// TestNotesOfOtherSystems loads notes as people bring them from earlier systems. Each is live, or
// its diagnostics name what it lacks and where. They are in one home, because they depend on each
// other.
func TestNotesOfOtherSystems(t *testing.T) {
	const directory = "testdata/upstream"
	r := skill.New(skill.Config{Home: directory, Specs: kernelSpecs})
	var out strings.Builder
	for _, s := range r.Load(t.Context()) {
		fmt.Fprintf(&out, "%s %s: skills %q, tests %d\n", filepath.Base(s.File), s.State, s.Skill, s.Tests)
		for _, d := range s.Diagnostics {
			d.File = filepath.Base(d.File)
			out.WriteString("  " + d.String() + "\n")
		}
		if s.State != skill.Live && len(s.Diagnostics) == 0 {
			t.Errorf("nothing is said of %s, which is %s", s.File, s.State)
		}
	}
	golden := filepath.Join(directory, "want.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
