package policy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/policy"
)

// TestProgramOptions runs a corpus of command lines by program: what each may be told under a row with **
// for it, and what needs no row. Both too lenient and too harsh a verdict is a fault, and so is another reason than
// the one that is written there. Under a row the reason is that row.
func TestProgramOptions(t *testing.T) {
	text, err := os.ReadFile("testdata/programs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	none := withRules(t, ruleHead)
	allowing := map[string]*policy.Policy{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 4 || cells[3] == "" {
			t.Fatalf("line %d has %d cells", i+2, len(cells))
		}
		p := none
		if program, _, _ := strings.Cut(cells[0], " "); cells[2] == "all" {
			if allowing[program] == nil {
				allowing[program] = withRules(t, ruleHead+"| runs | "+program+" ** | allow | | |\n| runs | ls ** | allow | | |\n")
			}
			p = allowing[program]
		}
		v := p.JudgeReach(runsIn(p.Home, cells[0]))
		if v.Kind.String() != cells[1] {
			t.Errorf("programs.tsv:%d: %s, not %s: %s: %s", i+2, v.Kind, cells[1], cells[0], v.Reason)
		}
		why := cells[3]
		if cells[1] == "allow" && cells[2] == "all" {
			why = "says allow"
		}
		if !strings.Contains(v.Reason, why) && !slices.ContainsFunc(v.Decisions, func(d policy.Decision) bool { return strings.Contains(d.Reason, why) }) {
			t.Errorf("programs.tsv:%d: %s because %s, not because %s", i+2, cells[0], v.Reason, why)
		}
	}
}
