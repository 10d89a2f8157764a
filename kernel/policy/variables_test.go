package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
)

// TestVariablesInParts: edits in Emacs each of which says nothing, and that make file variables together, are asked
// about as what they come to.
func TestVariablesInParts(t *testing.T) {
	p := withRules(t, ruleHead+"| writes | ~/** | allow | | |\n")
	note := filepath.Join(p.Home, "notes.txt")
	reaches := func(old, new string) bool {
		t.Helper()
		v := p.Judge(t.Context(), read(t, `(:type :request :target :emacs :action :edit :file "notes.txt" :old `+plist.Print(plist.String(old))+` :new `+plist.Print(plist.String(new))+`)`), policy.Where{})
		for _, d := range v.Decisions {
			if strings.Contains(d.What, "sets file variables") {
				return true
			}
		}
		return false
	}
	for _, parts := range [][][2]string{
		{{"last", "last\n# Local V"}, {"V", "Variab"}, {"Variab", "Variabl"}, {"bl", "bles:\n# eval: (f)\n# End:"}},
		{{"last", "eval: (f)\nlast"}, {"last", "End:"}, {"eval", "les:\neval"}, {"les", "iab\bles"}, {"iab\bles", "l variables"}, {"l v", "Local v"}},
		{{"first", "-*- eval: (f) *-"}, {") *-", ") -*-"}},
		{{"first", "-*- ev"}, {"ev", "-*-"}, {"- -*", "- eval: (f) -*"}},
	} {
		text, asked := "first\nlast\n", false
		for _, part := range parts {
			if err := os.WriteFile(note, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			asked = asked || reaches(part[0], part[1])
			if strings.Count(text, part[0]) == 1 {
				text = strings.Replace(text, part[0], part[1], 1)
			}
		}
		if !asked {
			t.Errorf("%q come to %q, and nobody is told", parts, text)
		}
	}
	if err := os.WriteFile(note, []byte("first\n# Local Variab\nlast\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for edit, want := range map[[2]string]bool{{"ab\n", "ables:\neval: 1\n"}: true, {"first", "second"}: false, {"none", "x"}: false, {"\n", "x"}: false} {
		if got := reaches(edit[0], edit[1]); got != want {
			t.Errorf("%q sets: %v", edit, got)
		}
	}
	if err := os.Symlink("me@host.1:2", filepath.Join(p.Home, ".#notes.txt")); err != nil {
		t.Fatal(err)
	}
	if !reaches("first", "second") {
		t.Error("what comes out is known, although Emacs has changes that are not saved")
	}
}
