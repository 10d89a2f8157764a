package skillmd_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

var update = flag.Bool("update", false, "write the golden file anew")

// corpus calls visit for each skill of testdata/corpus.
func corpus(t testing.TB, visit func(name, source string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*/" + skillmd.FileName)
	if err != nil || len(files) < 30 {
		t.Fatalf("%d skills: %v", len(files), err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		visit(filepath.Base(filepath.Dir(file)), string(source))
	}
}

// TestLossless checks that the parts of a SKILL.md join to the same text, and that each is in its
// place.
func TestLossless(t *testing.T) {
	corpus(t, func(name, source string) {
		d := skillmd.Split(source)
		if d.String() != source {
			t.Errorf("%s: %q became %q", name, source, d.String())
		}
		if strings.Contains(d.Body, "name: "+name) || d.Close != "" && !strings.Contains(d.Open, "---") {
			t.Errorf("%s: the front matter is in the body: %+v", name, d)
		}
	})
}

// TestCheck compares the diagnostics of the corpus with a file.
func TestCheck(t *testing.T) {
	const golden = "testdata/corpus.want"
	var b strings.Builder
	corpus(t, func(name, source string) {
		faults := skillmd.Check(skillmd.FileName, name, source)
		fmt.Fprintf(&b, "%s: %d\n", name, len(faults))
		for _, fault := range faults {
			fmt.Fprintf(&b, "  %s\n", fault)
		}
	})
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// pieces are the parts from which the property test builds texts.
var pieces = []string{"---", "--- ", "----", "\n", "\r\n", "\r", "\ufeff", "name: a", "description: b", "metadata:", "  os: [linux]", "\t", "# h", "```", "\x00", "\xff", "é", ": ", "- ", "&a ", "*a", "{", "}", "[", "]", "'", "\"", "|", ">", "x"}

func TestLosslessAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		if got := skillmd.Split(source).String(); got != source {
			t.Fatalf("%q became %q", source, got)
		}
		inside(t, source, skillmd.Check("SKILL.md", "a", source))
	})
}

func FuzzCheck(f *testing.F) {
	corpus(f, func(_, source string) { f.Add(source) })
	for _, matter := range []string{
		"a: &a [*a]", "a: &a {x: *a}\nmetadata: *a", strings.Repeat("[", 200), strings.Repeat("- ", 200), "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
		"<<: &a {name: b}", "? {name: a}\n: b", "name: !!binary aGk=", "%YAML 1.2", "name: a\n...\nname: b", "metadata: {requires: {bins: [[a]]}}",
	} {
		f.Add("---\n" + matter + "\n---\nbody")
	}
	f.Fuzz(func(t *testing.T, source string) {
		if got := skillmd.Split(source).String(); got != source {
			t.Fatalf("%q became %q", source, got)
		}
		slow := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("%d bytes take more than 5 s: %q", len(source), source)) })
		defer slow.Stop()
		inside(t, source, skillmd.Check("SKILL.md", "a", source))
	})
}

// inside fails the test if a fault is placed outside of the text.
func inside(t interface{ Fatalf(string, ...any) }, source string, faults []skill.Diagnostic) {
	lines := strings.Split(source, "\n")
	for _, fault := range faults {
		if fault.Line < 1 || fault.Line > len(lines)+1 || fault.Column < 1 || strings.ContainsAny(fault.Message, "\n\x00\x1b") {
			t.Fatalf("%q: %s", source, fault)
		}
	}
}
