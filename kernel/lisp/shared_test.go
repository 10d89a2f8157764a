//go:build shared

package lisp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

func sharedDirectory(t *testing.T) string {
	t.Helper()
	directory := os.Getenv("ORG_AGENT_SHARED")
	if directory == "" {
		t.Fatal("set ORG_AGENT_SHARED to the directory of the shared data")
	}
	return directory
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []T
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var row T
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// lispBlocks are the blocks of a note that are loaded, with the line each begins at.
func lispBlocks(text string) (blocks []struct {
	source string
	line   int
}) {
	head := regexp.MustCompile(`(?i)^#\+begin_src lisp(.*)$`)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := head.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		start := i + 1
		for i < len(lines) && !strings.EqualFold(lines[i], "#+end_src") {
			i++
		}
		if !strings.Contains(m[1], ":tangle no") {
			blocks = append(blocks, struct {
				source string
				line   int
			}{strings.Join(lines[start:i], "\n"), start + 1})
		}
	}
	return blocks
}

// TestUserNote loads the user's own note unchanged and makes the calls recorded from
// SBCL.
func TestUserNote(t *testing.T) {
	shared := sharedDirectory(t)
	text, err := os.ReadFile(filepath.Join(shared, "seeds", "org-skill-chat.org"))
	if err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t, noteConfig(nil))
	for _, block := range lispBlocks(string(text)) {
		if err := e.Load(t.Context(), block.source, "org-skill-chat.org", block.line); err != nil {
			t.Fatal(err)
		}
	}
	if problems, err := e.Problems(t.Context()); err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	type row struct{ Function, Args, Value string }
	passed := 0
	rows := readLines[row](t, filepath.Join(shared, "conformance", "chat-note-cases.jsonl"))
	for _, r := range rows {
		got, err := evaluated(t, e, "(apply #'"+r.Function+" '"+r.Args+")")
		if err != nil {
			got = "error"
		}
		// The record writes a newline in a printed string as the reader takes it.
		got = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(got)
		if got != r.Value {
			t.Errorf("%s %s\n got %s %v\nwant %s", r.Function, r.Args, got, err, r.Value)
			continue
		}
		passed++
	}
	t.Logf("%d of %d cases", passed, len(rows))
}

// conformanceFloor is the share of the forms that must agree with SBCL; the rest
// differ on purpose or print what is internal to SBCL.
const conformanceFloor = 0.97

func TestSharedForms(t *testing.T) {
	type row struct{ Category, Form, Value string }
	type score struct{ agreed, total int }
	scores := map[string]*score{}
	all := score{}
	for _, r := range readLines[row](t, filepath.Join(sharedDirectory(t), "conformance", "lisp-forms.jsonl")) {
		e := newEnvironment(t, lisp.Config{})
		got, err := evaluated(t, e, r.Form)
		if err != nil {
			got = "error"
		}
		s := scores[r.Category]
		if s == nil {
			s = &score{}
			scores[r.Category] = s
		}
		s.total++
		all.total++
		if got == r.Value {
			s.agreed++
			all.agreed++
		} else {
			t.Logf("%s: %s\n got %s %v\nwant %s", r.Category, r.Form, got, err, r.Value)
		}
	}
	var names []string
	for name := range scores {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%-20s %3d of %3d", name, scores[name].agreed, scores[name].total)
	}
	t.Logf("%-20s %3d of %3d", "all", all.agreed, all.total)
	if float64(all.agreed) < conformanceFloor*float64(all.total) {
		t.Errorf("only %d of %d forms agree with SBCL", all.agreed, all.total)
	}
}
