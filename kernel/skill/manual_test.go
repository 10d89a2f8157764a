package skill_test

import (
	"testing"

	"org-agent/kernel/skill"
)

func TestEntries(t *testing.T) {
	entries, err := skill.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, entry := range entries {
		found[entry.Name] = true
		if entry.Doc == "" {
			t.Errorf("nothing is said about %s", entry.Name)
		}
	}
	for _, name := range []string{"defskill", "ask-neuro", "lookup-object", "make-org-object", "fiveam:is", "car", "loop", "cl-ppcre:scan", "uiop:split-string", "*print-base*"} {
		if !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if found["%register-skill"] {
		t.Error("what only expansions use is told")
	}
}
