// Package scripttest runs tests that are written as scripts: what happens, and what is wanted to come of it, in
// one file.
package scripttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Run plays each script of the caller's testdata, a txtar file, as a subtest. play gets the other files of the
// script by name, and returns what happened, which must be the text of the file "want". With update that file is
// written instead. A script without the files "script" and "want" is an error.
func Run(t *testing.T, update bool, play func(t *testing.T, files map[string]string) string) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts: %v, %v", scripts, err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { run(t, path, update, play) })
	}
}

func run(t *testing.T, path string, update bool, play func(t *testing.T, files map[string]string) string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, want := map[string]string{}, -1
	for i, f := range archive.Files {
		if f.Name == "want" {
			want = i
			continue
		}
		files[f.Name] = string(f.Data)
	}
	if _, there := files["script"]; !there || want < 0 {
		t.Fatal("it has no script, or nothing that is wanted")
	}
	got := play(t, files)
	if update {
		archive.Files[want].Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if wanted := string(archive.Files[want].Data); got != wanted {
		t.Errorf("what happened is\n%s\nand wanted is\n%s", got, wanted)
	}
}

// Lines returns the lines of a script that have text, without the white space around them.
func Lines(script string) (lines []string) {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
