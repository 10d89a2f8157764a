package shell

import "testing"

// TestPrograms checks that the table of programs can be read, and that no field is written twice by mistake.
func TestPrograms(t *testing.T) {
	table, faults := parsePrograms(programTable)
	for _, fault := range faults {
		t.Error(fault)
	}
	if len(table) < 500 {
		t.Errorf("%d programs", len(table))
	}
	for _, text := range []string{"sort", "sort: ", " flags a", "sort: x\n  colour red", "sort: x\nsort: y", "sort: x\n  matches (", "git log: x", "sort: x\n  like tsort"} {
		if _, faults := parsePrograms(text); len(faults) == 0 {
			t.Errorf("%q has no fault", text)
		}
	}
}
