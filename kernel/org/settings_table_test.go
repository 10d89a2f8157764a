package org_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// TestSettingsTable checks that an edit changes one row and no other byte, and that what was written is
// read again.
func TestSettingsTable(t *testing.T) {
	columns := []string{"rule", "matches"}
	const introduction = "* Rules\n\nWhat may be done.\n\n"
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		line := rapid.SampledFrom([]string{
			"* Rules", "* rules :tag:", "* Else", "| rule | matches |", "|------+---------|", "  | a | b |", "| longer than others | x |", "| <l> | <r5> |", "||",
			"#+begin_example", "#+end_example", "text", "", "# | no row |",
		})
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), newline)
		if rapid.Bool().Draw(t, "ended") {
			text += newline
		}
		before := org.ReadSettingsTable(text, "Rules")
		cells := []string{rapid.StringMatching(`[a-zä ]{0,4}[a-z]`).Draw(t, "rule"), rapid.StringMatching(`[a-z]{0,30}`).Draw(t, "matches")}
		cells[0] = strings.TrimSpace(cells[0])
		added := before.Append(columns, cells, introduction)
		after := org.ReadSettingsTable(added, "Rules")
		rows := len(before.Rows)
		if len(after.Rows) <= rows || !slices.Equal(after.Rows[len(after.Rows)-1].Cells, cells) {
			t.Fatalf("%q became %q with %v", text, added, after.Rows)
		}
		for i, row := range before.Rows {
			if !slices.Equal(row.Cells, after.Rows[i].Cells) {
				t.Fatalf("%q became %q: row %d is %v", text, added, i, after.Rows[i].Cells)
			}
		}
		last := after.Rows[len(after.Rows)-1]
		if removed := after.Remove(last); rows > 0 && strings.TrimSuffix(removed, newline) != strings.TrimSuffix(text, newline) {
			t.Fatalf("%q without the new row is %q", text, removed)
		}
		other := []string{"other", strings.Repeat("o", 40)}
		if again := org.ReadSettingsTable(after.Replace(last, other), "Rules"); fmt.Sprint(again.Rows[len(again.Rows)-1].Cells) != fmt.Sprint(other) {
			t.Fatalf("%q: the replaced row is %v", added, again.Rows)
		}
	})
}
