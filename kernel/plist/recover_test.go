package plist_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"org-agent/kernel/act"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
)

var update = flag.Bool("update", false, "write the results into the golden files")

// TestRecoverGolden checks the recovery, step by step.
func TestRecoverGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/recover/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		content := map[string]string{}
		for _, f := range archive.Files {
			content[f.Name] = string(f.Data)
		}
		updated := &txtar.Archive{Comment: archive.Comment}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".want") {
				continue
			}
			updated.Files = append(updated.Files, f)
			if strings.HasSuffix(f.Name, ".seen") {
				continue
			}
			got := describe(plist.Recover(unline(content[f.Name]), plist.RecoverOptions{
				Input:    []string{unline(content[f.Name+".seen"])},
				Finished: !strings.Contains(f.Name, "cut"),
				IsReply:  kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).IsReply,
			}))
			updated.Files = append(updated.Files, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
			if want := content[f.Name+".want"]; got != want && !*update {
				t.Errorf("%s: %s:\n%s\ngot:\n%swant:\n%s", file, f.Name, content[f.Name], got, want)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// unline removes the newline that txtar needs at the end.
func unline(s string) string { return strings.TrimSuffix(s, "\n") }

func describe(r plist.Recovered) string {
	var b strings.Builder
	fmt.Fprintf(&b, "steps: %s\n", strings.Join(r.Steps, " "))
	switch {
	case r.Err != nil:
		fmt.Fprintf(&b, "error: %s\n", r.Err)
	case r.Proposal != nil:
		fmt.Fprintf(&b, "proposal: %s\n", plist.Print(r.Proposal))
	default:
		fmt.Fprintf(&b, "prose: %q\nreason: %s\n", r.Text, r.Reason)
	}
	if r.Candidates > 1 {
		fmt.Fprintf(&b, "candidates: %d\n", r.Candidates)
	}
	return b.String()
}

// TestRecoveredFitsTheReader checks that a proposal from JSON is within the limits of the reader
// that reads it again.
func TestRecoveredFitsTheReader(t *testing.T) {
	for _, c := range []struct {
		item     string
		accepted int // items in addition to :type :x :v
	}{{"1", 99_997}, {"[]", 99_997}, {"{}", 99_997}, {`{"a":1}`, 49_998}} {
		for n, want := range map[int]bool{c.accepted: true, c.accepted + 1: false} {
			text := `{"type":"x","v":[` + strings.TrimSuffix(strings.Repeat(c.item+",", n), ",") + `]}`
			proposal, _, err := plist.ReadProposal(text, nil)
			if (err == nil) != want {
				t.Errorf("%d times %s: %v", n, c.item, err)
			}
			if err != nil {
				continue
			}
			if back, err := plist.Read(plist.Print(proposal)); err != nil || !plist.Equal(back, proposal) {
				t.Errorf("%d times %s does not come back: %v", n, c.item, err)
			}
		}
	}
}
