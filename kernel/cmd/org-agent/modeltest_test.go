package main

import (
	"testing"

	"org-agent/kernel/config"
)

// TestToWrite checks what is written of a recommendation: nothing that the model has already.
func TestToWrite(t *testing.T) {
	for _, test := range []struct {
		set, grammar, recommended, writes string
		schema                            bool
	}{
		{"", "", "constrained", "constrained", true}, {"constrained", "", "constrained", "", true}, {"native", "json_schema", "constrained", "constrained", false},
		{"", "", "native", "native", false}, {"native", "", "native", "", false}, {"plist", "", "native", "native", false},
		{"", "grammar", "constrained", "constrained", false}, {"constrained", "grammar", "constrained", "", false},
		{"", "", "constrained", "", false}, {"auto", "", "constrained", "", false}, {"native", "", "constrained", "auto", false},
	} {
		choice := config.Choice{Model: config.Model{Name: "mine", Dialect: test.set, Grammar: test.grammar}}
		if heading, writes := toWrite(choice, test.recommended, test.schema); writes != test.writes || (heading == "mine") != (writes != "") {
			t.Errorf("%+v: %q below %q", test, writes, heading)
		}
	}
}
