package skill

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNearCommand(t *testing.T) {
	set := &Set{commands: []Command{{Name: "capture"}, {Name: "review"}, {Name: "summarise"}}}
	for name, want := range map[string]string{
		"summarize": "summarise", "sumarise": "summarise", "captur": "capture", "reviw": "review",
		"sum": "", "etc": "", "revue": "", "picture": "", "summer": "", "x": "", strings.Repeat("summarise", 10): "",
	} {
		if got := set.NearCommand(name); got != want {
			t.Errorf("/%s is near %q, want %q", name, got, want)
		}
	}
}

const (
	someBlocks  = "9583006ef1c40e3d6e02296741c605e8bb1d613c49ae92e2c1642e25e5e7b7a5"
	grantHeader = "* Grants\n| note | capabilities | blocks | since |\n|------+---|\n"
)

// TestFaultyRows checks that an unreadable row is reported with its line, and voids all rows.
func TestFaultyRows(t *testing.T) {
	g := NewGrants(GrantsConfig{User: "/home/me", Home: "/home/me/.org-agent"})
	const good = "| /a.org | read:/x | " + someBlocks + " | [2026-11-22 Sun 04:10] |\n"
	for _, test := range []struct {
		text string
		line int // 0: there is no fault
		want string
	}{
		{grantHeader + good, 0, ""},
		{"", 0, ""},
		{"* Grants\n", 0, ""},
		{"* Other\n| x |\n", 0, ""},
		{"* Grants\n" + good, 2, "begins with | note | capabilities | blocks | since |"},
		{"* Grants\n| note | capabilities | since | blocks |\n", 2, "begins with"},
		{grantHeader + good + "| /b.org | read:/x | " + someBlocks + " |\n", 5, "3 cells"},
		{grantHeader + good + "| /b|c.org | read:/x | " + someBlocks + " | |\n", 5, "5 cells"},
		{grantHeader + "| /b.org | reed:/x | " + someBlocks + " | |\n", 4, `did you mean "read"?`},
		{grantHeader + "| /b.org | | " + someBlocks + " | |\n", 4, "grants nothing"},
		{grantHeader + "| /b.org | read:/x | abc | |\n", 4, "SHA-256"},
		{grantHeader + "| /b.org | read:/x | " + strings.ToUpper(someBlocks) + " | |\n", 4, "SHA-256"},
		{grantHeader + "| /b.org | read:/x | " + someBlocks + " | yesterday |\n", 4, "no date"},
		{grantHeader + "| /b.org | read:/x | " + someBlocks + " | 2026-11-22 |\n", 0, ""},
		{grantHeader + "| ~/b.org | read:~/x read:y env:LANG | " + someBlocks + " | |\n", 0, ""},
		{grantHeader + "| ~you/b.org | read:/x | " + someBlocks + " | |\n", 4, "another user's"},
		{grantHeader + "| /b%2 | read:/x | " + someBlocks + " | |\n", 4, "ends in the middle"},
		{grantHeader + "| /b%zz | read:/x | " + someBlocks + " | |\n", 4, "%zz is no byte"},
		{grantHeader + "| /b.org | read:$OTHER/x | " + someBlocks + " | |\n", 4, "only $HOME is known"},
		{grantHeader + good + good, 5, "stands in line 4 already"},
		{grantHeader + good + "| /./a.org | read:/x | " + someBlocks + " | |\n", 5, "stands in line 4 already"},
		{grantHeader + good + "* Grants\n", 5, "second heading"},
	} {
		table := g.parseGrants(test.text)
		switch {
		case test.line == 0 && len(table.faults) > 0:
			t.Errorf("%q: %v", test.text, table.faults)
		case test.line > 0 && (len(table.faults) != 1 || table.faults[0].Line != test.line || !strings.Contains(table.faults[0].Message, test.want) || table.grants != nil):
			t.Errorf("%q: %v and grants %v, want line %d: %s", test.text, table.faults, table.grants, test.line, test.want)
		}
	}
	if many := g.parseGrants(grantHeader + strings.Repeat("| x |\n", 10_000)); len(many.faults) != maximumDiagnostics {
		t.Errorf("10,000 faulty rows have %d diagnostics", len(many.faults))
	}
}

// TestGrantsAreWrittenIntoAnyFile checks that a row is read again as it was written, that every
// other byte of the file stays, and that removing the row restores the file.
func TestGrantsAreWrittenIntoAnyFile(t *testing.T) {
	g := NewGrants(GrantsConfig{User: "/home/me", Home: "/home/me/.org-agent"})
	prose := rapid.SampledFrom([]string{
		"words", "", "#+begin_example\n| in it |\n#+end_example", "#+begin_quote", ":PROPERTIES:", ":ID: x", ":END:", "#+TITLE: Policy",
	})
	elsewhere := rapid.OneOf(prose, rapid.SampledFrom([]string{"* Heading", "** TODO Deeper", "| a | table |", "#+begin_example", "| in it |", "#+end_example"}))
	row := rapid.SampledFrom([]string{
		"| /a.org | read:/x | " + someBlocks + " | [2026-11-22 Sun] |", "|/b.org|env:LANG|" + someBlocks + "||", "  | /c.org | write:~ | " + someBlocks + " |  |", "|---+---|", "| | | | |",
	})
	fileRune := rapid.Rune().Filter(func(r rune) bool { return r != '/' && r != 0 })
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		lines := rapid.SliceOfN(elsewhere, 0, 6).Draw(t, "before")
		if rapid.Bool().Draw(t, "headed") {
			lines = append(lines, "* Grants", "Words.", "| note | capabilities | blocks | since |")
			lines = append(lines, rapid.SliceOfNDistinct(row, 0, 5, rapid.ID).Draw(t, "rows")...)
			lines = append(lines, rapid.SliceOfN(prose, 0, 4).Draw(t, "after")...)
			if rapid.Bool().Draw(t, "followed") {
				lines = append(append(lines, "* Else"), rapid.SliceOfN(elsewhere, 0, 4).Draw(t, "else")...)
			}
		}
		text := strings.ReplaceAll(strings.Join(lines, "\n"), "\n", newline)
		if rapid.Bool().Draw(t, "ended") {
			text += newline
		}
		before := g.parseGrants(text)
		if before.faults != nil {
			t.Fatalf("%q: %v", text, before.faults)
		}
		name := "/home/me/" + rapid.StringOfN(fileRune, 1, 8, -1).Draw(t, "name") + ".org"
		if rapid.Bool().Draw(t, "again") && before.grants["/a.org"].note != "" {
			name = "/a.org"
		}
		added := grant{note: name, capabilities: []string{"read:/y", "env:" + "LANG"}, blocks: strings.Repeat("ab", 32), since: "[2026-11-23 Mon]"}
		text2 := before.with(added.cells())
		after := g.parseGrants(text2)
		got := after.grants[name]
		if after.faults != nil || got.blocks != added.blocks || fmt.Sprint(got.capabilities) != fmt.Sprint(added.capabilities) || got.since != "2026-11-23" {
			t.Fatalf("%q became\n%s\nwith %+v, %v", text, text2, got, after.faults)
		}
		old, replaced := before.grants[name]
		if wanted := len(before.grants) + 1; !replaced && len(after.grants) != wanted || replaced && len(after.grants) != len(before.grants) {
			t.Fatalf("%q became\n%s", text, text2)
		}
		rest := after.without(name)
		if replaced {
			if rest != before.table.Remove(old.row) {
				t.Fatalf("%q without its row is %q", text, rest)
			}
		} else if len(before.table.Rows) > 0 && strings.TrimSuffix(rest, newline) != strings.TrimSuffix(text, newline) {
			t.Fatalf("%q without the new row is %q", text, rest)
		} else if !strings.HasPrefix(rest, text) {
			t.Fatalf("%q became %q", text, rest)
		}
	})
}

// TestNamesOfFiles checks that any name can be written and read again, and is shown as what it is.
func TestNamesOfFiles(t *testing.T) {
	for name, want := range map[string]string{
		"/a b/ü|%.org": "/a b/ü%7C%25.org", "/x\n| y |": "/x%0A%7C y %7C", "/\u202eorg": "/%E2%80%AEorg", "/\xff": "/%FF", "/a\u00a0b\t": "/a%C2%A0b%09",
	} {
		if got := encodeName(name, false); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.Byte()).Draw(t, "name"))
		for _, word := range []bool{false, true} {
			text := encodeName(name, word)
			if got, err := decodeName(text); err != nil || got != name {
				t.Errorf("%q is written %s and read %q, %v", name, text, got, err)
			}
			if strings.ContainsAny(text, "|\n\r\t") || word && strings.Contains(text, " ") {
				t.Errorf("%q is written %s", name, text)
			}
		}
	})
}

// TestLargePolicy checks that a file of the maximum size is read quickly.
func TestLargePolicy(t *testing.T) {
	g := NewGrants(GrantsConfig{User: "/home/me", Home: "/home/me/.org-agent"})
	var text strings.Builder
	text.WriteString(grantHeader)
	for i := 0; text.Len() < maximumPolicy-200; i++ {
		fmt.Fprintf(&text, "#+begin_example\n| x |\n#+end_example\n| /%d.org | read:/x | %s | |\n", i, someBlocks)
	}
	began := time.Now()
	table := g.parseGrants(text.String())
	if table.faults != nil || len(table.grants) < 5000 {
		t.Errorf("%d grants, faults %v", len(table.grants), table.faults)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestDependencyWords(t *testing.T) {
	got := strings.Join(dependencyWords("id:1, chat  [[id:2][The other one]] [[file:x.org]],last"), "|")
	if got != "id:1|chat|id:2|file:x.org|last" {
		t.Errorf("words %s", got)
	}
}

func TestNamesObjects(t *testing.T) {
	for code, want := range map[string]bool{
		"(lookup-object 1)": true, "(LOOKUP-Object 1)": true, "*memory*": true, "(f *History-Store*)": true, "(snapshot-MEMORY)": true,
		"(make-org-object)": true, "": false, "-": false, "*": false, "(* a -1)": false, "(lookup-objec": false, "memory*": false, "org--object": false,
	} {
		if got := namesObjects(code); got != want {
			t.Errorf("%q is %v", code, got)
		}
	}
}
