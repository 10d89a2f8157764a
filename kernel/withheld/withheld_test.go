package withheld_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"org-agent/kernel/withheld"
)

// seen returns a text with "~" in place of each withheld part.
func seen(path, text string) string {
	var b strings.Builder
	end := 0
	for _, p := range withheld.File(path, text).Parts {
		b.WriteString(text[end:p.Start] + "~")
		end = p.End
	}
	return b.String() + text[end:]
}

func TestFile(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.org", "* A\nx\n* B :noagent:\ny\n** C\nz\n* D\n", "* A\nx\n~* D\n"},
		{"a.org", "* A :@private:\nx\n** B\n* C :home:crypt:\n* D\n*no heading\n", "~* D\n*no heading\n"},
		{"a.org", "* A\n** B :NoAgent:\ny\n*** C\n** D\n** E :noagent:\nend", "* A\n~** D\n~"},
		{"a.org", "* A\r\n* B :noagent:\r\ny\r\n* C\r\n", "* A\r\n~* C\r\n"},
		{"a.org", "\ufeff* A :noagent:\nx\n* B\n", "~* B\n"},
		{"a.org", "x\n* A\n  #+FileTags: :home:noagent:\n", "~"},
		{"a.org", "\ufeff#+filetags: crypt\nx", "~"},
		{"a.org", "#+FILETAGS: :home:\nx :noagent:\n* about :noagent: things\n", "#+FILETAGS: :home:\nx :noagent:\n* about :noagent: things\n"},
		{"a.org", "", ""},
		{"a.org~", "* A :noagent:\nx\n", "~"},
		{"#a.org#", "* A :noagent:\nx\n", "~"},
		{"a.org.~3~", "* A :noagent:\nx\n", "~"},
		{"a.org_archive", "* A :noagent:\nx\n", "~"},
		{"notes", "# -*- mode: Org; fill-column: 70 -*-\n* A :noagent:\nx\n", "# -*- mode: Org; fill-column: 70 -*-\n~"},
		{"notes", "#!/bin/sh\n# -*- org -*-\n* A :noagent:\n", "#!/bin/sh\n# -*- org -*-\n~"},
		{"a.org", "* A :NOAGENT:\nx\n* B\n", "~* B\n"},
		{"a.org", "* A :Crypt:\nx\n* B :@Private:\n* C\n", "~* C\n"},
		{"a.org", "* A\t:x:NoAgent: \t\nx\n", "~"},
		{"a.org", "#+TITLE: t\n#+FILETAGS: :home:\n* A\n#+FileTags: b NoAgent\n", "~"},
		{"a.org", "* A\n:PROPERTIES:\n:Archive_ITags: home NoAgent\n:END:\nx\n** B\n* C\n", "~* C\n"},
		{"a.org", "* A\n:PROPERTIES:\n:ARCHIVE_ITAGS: home\n:END:\nx\n", "* A\n:PROPERTIES:\n:ARCHIVE_ITAGS: home\n:END:\nx\n"},
		{"a.org", ":PROPERTIES:\n:ARCHIVE_ITAGS: crypt\n:END:\n* A\n", "~"},
		{"A.ORG", "* A :noagent:\n", "~"},
		{"a.org.rej", "* A :noagent:\n", "~"},
		{"a.org.orig", "* A :noagent:\n", "~"},
		{"a.org.bak", "* A :noagent:\n", "~"},
		{"a.Org_Archive~", "* A :noagent:\n", "~"},
		{"a.org.gpg", "* A\nx", "~"},
		{"a.txt.GPG", "x", "~"},
		{"a.age", "x", "~"},
		{"a.age~", "x", "~"},
		{"new.age.txt", "x", "x"},
		{"theme.setup", "#+FILETAGS: noagent\n", "~"},
		{"notes", "* A :noagent:\nx\n* B\n# Local Variables:\n# mode: org\n# End:\n", "~* B\n# Local Variables:\n# mode: org\n# End:\n"},
		{"notes", "* A :noagent:\n# Local Variables:\n# fill-column: 70\n# mode: Org\n# End:\n", "~"},
		{"notes", "* A :noagent:\n# Local Variables:\n# mode: markdown\n# End:\n", "* A :noagent:\n# Local Variables:\n# mode: markdown\n# End:\n"},
		{"a.go", "/*\n* A :noagent:\n*/\n", "/*\n* A :noagent:\n*/\n"},
		{"a.organ", "* A :noagent:\n", "* A :noagent:\n"},
	} {
		if got := seen(c.path, c.text); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.path, c.text, got, c.want)
		}
	}
}

// TestVeilOfCutLines checks that a heading that is cut may have any tag at its end.
func TestVeilOfCutLines(t *testing.T) {
	var v withheld.Veil
	if v.Hides("* "+strings.Repeat("x", 50), false) || !v.Hides("** "+strings.Repeat("x", 50), true) || !v.Hides("below", false) || v.Hides("* next", false) {
		t.Error("a heading that is cut is not withheld")
	}
}

// write makes a file with its directories, and returns its path.
func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// over returns the text of a file without the lines that its veil hides. ok is false if the file is
// not Org.
func over(t testing.TB, path string) (shown string, ok bool) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	veil, err := withheld.Over(path, file, info)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if veil == nil {
		return string(data), false
	}
	for line := range strings.Lines(string(data)) {
		if !veil.Hides(strings.TrimRight(line, "\r\n"), false) {
			shown += line
		}
	}
	return shown, true
}

// TestRelatedFiles checks that tags in other files count.
func TestRelatedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string // "" is the judged file
		hidden bool
	}{
		"setup":               {map[string]string{"": "#+SETUPFILE: s.setup\n* A\n", "s.setup": "#+FileTags: :NoAgent:\n"}, true},
		"setup, quoted":       {map[string]string{"": "* A\n#+SetupFile: \"deep/s.org\"\n", "deep/s.org": "#+FILETAGS: crypt\n"}, true},
		"setup of a setup":    {map[string]string{"": "#+SETUPFILE: deep/a.org\n", "deep/a.org": "#+SETUPFILE: ../b.org\n", "b.org": "#+SETUPFILE: a.org\n#+FILETAGS: :@private:\n"}, true},
		"setup without tags":  {map[string]string{"": "#+SETUPFILE: s.setup\n", "s.setup": "#+TITLE: x\n* A :noagent:\n"}, false},
		"setup of a circle":   {map[string]string{"": "#+SETUPFILE: a.org\n", "a.org": "#+SETUPFILE: b.org\n", "b.org": "#+SETUPFILE: a.org\n"}, false},
		"no setup":            {map[string]string{"": "#+SETUPFILE: none.org\n"}, false},
		"setup elsewhere":     {map[string]string{"": "#+SETUPFILE: https://example.org/x.setup\n#+SETUPFILE: /ssh:host:/x\n"}, false},
		"encrypted setup":     {map[string]string{"": "#+SETUPFILE: s.org.gpg\n"}, true},
		"origin":              {map[string]string{"": "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n", "o.org": "x\n#+filetags: :Crypt:\n"}, true},
		"origin with a setup": {map[string]string{"": "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n", "o.org": "#+SETUPFILE: s.org\n", "s.org": "#+FILETAGS: noagent\n"}, true},
		"other origin":        {map[string]string{"": "* A\n:PROPERTIES:\n:ARCHIVE_FILE: o.org\n:END:\n", "o.org": "* B :noagent:\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			for file, text := range c.files {
				if file != "" {
					write(t, filepath.Join(directory, file), text)
				}
			}
			path := write(t, filepath.Join(directory, "a.org"), c.files[""])
			j := withheld.File(path, c.files[""])
			if hidden := j.At(0) > withheld.Shown; hidden != c.hidden {
				t.Errorf("withheld: %v", hidden)
			}
			if shown, _ := over(t, path); (shown == "") != c.hidden {
				t.Errorf("shown: %q", shown)
			}
			for file := range c.files {
				stamps := j.Stamps()
				if !withheld.Unchanged(stamps) {
					t.Fatal("nothing changed, and it does not stand")
				}
				if file = filepath.Join(directory, file); strings.Contains(stamps, file+"\n") {
					write(t, file, "changed to something else\n")
					if withheld.Unchanged(stamps) {
						t.Errorf("%s changed, and it stands", file)
					}
				}
			}
		})
	}
}

// TestSetupIsBounded checks that a file that is too large may have any tag, and that a pipe does
// not block.
func TestSetupIsBounded(t *testing.T) {
	directory := t.TempDir()
	path := write(t, filepath.Join(directory, "a.org"), "")
	large := write(t, filepath.Join(directory, "large"), "")
	if err := os.Truncate(large, 65<<20); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(directory, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]withheld.Level{"large": withheld.Sealed, "pipe": withheld.Shown, ".": withheld.Shown} {
		if got := withheld.Org(path, "#+SETUPFILE: "+name+"\n").At(0); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestOver checks that a file on the disk is judged like its text in memory, whatever its name.
func TestOver(t *testing.T) {
	directory := t.TempDir()
	text := "* A :NoAgent:\nx\n* B\n"
	org := write(t, filepath.Join(directory, "a.org"), text)
	if err := os.Link(org, filepath.Join(directory, "linked.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(directory, "plain.txt"), text)
	write(t, filepath.Join(directory, "notes"), text+strings.Repeat("x\n", 9000)+"# Local Variables:\n# mode: org\n# End:\n")
	long := write(t, filepath.Join(directory, "long.org"), "#+FILETAGS: "+strings.Repeat("a:", 1<<16)+"noagent:\n* A\n")
	within := write(t, filepath.Join(directory, "within.org"), strings.Repeat("x", 64<<10)+"#+FILETAGS: :noagent:\n")
	for path, want := range map[string]string{org: "* B\n", filepath.Join(directory, "linked.txt"): "* B\n", filepath.Join(directory, "plain.txt"): text, long: "", within: strings.Repeat("x", 64<<10) + "#+FILETAGS: :noagent:\n"} {
		if got, _ := over(t, path); got != want {
			t.Errorf("%s: %.80q, want %.80q", filepath.Base(path), got, want)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(seen(path, string(data)), "~", ""); got != want {
			t.Errorf("%s in memory: %.80q, want %.80q", filepath.Base(path), got, want)
		}
	}
	if got, ok := over(t, filepath.Join(directory, "notes")); !ok || strings.Contains(got, "NoAgent") {
		t.Errorf("a mode at the end: %v, %.80q", ok, got)
	}
}

// TestLevels checks that the person finds private text, and nobody the rest.
func TestLevels(t *testing.T) {
	text := "* A :@private:\n** B :crypt:\n** C\n* D :NoAgent:\n** E :@private:\n* F\n"
	j := withheld.Org("a.org", text)
	for title, want := range map[string]withheld.Level{"* A": withheld.Private, "** B": withheld.Sealed, "** C": withheld.Private, "* D": withheld.Sealed, "** E": withheld.Sealed, "* F": withheld.Shown} {
		if got := j.At(strings.Index("\n"+text, "\n"+title)); got != want {
			t.Errorf("%s: %d, want %d", title, got, want)
		}
	}
}

// BenchmarkOrg judges 10 MB of notes.
func BenchmarkOrg(b *testing.B) {
	text := strings.Repeat("* A heading with a title :home:work:\n:PROPERTIES:\n:ID: 4b2b\n:END:\n"+strings.Repeat("A line of text that says something of this and that.\n", 12), 14_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if j := withheld.Org("/tmp/a.org", text); len(j.Parts) > 0 {
			b.Fatal("something is withheld")
		}
	}
}
