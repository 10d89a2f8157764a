package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// TestForeignDirectories runs a corpus of directories: what lies there, the rows, a command and the verdict where no
// project of the conversation is. Both too lenient and too harsh a verdict is a fault. A directory may be the one of
// the command, or one that it changes to. In a project of the conversation, and with rows about the directory, none
// of this asks.
func TestForeignDirectories(t *testing.T) {
	text, err := os.ReadFile("testdata/directories.tsv")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 {
			t.Fatalf("line %d has %d cells", i+2, len(cells))
		}
		files, rows, command, want, why := cells[0], cells[1], cells[2], cells[3], cells[4]
		directory := filepath.Join(root, fmt.Sprint(i), "a")
		for name := range strings.FieldsSeq(files) {
			path := filepath.Join(directory, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, directory := range []string{directory, filepath.Join(directory, "../b")} {
			if err := os.MkdirAll(directory, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		table, within := ruleHead, ruleHead
		for row := range strings.SplitSeq(rows, " + ") {
			table += "| runs | " + row + " | allow | | |\n"
			within += "| runs in " + directory + " | " + row + " | allow | | |\n"
		}
		p := withRules(t, table)
		v := p.JudgeReach(runsIn(directory, command))
		if v.Kind.String() != want || !strings.Contains(v.Reason, why) {
			t.Errorf("directories.tsv:%d: %s in a directory with %s: %s, %s; not %s, %s", i+2, command, files, v.Kind, v.Reason, want, why)
		}
		project := policy.Where{Route: protocol.LocalRoute(protocol.ChannelEmacs), Projects: &policy.Projects{Given: []string{directory}}}
		if v := p.JudgeReachIn(t.Context(), project, runsIn(directory, command)); v.Kind != policy.Allow {
			t.Errorf("directories.tsv:%d: %s in a project: %s, %s", i+2, command, v.Kind, v.Reason)
		}
		if v := p.JudgeReachIn(t.Context(), project, runsIn(filepath.Join(directory, "../b"), command)); want == "allow" && v.Kind != policy.Allow {
			t.Errorf("directories.tsv:%d: %s beside a project: %s, %s", i+2, command, v.Kind, v.Reason)
		}
		if v := withRules(t, within).JudgeReach(runsIn(directory, command)); v.Kind != policy.Allow {
			t.Errorf("directories.tsv:%d: %s with rows about the directory: %s, %s", i+2, command, v.Kind, v.Reason)
		}
	}
}
