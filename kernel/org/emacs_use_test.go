package org_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// A trap is a case of testdata/held/hostile: a text, and what leaves a trace when it is done with the
// text as it stands.
type trap struct {
	uses []string
	name string
	text string
}

func traps(t *testing.T) []trap {
	t.Helper()
	data, err := os.ReadFile("../../testdata/held/hostile")
	if err != nil {
		t.Fatal(err)
	}
	uses := strings.Fields("display visit C-c-C-c TAB open link ascii html latex md icalendar beamer odt tangle agenda columns attach archive refile export-file")
	text := regexp.MustCompile(`(?m)^########.*\n`).ReplaceAllString(string(data), "")
	var all []trap
	for _, section := range strings.Split(text, "\n== ")[1:] {
		first, body, _ := strings.Cut(section, "\n")
		found := trap{text: strings.TrimRight(body, "\n") + "\n"}
		for _, word := range strings.Fields(first) {
			if found.name == "" && slices.Contains(uses, word) {
				found.uses = append(found.uses, word)
			} else {
				found.name += " " + word
			}
		}
		if len(found.uses) == 0 {
			t.Fatalf("%s: no use", first)
		}
		all = append(all, found)
	}
	return all
}

// TestEmacsTrapsLeaveTraces: as it stands each hostile text leaves a trace by each use that it names.
// Otherwise the next test would prove nothing.
func TestEmacsTrapsLeaveTraces(t *testing.T) {
	all := traps(t)
	var texts []string
	for _, trap := range all {
		texts = append(texts, strings.Join(trap.uses, " ")+"\n"+trap.text)
	}
	var fired [][]string
	runEmacs(t, "org-agent-use-case", texts, &fired)
	for i, trap := range all {
		for _, use := range trap.uses {
			if !slices.Contains(fired[i], use) {
				t.Errorf("%s: no trace by %s, only by %v\n%s", trap.name, use, fired[i], trap.text)
			}
		}
	}
}

// TestEmacsInertLeavesNone: whatever is done with the hostile texts, together and mixed with others,
// after the kernel or the client alone made them inert, leaves no trace.
func TestEmacsInertLeavesNone(t *testing.T) {
	// Alone, by what it names, since what fails in one text may keep another from what it would do.
	var cases, checked []string
	for i, trap := range traps(t) {
		uses := strings.Join(trap.uses, " ") + "\n"
		cases = append(cases, uses+convertText(trap.text, org.Options{Dialect: dialects[1+i%2]}))
		checked = append(checked, uses+trap.text)
	}
	leaveNone(t, "org-agent-use-case", cases, checked)
	leaveNone(t, "org-agent-use-checked-case", checked, checked)
	// Together, by all there is.
	var raw []string
	for group := range slices.Chunk(traps(t), 14) {
		var text strings.Builder
		for _, trap := range group {
			text.WriteString("* " + trap.name + "\n" + trap.text + "\n\n")
		}
		raw = append(raw, text.String())
	}
	var pieces []string
	for _, trap := range traps(t) {
		pieces = append(pieces, trap.text)
	}
	mixed := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(slices.Concat(fragments, pieces, pieces)), 1, 14).Draw(t, "mixed"), "")
	})
	for seed := range 2 {
		raw = append(raw, emacsText(mixed.Example(seed)))
	}
	var converted []string
	for i, text := range raw {
		converted = append(converted, convertText(text, org.Options{Dialect: dialects[1+i%2]}))
	}
	leaveNone(t, "org-agent-use-text", converted, raw)
	leaveNone(t, "org-agent-use-checked-text", raw, raw)
}

// leaveNone has a function use the texts, which were made of raw, and reports those that leave a trace.
func leaveNone(t *testing.T, function string, texts, raw []string) {
	t.Helper()
	var fired [][]string
	runEmacs(t, function, texts, &fired)
	for i := range fired {
		if len(fired[i]) > 0 {
			t.Errorf("%s: a trace by %v\n%s\nfrom\n%s", function, fired[i], visible(texts[i]), raw[i])
		}
	}
}

// TestEmacsAlignsAlike checks that Org's own alignment changes nothing in a table that we laid out.
func TestEmacsAlignsAlike(t *testing.T) {
	cells := []string{"a", "longer text", "1", "22.5", "-3", "1e5", "50%", "中文", "é", "**bold**", "`code`", "", "<x>", "12 apples", "10:30", "(4)", "0x1F", "2#01", "nan", "-inf", ">5", "<<5", "🙂"}
	table := rapid.Custom(func(t *rapid.T) string {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		row := func() string {
			return "|" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(cells), columns, columns).Draw(t, "row"), "|") + "|\n"
		}
		text := row() + "|" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"---", ":--", "--:", ":-:"}), columns, columns).Draw(t, "marks"), "|") + "|\n"
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			text += row()
		}
		return text
	})
	var results, aligned []string
	for seed := range 200 {
		results = append(results, org.MarkdownToOrg(table.Example(seed)))
	}
	runEmacs(t, "org-agent-align-text", results, &aligned)
	for i := range results {
		if aligned[i] != results[i] {
			t.Errorf("Org makes of\n%s\n%s", results[i], aligned[i])
		}
	}
}
