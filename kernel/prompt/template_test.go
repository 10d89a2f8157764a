package prompt

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotes checks the result of notes in a home: the text of a section, or the faults.
func TestNotes(t *testing.T) {
	for name, c := range map[string]struct {
		notes   map[string]string
		section string
		text    string // of the section without its heading
		faults  []string
	}{
		"replaced":                    {notes: map[string]string{"soul.org": "#+TITLE: Mine\n# a comment\n\nBe {{file:SOUL}}\n"}, section: "soul", text: "Be Dry, kind, short."},
		"added":                       {notes: map[string]string{"format.org": "In verse."}, section: "format", text: "*and then you go on or answer.\n\nIn verse."},
		"included":                    {notes: map[string]string{"soul.org": "{{include:a}}, {{ include: b }}", "a.org": "A", "b.org": "{{include:c}}", "c.org": "C {{name}}"}, section: "soul", text: "A, C Sam"},
		"included as Org does":        {notes: map[string]string{"soul.org": "#+TITLE: x\n#+INCLUDE: \"a.org\"\nand {{name}}\n#+include: ./b\nend", "a.org": "A", "b.org": "B"}, section: "soul", text: "A\nand Sam\nB\nend"},
		"braces":                      {notes: map[string]string{"soul.org": `\{{name}} is {{name}}, \{{{name}}}`}, section: "soul", text: "{{name}} is Sam, {{{name}}}"},
		"headings are deeper":         {notes: map[string]string{"soul.org": "* A\n** B\n*bold* c\n  * d"}, section: "soul", text: "** A\n*** B\n*bold* c\n  * d"},
		"empty":                       {notes: map[string]string{"soul.org": "#+TITLE: nothing\n\n"}, section: "soul", text: ""},
		"line of empty variables":     {notes: map[string]string{"soul.org": "a\nwhen: {{label}}{{subagent}}\n\n\n\nb {{more-skills}}"}, section: "soul", text: "a\n\nb 3"},
		"line of a tool":              {notes: map[string]string{"soul.org": "a\nUse {{tool:read}}.\nUse {{tool:read}} or {{tool:nothing}}."}, section: "soul", text: "a\nUse =read=."},
		"CRLF and BOM":                {notes: map[string]string{"soul.org": "\ufeff#+TITLE: x\r\nA\r\nB\r\n"}, section: "soul", text: "A\nB"},
		"no notes at all":             {notes: nil, section: "soul", text: "Dry, kind, short."},
		"what is no note":             {notes: map[string]string{".#soul.org": "{{x}}", "#soul.org#": "{{x}}", "soul.org~": "{{x}}", "soul.md": "{{x}}"}, section: "soul", text: "Dry, kind, short."},
		"unknown variable":            {notes: map[string]string{"soul.org": "#+TITLE: x\n\nå {{nme}}"}, faults: []string{"soul.org:3:3: error: {{nme}} is no variable"}},
		"unknown text":                {notes: map[string]string{"soul.org": "{{include:a}}", "b.org": "#+TITLE: x\n#+INCLUDE: \"a.org\""}, faults: []string{`b.org:2:1: error: there is no text "a" to include`, `soul.org:1:1: error: there is no text "a" to include`}},
		"unknown file":                {notes: map[string]string{"soul.org": "{{file:SOLE}}"}, faults: []string{"soul.org:1:1: error: {{file:SOLE}} is no file of a home; there are IDENTITY"}},
		"a circle":                    {notes: map[string]string{"soul.org": "{{include:a}}", "a.org": "x\n{{include:b}}", "b.org": "{{include:a}}"}, faults: []string{"b.org:1:1: error: it includes itself: a -> b -> a"}},
		"itself":                      {notes: map[string]string{"safety.org": "{{include:safety}}"}, faults: []string{"safety.org:1:1: error: it includes itself"}},
		"not closed":                  {notes: map[string]string{"soul.org": "a {{name\n}} b"}, faults: []string{"soul.org:1:3: error: {{ has no }} in its line"}},
		"not UTF-8":                   {notes: map[string]string{"soul.org": "a\nb\nf\xfcr"}, faults: []string{"soul.org:3:1: error: it is not UTF-8 here"}},
		"too large":                   {notes: map[string]string{"soul.org": strings.Repeat("a", noteBytes+1)}, faults: []string{"soul.org:1:1: error: it cannot be read: it is larger than"}},
		"each includes another twice": {notes: doubling(40), faults: []string{"error: with what it includes it is more than"}},
	} {
		t.Run(name, func(t *testing.T) {
			directory := filepath.Join(t.TempDir())
			for file, text := range c.notes {
				write(t, directory, file, text)
			}
			l, faults := Load(directory)
			if len(faults) > 0 || len(c.faults) > 0 {
				hold(t, faults, c.faults, directory)
				if l != nil {
					t.Error("there is a library in spite of faults")
				}
				return
			}
			f := facts(Full, Chat)
			f.Delegation = Delegation{}
			for _, part := range l.Compose(f).Parts {
				if part.Name != c.section {
					continue
				}
				_, text, _ := strings.Cut(part.Text, "\n")
				if want, end := strings.CutPrefix(c.text, "*"); text != c.text && !(end && strings.HasSuffix(text, want)) {
					t.Errorf("got %q\nwant %q", text, c.text)
				}
				if c.notes[c.section+".org"] != "" && part.Source == "" != (c.section == "format") {
					t.Errorf("it is from %q", part.Source)
				}
			}
		})
	}
}

// hold compares the beginnings of faults, without the directory.
func hold(t *testing.T, faults []Fault, want []string, directory string) {
	t.Helper()
	var got []string
	for _, f := range faults {
		got = append(got, strings.TrimPrefix(f.Error(), directory+"/"))
	}
	for i, fault := range want {
		if i >= len(got) || !strings.Contains(got[i], fault) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	if len(want) == 0 {
		t.Errorf("got %q", got)
	}
}

// doubling returns notes that each include the next one twice.
func doubling(depth int) map[string]string {
	notes := map[string]string{}
	for i := range depth {
		notes[fmt.Sprintf("n%02d.org", i)] = fmt.Sprintf("{{include:n%02d}} {{include:n%02d}}", i+1, i+1)
	}
	notes[fmt.Sprintf("n%02d.org", depth)] = "{{name}}"
	return notes
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{name}}", "{{include:safety}}", "\\{{", "{{{{}}}}", "#+include: \"a\"", "a\n{{file:SOUL}}\n\n\n* b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sources, _ := shippedSources()
		sources["soul"] = sourceOf("soul", "soul.org", text)
		c := compiler{sources: sources, compiled: map[string]template{}}
		made := c.compile("soul")
		for _, fault := range c.faults {
			if fault.Line < 1 || fault.Line > strings.Count(text, "\n")+1 || fault.Column < 1 {
				t.Errorf("%v is no place in %q", fault, text)
			}
		}
		if !strings.Contains(sources["soul"].text, "{{") && includeLine(sources["soul"].text) == "" && !strings.Contains(strings.ToLower(text), "#+include:") {
			if got := made.fill(nil, nil); got != sources["soul"].text {
				t.Errorf("%q became %q", sources["soul"].text, got)
			}
		}
	})
}
