package orgquery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
)

// notes returns entries with every combination of what a query can ask for.
func notes() string {
	random := rand.New(rand.NewPCG(3, 3))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("#+TODO: TODO NEXT | DONE GONE\n#+FILETAGS: :file:\n#+CATEGORY: Every\n")
	for n := range 160 {
		fmt.Fprintf(&b, "%s %s%s%sEntry %d%s\n", strings.Repeat("*", 1+random.IntN(3)), pick("", "TODO ", "NEXT ", "DONE ", "GONE ", "todo "), pick("", "", "[#A] ", "[#C] "),
			pick("", "", "", "", "COMMENT "), n, pick("", "", " :home:", " :work:home:", " :a_b:@x:", " :ARCHIVE:", " no:tag:"))
		if day := func() string {
			return fmt.Sprintf("<2026-03-%02d%s>", 1+random.IntN(28), pick("", " Mon", " Tue 09:30", " +1w"))
		}; random.IntN(2) == 0 {
			b.WriteString(pick("SCHEDULED: "+day(), "DEADLINE: "+day(), "  DEADLINE: "+day()+" SCHEDULED: "+day(), "CLOSED: [2026-03-03 Tue]") + "\n")
		}
		if random.IntN(2) == 0 {
			fmt.Fprintf(&b, ":PROPERTIES:\n:Effort:   %s\n:%s: %s\n:END:\n", pick("1:00", "2:00"), pick("NOTE", "note", "CATEGORY"), pick("x", "y z", ""))
		}
		b.WriteString(pick("", "text\n", "#+begin_src org\n* TODO no\n#+end_src\n", ":PROPERTIES:\n:NOTE: late\n:END:\n"))
	}
	return b.String()
}

// TestQueryMatchesOrg checks that a query finds in a file what Org's own matcher finds.
func TestQueryMatchesOrg(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	x, effort := "x", "1:00"
	march := func(from, to int) *orgquery.Days {
		days, err := orgquery.ParseDays(fmt.Sprintf("2026-03-%02d..2026-03-%02d", from, to), 0)
		if err != nil {
			t.Fatal(err)
		}
		return &days
	}
	cases := []struct {
		matcher string
		query   orgquery.Query
	}{
		{"LEVEL>0", orgquery.Query{}},
		{"/!", orgquery.Query{Todo: []string{orgquery.Open}}},
		{`TODO="DONE"|TODO="GONE"`, orgquery.Query{Todo: []string{orgquery.Done}}},
		{`TODO="NEXT"`, orgquery.Query{Todo: []string{"NEXT"}}},
		{"+home", orgquery.Query{Tags: []string{"home"}}},
		{"+home-work", orgquery.Query{Tags: []string{"home", "-work"}}},
		{"+file-a_b", orgquery.Query{Tags: []string{"file", "-a_b"}}},
		{`PRIORITY="A"`, orgquery.Query{Priorities: []string{"A"}}},
		{`PRIORITY="B"`, orgquery.Query{Priorities: []string{"b"}}},
		{`Effort="1:00"`, orgquery.Query{Properties: []orgquery.Property{{Name: "EFFORT", Value: &effort}}}},
		{`NOTE="x"`, orgquery.Query{Properties: []orgquery.Property{{Name: "note", Value: &x}}}},
		{`CATEGORY="x"`, orgquery.Query{Properties: []orgquery.Property{{Name: "CATEGORY", Value: &x}}}},
		{`SCHEDULED>="<2026-03-05>"&SCHEDULED<"<2026-03-16>"`, orgquery.Query{Scheduled: march(5, 15)}},
		{`DEADLINE>="<2026-03-10>"&DEADLINE<"<2026-03-11>"`, orgquery.Query{Deadline: march(10, 10)}},
		{`CLOSED>="<2026-03-03>"&CLOSED<"<2026-03-04>"`, orgquery.Query{Closed: march(3, 3)}},
		{`+home+SCHEDULED>="<2026-03-01>"/!`, orgquery.Query{Tags: []string{"home"}, Todo: []string{"open"}, Scheduled: march(1, 31)}},
	}
	directory := t.TempDir()
	file, out := filepath.Join(directory, "notes.org"), filepath.Join(directory, "out")
	text := notes()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var matchers []string
	for _, c := range cases {
		matchers = append(matchers, fmt.Sprintf("%q", c.matcher))
	}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, "emacs", "-Q", "--batch", "-l", "testdata/match.el", "--eval",
		fmt.Sprintf("(outline-match %q %q '(%s))", out, file, strings.Join(matchers, " ")))
	command.Env = append(os.Environ(), "HOME="+directory)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v\n%s", err, output)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	parsed := orgquery.Read(orgquery.Source{Path: file, Text: text})
	decoder := json.NewDecoder(bytes.NewReader(written))
	for _, c := range cases {
		var want, got []int
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		for _, e := range parsed.Entries {
			if c.query.Matches(e) {
				got = append(got, e.Line)
			}
		}
		if len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("%s: Org finds the lines\n%v\nand the query\n%v", c.matcher, want, got)
		}
	}
}

func TestParseDays(t *testing.T) {
	today, _ := org.ParseDay("2026-01-31")
	for text, want := range map[string]string{
		"today": "2026-01-31..2026-01-31", "tomorrow": "2026-02-01..2026-02-01", "-1w..": "2026-01-24..", "..+2d": "..2026-02-02",
		"+1m": "2026-03-03..2026-03-03", "2026-01-01..2026-12-31": "2026-01-01..2026-12-31", "any": "..", " Today .. +1y ": "2026-01-31..2027-01-31",
	} {
		d, err := orgquery.ParseDays(text, today)
		from, to := d.From.String(), d.To.String()
		if d.NoFrom {
			from = ""
		}
		if d.NoTo {
			to = ""
		}
		if err != nil || from+".."+to != want {
			t.Errorf("%q is %s..%s, %v", text, from, to, err)
		}
	}
	for _, text := range []string{"", "x", "2026-02-30", "+99999y", "tomorrow..yesterday", "1..2..3"} {
		if d, err := orgquery.ParseDays(text, today); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
