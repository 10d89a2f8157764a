package org_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// tangledBy is the result for a note: an error, or the files with their modes.
type tangledBy struct {
	failure string
	tree    map[string]string
}

// readTree returns the files below a directory but the note.
func readTree(t *testing.T, directory string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == "n.org" || path == directory {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(directory, path)
		if entry.IsDir() {
			tree[name+"/"] = info.Mode().String()
			return nil
		}
		if info.Mode().Perm()&0o400 == 0 && os.Getuid() != 0 {
			return nil
		}
		content, err := os.ReadFile(path)
		tree[name] = fmt.Sprintf("%v %q", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// emacsTangles makes one Emacs tangle every note in a directory of its own.
func emacsTangles(t *testing.T, root string, notes []string) []tangledBy {
	t.Helper()
	var directories []string
	for i, note := range notes {
		directory := filepath.Join(root, fmt.Sprintf("emacs%d", i), "note")
		directories = append(directories, directory)
		placeNote(t, directory, note)
	}
	in, out := filepath.Join(root, "in"), filepath.Join(root, "out")
	if err := os.WriteFile(in, []byte(strings.Join(directories, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := emacs(ctx, t, "-l", "testdata/tangle.el",
		"--eval", fmt.Sprintf("(org-agent-tangle-notes %q %q)", in, out))
	command.Env = append(os.Environ(), "HOME="+filepath.Join(root, "home"), "LC_ALL=C.UTF-8")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v\n%s", err, output)
	}
	output, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	if len(lines) != len(notes) {
		t.Fatalf("Emacs says\n%s", output)
	}
	var results []tangledBy
	for i, line := range lines {
		results = append(results, tangledBy{line, readTree(t, directories[i])})
	}
	return results
}

// setupFiles stand beside the directories of all notes, for #+SETUPFILE lines.
var setupFiles = map[string]string{
	"setup/one.org":        "#+PROPERTY: header-args :tangle one.x\n#+TODO: NEXT | GONE\n* A\n#+begin_src x\nnot tangled\n#+end_src\n",
	"setup/adds.org":       "#+property: header-args+ :padline no\n#+SETUPFILE: deep/again.org\n",
	"setup/deep/again.org": "#+SETUPFILE: ../adds.org\n#+PROPERTY: header-args:sh :shebang #!/bin/sh\n#+begin_example\n#+PROPERTY: header-args :tangle no\n#+end_example\n",
	"setup/returns.org":    "#+PROPERTY: header-args :tangle returns.x\r\n",
}

func placeNote(t *testing.T, directory, note string) {
	t.Helper()
	for name, content := range setupFiles {
		path := filepath.Join(filepath.Dir(directory), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(directory, "there"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "n.org"), []byte(note), 0o644); err != nil {
		t.Fatal(err)
	}
}

// weTangle tangles a note as the command does.
func weTangle(t *testing.T, directory, home, note string) (tangledBy, []org.Diagnostic) {
	t.Helper()
	placeNote(t, directory, note)
	files, diagnostics := org.Tangle(org.TangleRequest{Path: filepath.Join(directory, "n.org"), Directory: directory, Home: home, Source: []byte(note), Read: os.ReadFile})
	result := tangledBy{"ok", nil}
	for _, d := range diagnostics {
		if d.Severity == org.Error {
			result.failure = d.String()
		}
	}
	if result.failure == "ok" {
		_, faults := org.WriteTangled(files)
		if faults != nil {
			result.failure = faults[0].String()
		}
	}
	result.tree = readTree(t, directory)
	return result, diagnostics
}

// compareTangles tangles notes with Emacs and here. If Emacs fails, this package must fail too. If
// this package refuses a note, the reason must be something that Emacs evaluates or asks for.
func compareTangles(t *testing.T, notes []string) (refused int) {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	theirs := emacsTangles(t, root, notes)
	for i, note := range notes {
		// Both directories have the same name, because links contain it.
		place := filepath.Join(root, fmt.Sprintf("emacs%d", i), "note")
		if err := os.Rename(place, place+"-emacs"); err != nil {
			t.Fatal(err)
		}
		ours, _ := weTangle(t, place, home, note)
		if ours.failure != "ok" {
			refused++
			if theirs[i].failure == "ok" && !mayRefuse(ours.failure) {
				t.Errorf("note %d: we refuse: %s\nEmacs writes %v\n%s", i, ours.failure, theirs[i].tree, note)
			}
			continue
		}
		if theirs[i].failure != "ok" || fmt.Sprint(theirs[i].tree) != fmt.Sprint(ours.tree) {
			t.Errorf("note %d: Emacs says %s\n%v\nwe\n%v\n%s\n%q", i, theirs[i].failure, theirs[i].tree, ours.tree, note, note)
		}
		if t.Failed() {
			break
		}
	}
	return refused
}

// mayRefuse reports whether a refusal is for code that Emacs would evaluate, or for comments that
// it takes from a place where its point is by accident.
func mayRefuse(failure string) bool {
	for _, reason := range []string{"Emacs Lisp", "which is not evaluated", "would have to be evaluated", "moves the place from which"} {
		if strings.Contains(failure, reason) {
			return true
		}
	}
	return false
}

// tangleSeeds returns how many notes the differential test compares, which ORG_TANGLE_SEEDS sets,
// and the first, which ORG_TANGLE_FROM sets.
func tangleSeeds(t *testing.T) (from, count int) {
	t.Helper()
	count = 250
	for name, place := range map[string]*int{"ORG_TANGLE_SEEDS": &count, "ORG_TANGLE_FROM": &from} {
		if text := os.Getenv(name); text != "" {
			value, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			*place = value
		}
	}
	return from, count
}

// TestEmacsTanglesAlike checks that random notes make the same trees, bytes and modes.
func TestEmacsTanglesAlike(t *testing.T) {
	from, count := tangleSeeds(t)
	generator := rapid.Custom(tangleNote)
	var notes []string
	for seed := range count {
		notes = append(notes, generator.Example(from+seed))
	}
	refused := compareTangles(t, notes)
	t.Logf("%d notes, %d refused by both", len(notes), refused)
	if refused*2 > len(notes) {
		t.Errorf("too many notes are refused: %d of %d", refused, len(notes))
	}
}
