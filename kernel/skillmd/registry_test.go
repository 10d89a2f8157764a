package skillmd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"org-agent/kernel/skillmd"
)

// text returns a SKILL.md.
func text(name, more string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " is for.\n" + more + "---\n# " + name + "\nDo it.\n"
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// states returns the statuses as "NAME STATE". It marks the shipped skills.
func states(all []skillmd.Status) string {
	var lines []string
	for _, s := range all {
		line := s.Skill + " " + string(s.State)
		if s.Shipped {
			line += " shipped"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func named(t testing.TB, all []skillmd.Status, name string) skillmd.Status {
	t.Helper()
	for _, s := range all {
		if s.Skill == name {
			return s
		}
	}
	t.Fatalf("no skill %s in %+v", name, all)
	return skillmd.Status{}
}

func TestPrecedence(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"both", "mine", "off", "broken-here", "as-a-note", "needy"} {
		write(t, filepath.Join(home, name, "SKILL.md"), text(name, ""))
	}
	write(t, filepath.Join(home, "broken-here", "SKILL.md"), "no front matter")
	write(t, filepath.Join(home, "needy", "SKILL.md"), text("needy", "metadata: {requires: {env: [NEEDED]}}\n"))
	write(t, filepath.Join(home, "quiet", "SKILL.md"), text("quiet", "disable-model-invocation: true\n"))
	write(t, filepath.Join(home, "notes.org"), "* no skill of ours")
	write(t, filepath.Join(home, "attachments", "x.png"), "")
	shipped := fstest.MapFS{}
	for _, name := range []string{"both", "broken-here", "theirs", "as-a-note-too"} {
		shipped[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text(name, ""))}
	}
	var needed string
	var statuses []skillmd.Status
	r := skillmd.New(skillmd.Config{
		Home: home, Shipped: shipped, Changed: func(all []skillmd.Status) { statuses = all },
		Notes: func() map[string]string {
			return map[string]string{"as-a-note": "as-a-note.org", "as-a-note-too": "x.org"}
		},
		Environment: func() skillmd.Environment {
			return skillmd.Environment{Disabled: []string{"off"}, Env: func(string) string { return needed }}
		},
	})
	want := `as-a-note shadowed
both effective
broken-here failed
mine effective
needy ineligible
off disabled
quiet effective
as-a-note-too shadowed shipped
both shadowed shipped
broken-here effective shipped
theirs effective shipped`
	if got := states(r.Load(t.Context())); got != want || states(statuses) != want {
		t.Errorf("got\n%s\ntold\n%s\nwant\n%s", got, states(statuses), want)
	}
	set := r.Current()
	var offered []string
	for _, k := range set.Offered() {
		offered = append(offered, k.Name)
	}
	if got := strings.Join(offered, " "); got != "both broken-here mine theirs" {
		t.Errorf("offered: %s", got)
	}
	if k := set.Named("both"); k == nil || k.Shipped {
		t.Errorf("both is %+v", k)
	}
	if set.Named("off") != nil || set.Named("") != nil || set.Nearest("mien") != "mine" {
		t.Error("what does not count is found")
	}
	needed = "x"
	if got := named(t, r.Refresh(), "needy"); got.State != skillmd.Effective {
		t.Errorf("after the variable was set: %+v", got)
	}
	if set.Named("needy") != nil || r.Current().Named("needy") == nil {
		t.Error("a set changes, or the new one has not what counts")
	}
}

// TestHostileDirectories checks directories of a home that are not skills or are malicious.
func TestHostileDirectories(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	write(t, in("good", "SKILL.md"), text("good", ""))
	write(t, in("lower-case", "skill.md"), text("lower-case", ""))
	write(t, in("a-directory", "SKILL.md", "x"), "")
	write(t, in("Ümlaut und Blank", "SKILL.md"), text("x", ""))
	write(t, in("line\nbreak", "SKILL.md"), text("x", ""))
	write(t, in("climbs", "SKILL.md"), text("../climbs", ""))
	write(t, filepath.Join(outside, "SKILL.md"), text("linked", ""))
	write(t, in("huge", "SKILL.md"), text("huge", ""))
	write(t, in("matter", "SKILL.md"), text("matter", "x: "+strings.Repeat("y", 20<<10)+"\n"))
	write(t, in("deep", "SKILL.md"), text("deep", "x: "+strings.Repeat("[", 5000)+"\n"))
	write(t, in("nested", "SKILL.md"), text("nested", "x: "+strings.Repeat("[", 50)+strings.Repeat("]", 50)+"\n"))
	write(t, in("many", "SKILL.md"), text("many", "x: ["+strings.Repeat("1,", 5000)+"]\n"))
	write(t, in("bomb", "SKILL.md"), text("bomb", "a: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\nmetadata: {tags: *d}\n"))
	write(t, in("itself", "SKILL.md"), text("itself", "metadata: &m {requires: *m, openclaw: *m}\n"))
	for _, step := range []error{
		os.Truncate(in("huge", "SKILL.md"), 50<<20),
		os.MkdirAll(in("pipe"), 0o755), syscall.Mkfifo(in("pipe", "SKILL.md"), 0o644),
		os.MkdirAll(in("out"), 0o755), os.Symlink(filepath.Join(outside, "SKILL.md"), in("out", "SKILL.md")),
		os.MkdirAll(in("device"), 0o755), os.Symlink("/dev/zero", in("device", "SKILL.md")),
		os.Symlink(outside, in("linked")),
		os.Symlink(in("loop"), in("loop")), os.Symlink("nowhere", in("dangling")), os.Symlink("/dev/zero", in("zero")),
		os.MkdirAll(in("self"), 0o755), os.Symlink("SKILL.md", in("self", "SKILL.md")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	r := skillmd.New(skillmd.Config{Home: home})
	done := make(chan []skillmd.Status, 1)
	go func() { done <- r.Load(context.WithoutCancel(t.Context())) }()
	var all []skillmd.Status
	select {
	case all = <-done:
	case <-time.After(time.Minute):
		t.Fatal("reading the skills hangs")
	}
	for name, fault := range map[string]string{
		"good": "", "linked": "", "lower-case": "called skill.md", "a-directory": "no regular file", "Ümlaut und Blank": "must be the same", "line\nbreak": "must be the same",
		"climbs": "is no name", "huge": "52428800 bytes", "matter": "front matter has", "deep": "no YAML", "nested": "nested deeper", "many": "more than 2000",
		"bomb": "no word of a list", "itself": "stands", "pipe": "no regular file", "out": "leads out", "device": "leads out", "loop": "too many levels", "self": "too many",
	} {
		status := named(t, all, name)
		faults := fmt.Sprint(status.Diagnostics)
		if name == "bomb" { // a nested list is reported and skipped, because tags are only shown
			if status.State != skillmd.Effective || !strings.Contains(faults, fault) {
				t.Errorf("%q: %s", name, faults)
			}
			continue
		}
		if name == "itself" {
			continue // only the time of reading it is bounded; its diagnostics do not matter
		}
		if (status.State == skillmd.Effective) != (fault == "") || !strings.Contains(faults, fault) {
			t.Errorf("%q is %s: %s", name, status.State, faults)
		}
	}
	if len(all) != 20 {
		t.Errorf("%d skills:\n%s", len(all), states(all))
	}
}

func TestTenThousandSkills(t *testing.T) {
	home, one := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "SKILL.md"), text("s00007", "metadata: {requires: {bins: [sh]}}\n"))
	for i := range 10_100 { // links to one directory, whose name fits one of them
		if err := os.Symlink(one, filepath.Join(home, fmt.Sprintf("s%05d", i))); err != nil {
			t.Fatal(err)
		}
	}
	r := skillmd.New(skillmd.Config{Home: home, Environment: func() skillmd.Environment {
		return skillmd.Environment{Env: os.Getenv}
	}})
	start := time.Now()
	if all := r.Load(t.Context()); len(all) != 10_000 {
		t.Errorf("%d skills", len(all))
	}
	t.Log("read in", time.Since(start))
	if all := r.Current().Skills(); len(all) != 1 || all[0].Name != "s00007" {
		t.Errorf("%d skills count", len(all))
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if all := r.Load(ended); len(all) != 10_000 {
		t.Errorf("a load that was stopped left %d skills", len(all))
	}
}

func TestRead(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{home, "s"}, parts...)...) }
	body := "Begin.\n\n# One\nfirst\n## One *a*\ninner\n```\n# code\n```\n# Two\nsecond\n"
	write(t, in("SKILL.md"), text("s", "")+body)
	write(t, in("references", "fields.md"), "# Fields\na\n# More\nb\n")
	write(t, in("scripts", "fill.py"), "print(1)\n")
	write(t, in("big.txt"), strings.Repeat("0123456789abcde\n", 10_000))
	write(t, in("one-line.txt"), strings.Repeat("é", 100_000))
	write(t, in("latin"), "gr\xfc\xdfe")
	write(t, in("zero"), "a\x00b")
	write(t, in(".env"), "KEY=secret")
	write(t, in(".git", "config"), "secret")
	write(t, filepath.Join(outside, "secret"), "secret")
	for _, step := range []error{
		os.Symlink(filepath.Join(outside, "secret"), in("link")), os.Symlink("../../x", in("up")), os.Symlink(outside, in("way-out")),
		os.Symlink("scripts/fill.py", in("inside")), syscall.Mkfifo(in("pipe"), 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	r := skillmd.New(skillmd.Config{Home: home})
	r.Load(t.Context())
	k := r.Current().Named("s")
	cases := []struct{ file, section, want, fault string }{
		{"", "", "Files of this skill: big.txt, latin, one-line.txt, references/fields.md, scripts/fill.py, zero\n\n# s\nDo it.\n" + body, ""},
		{"SKILL.md", "two", "# Two\nsecond\n", ""},
		{"./SKILL.md", "# One", "# One\nfirst\n## One *a*\ninner\n```\n# code\n```\n", ""},
		{"", "one a", "## One *a*\ninner\n```\n# code\n```\n", ""},
		{"", "code", "", `no section "code"; there are: s, One`},
		{"", "Tow", "", `did you mean "Two"?`},
		{"references/fields.md", "", "# Fields\na\n# More\nb\n", ""},
		{"./references/../references/fields.md", "more", "# More\nb\n", ""},
		{`references\fields.md`, "fields", "# Fields\na\n", ""},
		{"scripts/fill.py", "x", "", "no heading at all"},
		{"inside", "", "print(1)\n", ""},
		{"reference/fields.md", "", "", `did you mean "references/fields.md"?`},
		{"nothing-like-it-anywhere", "", "", "there are big.txt"},
		{"scripts", "", "", "no regular file"},
		{"pipe", "", "", "no regular file"},
		{"latin", "", "", "no text"}, {"zero", "", "", "no text"},
		{"../s/SKILL.md", "", "", "beneath"}, {"/etc/passwd", "", "", "beneath"}, {"..", "", "", "beneath"},
		{"link", "", "", "leads out"}, {"up", "", "", "leads out"}, {"way-out/secret", "", "", "leads out"},
		{".env", "", "", "hidden"}, {".git/config", "", "", "hidden"}, {"x\x00y", "", "", ""},
	}
	for _, c := range cases {
		got, err := k.Read(c.file, c.section)
		if c.fault == "" && c.want == "" {
			if err == nil {
				t.Errorf("%q: %q", c.file, got)
			}
			continue
		}
		if got != c.want || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q %q: %q, error %v", c.file, c.section, got, err)
		}
	}
	for _, file := range []string{"big.txt", "one-line.txt"} {
		got, err := k.Read(file, "")
		if err != nil || len(got) > skillmd.ReplyBytes+200 || !strings.Contains(got, "[Cut here: these are the first 65536 of ") || !strings.HasSuffix(got, " bytes.]") {
			t.Errorf("%s: %d bytes that end %q, error %v", file, len(got), got[max(0, len(got)-100):], err)
		}
	}
	// Read returns the current text of the file.
	write(t, in("SKILL.md"), text("s", "")+"# New\n")
	if got, err := k.Read("", "new"); err != nil || got != "# New\n" {
		t.Errorf("%q, %v", got, err)
	}
	write(t, in("SKILL.md"), "spoiled")
	if _, err := k.Read("", ""); err == nil || !strings.Contains(err.Error(), "cannot be used now") {
		t.Errorf("a spoiled skill: %v", err)
	}
	if err := os.RemoveAll(in()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Read("", ""); err == nil || !strings.Contains(err.Error(), "there is no SKILL.md") {
		t.Errorf("a removed skill: %v", err)
	}
}

// TestCopyAndUpdate checks that a later version of the program does not change the user's copy of a
// skill.
func TestCopyAndUpdate(t *testing.T) {
	home, originals := t.TempDir(), t.TempDir()
	shipped := fstest.MapFS{
		"s/SKILL.md": {Data: []byte(text("s", ""))}, "s/references/a.md": {Data: []byte("a\n")}, "s/references/b.md": {Data: []byte("b\n")},
	}
	config := skillmd.Config{Home: home, Shipped: shipped, Originals: originals}
	directory, err := config.Copy("s")
	if err != nil || directory != filepath.Join(home, "s") {
		t.Fatal(directory, err)
	}
	for _, name := range []string{"s", "../s", "", ".", "nothing"} {
		if _, err := config.Copy(name); err == nil {
			t.Errorf("copied %q", name)
		}
	}
	notice := func() string {
		t.Helper()
		r := skillmd.New(config)
		status := named(t, r.Load(t.Context()), "s")
		if status.State != skillmd.Effective || status.Shipped {
			t.Errorf("the copy is %+v", status)
		}
		return fmt.Sprint(status.Diagnostics)
	}
	if got := notice(); got != "[]" {
		t.Errorf("nothing has changed: %s", got)
	}
	shipped["s/references/a.md"] = &fstest.MapFile{Data: []byte("new a\n")}
	if got := notice(); !strings.Contains(got, "the copy has not: remove the copy") {
		t.Errorf("only the shipped one has changed: %s", got)
	}
	mine := filepath.Join(home, "s", "SKILL.md")
	write(t, mine, text("s", "license: mine\n"))
	if got := notice(); !strings.Contains(got, "Changed there alone: references/a.md.") || strings.Contains(got, "both") || !strings.Contains(got, originals) {
		t.Errorf("both have changed, in different files: %s", got)
	}
	shipped["s/SKILL.md"] = &fstest.MapFile{Data: []byte(text("s", "license: theirs\n"))}
	if got := notice(); !strings.Contains(got, "Changed in both: SKILL.md.") {
		t.Errorf("both have changed: %s", got)
	}
	if got, err := os.ReadFile(mine); err != nil || string(got) != text("s", "license: mine\n") {
		t.Errorf("the copy was changed: %q, %v", got, err)
	}
	if err := config.UpdateOriginal("s"); err != nil {
		t.Fatal(err)
	}
	if got := notice(); got != "[]" {
		t.Errorf("it was settled: %s", got)
	}
}

func TestWatch(t *testing.T) {
	above := t.TempDir()
	home := filepath.Join(above, "skills")
	changed := make(chan string, 100)
	r := skillmd.New(skillmd.Config{Home: home, Changed: func(all []skillmd.Status) { changed <- states(all) }})
	r.Load(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Watch(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	wait := func(want string) {
		t.Helper()
		got := ""
		for limit := time.After(time.Minute); ; {
			select {
			case got = <-changed:
				if got == want {
					return
				}
			case <-limit:
				t.Fatalf("the skills are %q, want %q", got, want)
			}
		}
	}
	write(t, filepath.Join(home, "one", "SKILL.md"), text("one", ""))
	wait("one effective")
	write(t, filepath.Join(home, "one", "SKILL.md"), text("other", ""))
	wait("one failed")
	saved := filepath.Join(home, "one", ".#saved")
	write(t, saved, text("one", ""))
	if err := os.Rename(saved, filepath.Join(home, "one", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	wait("one effective")
	if err := os.Rename(filepath.Join(home, "one"), filepath.Join(home, "two")); err != nil {
		t.Fatal(err)
	}
	wait("two failed")
	write(t, filepath.Join(home, "two", "SKILL.md"), text("two", ""))
	wait("two effective")
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	wait("")
	write(t, filepath.Join(home, "three", "SKILL.md"), text("three", ""))
	wait("three effective")
}
