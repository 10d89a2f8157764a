package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
)

// withRules returns a policy with the text of a policy.org, in its own home.
func withRules(t testing.TB, text string) *policy.Policy {
	t.Helper()
	home := t.TempDir()
	for _, directory := range []string{"sessions", "sub"} {
		if err := os.Mkdir(filepath.Join(home, directory), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(home, "policy.org")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &policy.Policy{Kinds: kinds, Home: home, Rules: &policy.RuleFile{Path: path, Home: home}}
}

// table returns a policy.org with rows in the notation of the corpus: PATTERN allows a command,
// !PATTERN refuses it, ?PATTERN asks, and w:PATH allows writing a file.
func table(rows ...string) string {
	text := "* Rules\n| rule | matches | verdict | why | since |\n|-\n"
	for _, row := range rows {
		kind, verdict := "runs", "allow"
		switch {
		case strings.HasPrefix(row, "!"):
			verdict = "refuse"
		case strings.HasPrefix(row, "?"):
			verdict = "ask"
		case strings.HasPrefix(row, "w:"):
			kind = "writes"
		}
		text += fmt.Sprintf("| %s | %s | %s | | |\n", kind, strings.TrimPrefix(strings.TrimLeft(row, "!?"), "w:"), verdict)
	}
	return text
}

func command(t testing.TB, text string) string {
	return `(:type :request :target :shell :cmd ` + plist.Print(plist.String(text)) + `)`
}

// corpusCase is one line of the corpus.
type corpusCase struct {
	line             int
	rows             []string
	command, verdict string
}

func corpus(t testing.TB) []corpusCase {
	t.Helper()
	text, err := os.ReadFile("testdata/commands.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var cases []corpusCase
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) < 3 {
			t.Fatalf("line %d has %d cells", i+2, len(cells))
		}
		c := corpusCase{line: i + 2, command: strings.ReplaceAll(cells[1], `\n`, "\n"), verdict: cells[2]}
		if cells[0] != "" {
			c.rows = strings.Split(cells[0], " + ")
		}
		cases = append(cases, c)
	}
	return cases
}

// TestCommands runs the corpus: the verdict of each command under the given rows.
func TestCommands(t *testing.T) {
	cases := corpus(t)
	if len(cases) < 200 {
		t.Errorf("the corpus has %d commands", len(cases))
	}
	for _, c := range cases {
		p := withRules(t, table(c.rows...))
		v := p.Judge(t.Context(), read(t, command(t, c.command)), policy.Where{})
		got := v.Kind.String()
		if len(p.Rules.Rules().Faults()) > 0 {
			got = "fault"
		}
		if got != c.verdict {
			t.Errorf("commands.tsv:%d: %s, not %s: %q given %q: %s", c.line, got, c.verdict, c.command, c.rows, v.Reason)
		}
	}
}

// TestRulesOnlyNarrow checks that a row that refuses or asks never lets more commands through, and
// that a row that allows lets a command through only if no other row is against it.
func TestRulesOnlyNarrow(t *testing.T) {
	cases := corpus(t)
	p := withRules(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(cases).Draw(rt, "case")
		other := rapid.SampledFrom(cases).Draw(rt, "other")
		if c.verdict == "fault" || other.verdict == "fault" {
			return
		}
		kind := func(rows []string) policy.Kind {
			if err := os.WriteFile(p.Rules.Path, []byte(table(rows...)), 0o600); err != nil {
				rt.Fatal(err)
			}
			return p.Judge(t.Context(), read(t, command(t, c.command)), policy.Where{}).Kind
		}
		before := kind(c.rows)
		for _, sign := range []string{"!", "?"} {
			for _, row := range other.rows {
				row = sign + strings.TrimLeft(row, "!?")
				if strings.Contains(row, "w:") {
					continue
				}
				if after := kind(append(append([]string{}, c.rows...), row)); after > before {
					rt.Fatalf("%q: with %s more is let through: %s, not %s", c.command, row, after, before)
				}
			}
		}
		for _, row := range c.rows { // removing an allowing row never lets more through
			if !strings.ContainsAny(row[:1], "!?") {
				var fewer []string
				for _, r := range c.rows {
					if r != row {
						fewer = append(fewer, r)
					}
				}
				if after := kind(fewer); after > before {
					rt.Fatalf("%q: without %s more is let through: %s, not %s", c.command, row, after, before)
				}
			}
		}
	})
}

// TestScriptIsItsWorstCommand checks that a list of commands is allowed only if each of its parts
// is.
func TestScriptIsItsWorstCommand(t *testing.T) {
	cases := corpus(t)
	p := withRules(t, table("ls **", "git status", "!rm **", "cat **"))
	kind := func(text string) policy.Kind {
		return p.Judge(t.Context(), read(t, command(t, text)), policy.Where{}).Kind
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SampledFrom(cases).Draw(rt, "a").command, rapid.SampledFrom(cases).Draw(rt, "b").command
		for _, joined := range []string{a + "\n" + b, "(" + a + "\n)\n" + b, "if true\nthen " + a + "\nfi\n" + b} {
			if got := kind(joined); got > min(kind(a), kind(b)) {
				rt.Fatalf("%q is let through: %s; %q is %s, %q is %s", joined, got, a, kind(a), b, kind(b))
			}
		}
	})
}

// BenchmarkVerdict measures the verdict on a pipeline of ten commands.
func BenchmarkVerdict(b *testing.B) {
	p := withRules(b, table("ls **", "cat **", "grep **", "sort **", "head **", "wc **", "git status", "!rm **", "?git push **", "make test"))
	action := read(b, command(b, `cat a b | grep -n 'x y' | grep -v z | sort -u | sort -n | head -n 20 | grep "$x" | wc -l | cat - c | head -n 1`))
	for b.Loop() {
		if v := p.Judge(b.Context(), action, policy.Where{}); v.Kind != policy.Allow {
			b.Fatal(v.Reason)
		}
	}
}
