package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

var writtenOn = time.Date(2026, 11, 26, 17, 0, 0, 0, time.UTC)

// TestAlways checks that the row of the decision "always" allows the one action, is explained by its
// line, and stops when it is removed.
func TestAlways(t *testing.T) {
	p := withRules(t, ruleHead+"| runs | make ** | ask | look first | |\n")
	asked := read(t, command(t, "make test"))
	verdict := func(text string) policy.Verdict {
		_, v, err := p.Verify(t.Context(), read(t, command(t, text)), policy.Where{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := verdict("make test")
	if before.Kind != policy.Ask {
		t.Fatal(before)
	}
	hash := before.Action.Hash()
	for range 2 { // the second time the row is there
		if err := p.Rules.Allow(hash, "Run make test | tee\nlog", writtenOn); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile(p.Rules.Path)
	if err != nil {
		t.Fatal(err)
	}
	row := "| action | " + hash + ` | allow | Run make test \vert{} tee log | [2026-11-26 Thu] |` + "\n"
	if string(source) != ruleHead+"| runs | make ** | ask | look first | |\n"+row {
		t.Fatalf("policy.org is\n%s", source)
	}
	v := verdict("make test")
	if v.Kind != policy.Allow || !strings.Contains(v.Reason, "policy.org:5 says allow, Run make test | tee log") {
		t.Fatalf("%s: %s", v.Kind, v.Reason)
	}
	last := v.Decisions[len(v.Decisions)-1]
	if last.Line != 5 || last.Rule != "action "+hash {
		t.Errorf("decided by %+v", last)
	}
	if v := verdict("make test2"); v.Kind != policy.Ask {
		t.Errorf("another action: %s", v.Reason)
	}
	if v := p.Judge(t.Context(), asked, policy.Where{}); v.Kind != policy.Ask {
		t.Errorf("without its row: %s", v.Reason)
	}
	if err := p.Rules.Remove(4, "action "+hash); !errors.Is(err, policy.ErrRowChanged) {
		t.Errorf("another line: %v", err)
	}
	if err := p.Rules.Remove(5, "action "+hash); err != nil {
		t.Fatal(err)
	}
	if v := verdict("make test"); v.Kind != policy.Ask {
		t.Errorf("revoked: %s", v.Reason)
	}
}

// TestAlwaysIsNarrow checks that a row for one action changes no decision that is made anew each time,
// and that such a row can also refuse.
func TestAlwaysIsNarrow(t *testing.T) {
	p := withRules(t, ruleHead)
	protected := read(t, command(t, "rm policy.org"))
	v := p.Judge(t.Context(), protected, policy.Where{})
	if !v.OnceOnly {
		t.Fatal(v.Reason)
	}
	if err := p.Rules.Allow(v.Action.Hash(), "Run rm", writtenOn); err != nil {
		t.Fatal(err)
	}
	if _, v, _ := p.Verify(t.Context(), protected, policy.Where{}); v.Kind != policy.Ask {
		t.Errorf("%s: %s", v.Kind, v.Reason)
	}
	listed := read(t, command(t, "ls"))
	hash := p.Judge(t.Context(), listed, policy.Where{}).Action.Hash()
	source := ruleHead + "| runs | ls | allow | | |\n| action | " + hash + " | refuse | not this | |\n"
	if err := os.WriteFile(p.Rules.Path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, v, _ := p.Verify(t.Context(), listed, policy.Where{}); v.Kind != policy.Refuse || !strings.Contains(v.Reason, "policy.org:5 says refuse, not this") {
		t.Errorf("%s: %s", v.Kind, v.Reason)
	}
}

// TestRowsAreWritten checks the files that a row is written into, and those that are left alone.
func TestRowsAreWritten(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	row := "| action | " + hash + " | allow   | Ring | [2026-11-26 Thu] |\n"
	for name, c := range map[string]struct{ before, after, failure string }{
		"an empty file":  {"", "* Rules\n\nWhat the agent may do", ""},
		"no table":       {"text\n* Rules\nmine\n* Grants\n", "* Rules\nmine\n\n| rule ", ""},
		"a faulty table": {ruleHead + "| x |\n", "", ":4: the row has 1 cells"},
		"a large file":   {strings.Repeat("x", 2<<20), "", "more than 1048576 bytes"},
	} {
		p := withRules(t, c.before)
		err := p.Rules.Allow(hash, "Ring", writtenOn)
		source, _ := os.ReadFile(p.Rules.Path)
		switch {
		case c.failure != "":
			if err == nil || !strings.Contains(err.Error(), c.failure) || string(source) != c.before {
				t.Errorf("%s: %v, %d bytes", name, err, len(source))
			}
		case err != nil || !strings.Contains(string(source), c.after) || !strings.Contains(string(source), row):
			t.Errorf("%s: %v\n%s", name, err, source)
		case len(p.Rules.Rules().Faults()) > 0:
			t.Errorf("%s: %v", name, p.Rules.Rules().Faults())
		}
	}
	p := withRules(t, ruleHead)
	lock := filepath.Join(filepath.Dir(p.Rules.Path), ".#policy.org")
	if err := os.Symlink("ann@host.1:2", lock); err != nil {
		t.Fatal(err)
	}
	if err := p.Rules.Allow(hash, "Ring", writtenOn); err == nil || !strings.Contains(err.Error(), "policy.org has unsaved changes in an editor") {
		t.Errorf("with unsaved changes: %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Rules.Path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := p.Rules.Allow(hash, "Ring", writtenOn); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only file: %v", err)
	}
	if source, _ := os.ReadFile(p.Rules.Path); string(source) != ruleHead {
		t.Errorf("policy.org became\n%s", source)
	}
}

// TestRunsInDirectory checks a row for commands in one directory: it holds below it, and not where the
// command line goes elsewhere first.
func TestRunsInDirectory(t *testing.T) {
	project := t.TempDir()
	if err := os.Mkdir(filepath.Join(project, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := withRules(t, ruleHead+"| runs in ="+project+"= | make ** | allow | mine | |\n| runs in "+project+" | make push | refuse | | |\n| runs | cd ** | allow | | |\n")
	for _, c := range []struct {
		directory, command string
		want               policy.Kind
	}{
		{project, "make test", policy.Allow},
		{filepath.Join(project, "sub"), "make test", policy.Allow},
		{project + "2", "make test", policy.Ask},
		{"/", "make test", policy.Ask},
		{project, "cd / && make test", policy.Ask},
		{project, "make push", policy.Refuse},
		{project, "cd sub; make push", policy.Refuse},
		{"/", "cd " + project + " && make test", policy.Allow},
		{"/", "cd " + project + "; make test", policy.Ask},
		{project, "make test; cd /", policy.Allow},
		{project, "cd sub && make -C .. test", policy.Ask},
		{"/", "make push", policy.Ask},
		{project, "ls", policy.Ask},
	} {
		if v := p.JudgeReach(runsIn(c.directory, c.command)); v.Kind != c.want {
			t.Errorf("%s in %s: %s, %s", c.command, c.directory, v.Kind, v.Reason)
		}
	}
}

// runsIn is a command line that runs in a directory.
func runsIn(directory, command string) protocol.Reach {
	return protocol.Reach{Kind: protocol.ReachRuns, Command: command, Path: directory}
}
