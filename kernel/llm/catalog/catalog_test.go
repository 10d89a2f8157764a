package catalog

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The table of the program has no fault, no two rows for one name, and in each row a date and a source.
func TestBuiltin(t *testing.T) {
	table, faults := Parse(builtin)
	for _, f := range faults {
		t.Errorf("models.org:%d: %s", f.Line, f.Message)
	}
	seen := map[string]bool{}
	lines := strings.Split(builtin, "\n")
	for _, m := range table {
		if name := normal(m.Name); seen[name] {
			t.Errorf("models.org:%d: %s is there twice", m.Line, m.Name)
		} else {
			seen[name] = true
		}
		cells := cellsOf(strings.TrimSpace(lines[m.Line-1]))
		date, source := cells[len(cells)-2], cells[len(cells)-1]
		if len(date) != len("2025-01-01") || source == "" {
			t.Errorf("models.org:%d: %s has the date %q and the source %q", m.Line, m.Name, date, source)
		}
		if m.Window == 0 || m.Price != nil && m.Price.Cached != nil && *m.Price.Cached > m.Price.Input {
			t.Errorf("models.org:%d: %+v", m.Line, m)
		}
	}
	if len(table) < 30 {
		t.Errorf("there are %d models", len(table))
	}
}

func TestFind(t *testing.T) {
	table, faults := Parse("| model | window |\n|-\n| claude-sonnet-4-5 | 1 |\n| gpt-5 | 2 |\n| gpt-5-mini | 3 |\n| gpt-5-2026-01-01 | 4 |\n| maker/own | 5 |\n| own | 6 |\n| gpt-4.1 | 7 |\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for name, window := range map[string]int{
		"claude-sonnet-4-5":                      1,
		"claude-sonnet-4-5-20250929":             1,
		"claude-sonnet-4-5@20250929":             1,
		"anthropic/claude-sonnet-4.5":            1,
		"openrouter/anthropic/Claude-Sonnet-4.5": 1,
		"claude-sonnet-4-55":                     0,
		"claude-sonnet-4-5-fast":                 0,
		"anthropic/claude-sonnet-4.5:free":       0, // costs another price
		"gpt-5-2025-08-07":                       2,
		"gpt-5-2026-01-01":                       4, // the whole name first
		"gpt-5-mini-2025-08-07":                  3,
		"gpt-5-20":                               0,
		"gpt-5.7":                                0,
		"openai/gpt-4.1":                         7,
		"gpt-4-1":                                7,
		"maker/own":                              5,
		"other/own":                              6,
		"":                                       0,
		"gpt":                                    0,
	} {
		if m, found := table.Find(name); m.Window != window || found != (window > 0) {
			t.Errorf("%q is %+v, %v", name, m, found)
		}
	}
}

// A person's row wins in what it says; a price is one thing.
func TestOver(t *testing.T) {
	below, _ := Parse("|model|window|in|cached|out|\n|a|10|1|0.5|2|\n|b|20|3||4|\n")
	own, _ := Parse("|model|window|in|out|\n|a|30|||\n|b||7|8|\n|c|40|||\n|a|31|||\n")
	a, b, c, d := own.Over(below, "a"), own.Over(below, "maker/b-20260101"), own.Over(below, "c"), own.Over(below, "d")
	if a.Window != 31 || a.Price == nil || a.Price.Input != 1 || *a.Price.Cached != 0.5 {
		t.Errorf("a is %+v", a)
	}
	if b.Window != 20 || b.Price == nil || b.Price.Input != 7 || b.Price.Cached != nil {
		t.Errorf("b is %+v", b)
	}
	if c.Window != 40 || c.Price != nil || d.Window != 0 || d.Price != nil {
		t.Errorf("c is %+v, d is %+v", c, d)
	}
}

// A bad row is told with its line, and the others count.
func TestFaults(t *testing.T) {
	const header = "|model|window|in|cached|written|out|source|\n"
	for row, want := range map[string]string{
		"|x|many|1|||2||":               `window: "many" is not a number of tokens`,
		"|x|5||||||y|":                  "the row has 8 cells, and the table 7 columns",
		"|x|0||||||":                    "window: \"0\"",
		"|x|-5||||||":                   "window: \"-5\"",
		"|x|99999999999999999999||||||": "is not a number of tokens",
		"|x|2000M||||||":                "is not a number of tokens",
		"|x||1||||":                     `the price of "x" needs both in and out`,
		"|x|||1|||":                     "needs in and out beside cached",
		"|x||NaN|||2|":                  `in: "NaN" is not a price`,
		"|x||-1|||2|":                   `in: "-1" is not a price`,
		"|x||1e9|||2|":                  `in: "1e9" is not a price`,
		"||5|1|||2|":                    "the row has no model",
	} {
		table, faults := Parse("Prose.\n" + header + "|-\n|good|5|\n" + row + "\n|fine|6|\n")
		if len(faults) != 1 || faults[0].Line != 5 || !strings.Contains(faults[0].Message, want) {
			t.Errorf("%s: the faults are %v", row, faults)
		}
		if len(table) != 2 || table[1].Name != "fine" {
			t.Errorf("%s: the table is %v", row, table)
		}
	}
	for text, want := range map[string]string{
		"|claude|5|\n|gpt|6|\n": `1: "claude" is not a column`,
		"|window|\n|5|\n":       "1: the table has no column model",
		"|model|in|in|\n|x|\n":  "1: there are two columns in",
	} {
		table, faults := Parse(text)
		if len(table) != 0 || len(faults) != 1 || !strings.HasPrefix(fmt.Sprint(faults[0].Line, ": ", faults[0].Message), want) {
			t.Errorf("%q: %v, %v", text, table, faults)
		}
	}
	long, told := Parse("|model|\n" + strings.Repeat("|x|\n", longestTable+5))
	if len(long) != longestTable || len(told) != 1 || told[0].Line != longestTable+2 {
		t.Errorf("a table that is too long has %d models, and is told as %v", len(long), told)
	}
	table, faults := Parse("#+begin_example\n|model|\n|x|\n#+end_example\n\n  | model | window |\n  |---+---|\n  | y | 200k |\n  | | |\n\n|model|\n|z|\n")
	if len(faults) != 0 || len(table) != 2 || table[0].Name != "y" || table[0].Window != 200_000 || table[1].Name != "z" {
		t.Errorf("%v, %v", table, faults)
	}
}

// Any text is read without a panic, and each row is a model, a fault, or empty.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.StringOf(rapid.SampledFrom([]rune("|| -ax01.kM#+\t")))
		rows := rapid.SliceOf(row).Draw(t, "rows")
		table, faults := Parse("|model|in|out|window|\n" + strings.Join(rows, "\n"))
		if len(table)+len(faults) > len(rows)+1 {
			t.Fatalf("%d models and %d faults of %d rows", len(table), len(faults), len(rows))
		}
		for _, m := range table {
			if m.Name == "" || m.Window < 0 {
				t.Fatalf("%+v", m)
			}
		}
	})
}
