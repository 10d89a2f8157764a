package org_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"org-agent/kernel/org"
)

const scannedNote = `# a comment
:PROPERTIES:
:ID: file-id
:header-args: :tangle no
:END:
#+TITLE: SKILL: Example
#+DEPENDS_ON: id:one
#+depends_on: two
#+PROPERTY: header-args:lisp :var a=1

* TODO [#A] First heading :tag:other:
SCHEDULED: <2026-01-01 Thu> DEADLINE: <2026-01-02 Fri>--<2026-01-03 Sat>
:PROPERTIES:
:ID:       first
:header-args+: :noweb yes
:END:
text
#+begin_example
* not a heading? it is: stars at column 0 always are
** Sub
:PROPERTIES:
:header-args: :tangle sub.lisp
:END:
#+NAME: code
#+header: :results silent
  #+BEGIN_SRC Lisp -n -r :tangle "x y.lisp" :export (quote (:a b)) :flag
    (defun f ()
    ,* starred
      ,#+x)
  #+END_SRC
* COMMENT Hidden
** Below
#+begin_src lisp
(hidden)
#+end_src
`

func TestParsePositions(t *testing.T) {
	d := org.Parse(scannedNote)
	if title, _ := d.Keyword("title"); title != "SKILL: Example" {
		t.Errorf("title %q", title)
	}
	if got := fmt.Sprint(d.KeywordValues("DEPENDS_ON")); got != "[id:one two]" {
		t.Errorf("depends on %s", got)
	}
	if at := slices.IndexFunc(d.Properties, func(p org.Property) bool { return strings.EqualFold(p.Key, "id") }); at < 0 || d.Properties[at].Value != "file-id" {
		t.Errorf("file's properties %v", d.Properties)
	}
	first := d.FindID("first")
	if first == nil || first.Todo != "TODO" || first.Priority != "A" || first.Title != "First heading" || fmt.Sprint(first.Tags) != "[tag other]" {
		t.Fatalf("first heading %+v", first)
	}
	if first.Planning.Scheduled != "<2026-01-01 Thu>" || first.Planning.Deadline != "<2026-01-02 Fri>--<2026-01-03 Sat>" {
		t.Errorf("planning %+v", first.Planning)
	}
	if !strings.HasPrefix(scannedNote[first.Start:], "* TODO [#A]") || !strings.HasPrefix(scannedNote[first.Body:], "text\n") ||
		!strings.HasPrefix(scannedNote[first.LineEnd:], "SCHEDULED") || !strings.HasPrefix(scannedNote[first.End:], "* not a heading?") {
		t.Errorf("offsets %+v", first)
	}
	blocks := d.Blocks()
	if len(blocks) != 2 {
		t.Fatalf("%d blocks, %v", len(blocks), d.Diagnostics)
	}
	b := blocks[0]
	if b.Kind != "src" || b.Language != "Lisp" || b.Switches != `-n -r` || b.Name != "code" || b.Body != "(defun f ()\n* starred\n  #+x)" {
		t.Errorf("block %+v", b)
	}
	if !strings.HasPrefix(scannedNote[b.Start:], "#+NAME: code") || !strings.HasSuffix(scannedNote[:b.End], "#+END_SRC\n") {
		t.Errorf("block's offsets %d %d", b.Start, b.End)
	}
	want := `[{tangle x y.lisp 26} {export (quote (:a b)) 26} {flag  26} {results silent 25}]`
	if got := fmt.Sprint(b.HeaderArgs()); got != "[{var a=1 9} "+want[1:] {
		t.Errorf("header arguments %s", got)
	}
	if len(d.Diagnostics) != 1 || d.Diagnostics[0].Line != 18 || !strings.Contains(d.Diagnostics[0].Message, "#+begin_example without #+end_example") {
		t.Errorf("diagnostics %v", d.Diagnostics)
	}
}

func TestParseDiagnostics(t *testing.T) {
	cases := []struct{ source, want string }{
		{"#+begin_src lisp\n(x)\n", "1:1: error: #+begin_src without #+end_src before the next heading"},
		{"text\n  #+begin_src lisp\n* H\n#+end_src\n", "2:3: error: #+begin_src without #+end_src before the next heading\n4:1: warning: #+end_src without #+begin_src"},
		{"#+begin_quote\n#+begin_src x\n#+end_src\n* H\n", "1:1: error: #+begin_quote without #+end_quote before the next heading"},
		{"#+end_src\n", "1:1: warning: #+end_src without #+begin_src"},
		{"* H\n:PROPERTIES:\n:ID: x\n", "2:1: warning: property drawer without :END:"},
		{"* H\n:PROPERTIES:\nnot a property\n:END:\n", "3:1: warning: this line is no property, so the drawer above is not a property drawer"},
		{"#+begin_src lisp\r\n(x)\r\n#+end_src\r\n", ""},
		{"\x00\xff* H\n#+begin_src lisp\n\x00\xff\n#+end_src", ""},
		{"#+begin_example\n#+begin_src lisp\n#+end_example\n", ""},
	}
	for _, c := range cases {
		var got []string
		for _, d := range org.Parse(c.source).Diagnostics {
			got = append(got, d.String())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%q:\n%s\nwant %s", c.source, strings.Join(got, "\n"), c.want)
		}
	}
}

func TestSkillBlocks(t *testing.T) {
	source, err := os.ReadFile("testdata/skill.org")
	if err != nil {
		t.Fatal(err)
	}
	blocks, diagnostics := org.Parse(string(source)).SkillBlocks()
	var got strings.Builder
	for _, b := range blocks {
		fmt.Fprintf(&got, "%d name=%q criterion=%q test=%v\n%s\n", b.Line, b.Name, b.Criterion, b.Test, b.Body)
	}
	for _, d := range diagnostics {
		fmt.Fprintln(&got, d)
	}
	if *update {
		if err := os.WriteFile("testdata/skill.golden", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/skill.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestSkillPositions checks that every letter of a body leads back to itself in the note.
func TestSkillPositions(t *testing.T) {
	source, err := os.ReadFile("testdata/skill.org")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	blocks, _ := org.Parse(string(source)).SkillBlocks()
	for _, b := range blocks {
		for i, bodyLine := range strings.Split(b.Body, "\n") {
			for k := len(bodyLine) - len(strings.TrimLeft(bodyLine, " \t")); k < len(bodyLine); k++ {
				if b.Block.Name == "prefixed" {
					continue // the text before a reference is repeated
				}
				line, column := b.Position(i+1, k+1)
				if line > len(lines) || column > len(lines[line-1]) || lines[line-1][column-1] != bodyLine[k] {
					t.Fatalf("%q at %d:%d leads to %d:%d", bodyLine, i+1, k+1, line, column)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(scannedNote)
	f.Add("* a\n** b :x:\n#+begin_src lisp :noweb yes\n<<a>>\n#+end_src\n")
	f.Fuzz(func(t *testing.T, source string) {
		d := org.Parse(source)
		for _, h := range d.Headings {
			if !(h.Start < h.LineEnd && h.LineEnd <= h.Body && h.Body <= h.End && h.End <= len(source)) || source[h.Start] != '*' {
				t.Fatalf("offsets of %+v", h)
			}
		}
		for _, b := range d.Blocks() {
			if !(b.Start < b.End && b.End <= len(source)) {
				t.Fatalf("offsets of %+v", b)
			}
			b.HeaderArgs()
		}
		blocks, _ := d.SkillBlocks()
		for _, b := range blocks {
			b.Position(1, 1)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, unit := range map[string]string{"Note": scannedNote, "Unterminated": "#+begin_src lisp\n", "Quotes": "#+begin_quote\n", "Kinds": "#+begin_a\n#+end_b\n"} {
		for _, size := range []int{1 << 20, 2 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(name+byteSize(size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					org.Parse(text).SkillBlocks()
				}
			})
		}
	}
}

// TestSkillPositionsCountCharacters checks that columns count characters, also after the text
// before a reference.
func TestSkillPositionsCountCharacters(t *testing.T) {
	source := "#+begin_src lisp :noweb yes\n(list \"é世\" <<x>>)\n#+end_src\n#+name: x\n#+begin_src lisp :tangle no\n(f (a))\n(f (b))\n#+end_src\n"
	blocks, faults := org.Parse(source).SkillBlocks()
	if len(blocks) != 1 || len(faults) > 0 {
		t.Fatalf("blocks %v, faults %v", blocks, faults)
	}
	for i, bodyLine := range strings.Split(blocks[0].Body, "\n") {
		open := strings.LastIndex(bodyLine, "(")
		line, column := blocks[0].Position(i+1, utf8.RuneCountInString(bodyLine[:open])+1)
		if line != 6+i || column != 4 {
			t.Errorf("%q leads to %d:%d", bodyLine, line, column)
		}
	}
}
