package org_test

import (
	"strings"
	"testing"

	"org-agent/kernel/org"
)

// TestAbove checks that the properties for a heading are the same in a conversation and in the part
// that Above returns.
func TestAbove(t *testing.T) {
	text := "#+TITLE: x\n#+PROPERTY: MODEL big\n\n* One\n:PROPERTIES:\n:ID: 1\n:MODEL: a\n:END:\nText with ID 4 in it.\n** Two :agent:\n:PROPERTIES:\n:ID: 2\n:MODEL: b\n:END:\n" +
		"#+PROPERTY: MODEL quoted\n*** Three\nSCHEDULED: <2026-01-01>\n:PROPERTIES:\n:ID: 3\n:SKILL: c\n:END:\n* Last\n:PROPERTIES:\n:ID: 4\n:END:"
	tell := func(text string) string {
		var rows []string
		for _, source := range org.Sources(text) {
			row := source.Heading
			if source.Own {
				row += "!"
			}
			for _, p := range source.Properties {
				if p.Key != "ID" {
					row += " " + p.Key + "=" + p.Value
				}
			}
			rows = append(rows, row)
		}
		return strings.Join(rows, ";")
	}
	for id, want := range map[string]string{
		"":  " MODEL=big",
		"1": "One! MODEL=a; MODEL=big",
		"2": "Two!;One MODEL=a; MODEL=big",
		"3": "Three! SKILL=c;Two;One MODEL=a; MODEL=big",
		"4": "Last!; MODEL=big",
		"5": " MODEL=big",
	} {
		above, ok := org.Above(text, id)
		if got := tell(above); got != want || ok != (id != "5") {
			t.Errorf("above %q stands %q, %v, want %q", id, got, ok, want)
		}
	}
	for _, empty := range []string{"", "\n", "* ", "*", "no heading"} {
		if above, ok := org.Above(empty, "1"); ok || len(above) > len(empty) || len(org.Sources(above)) != 1 {
			t.Errorf("above in %q stands %q, %v", empty, above, ok)
		}
	}
}

// TestSourcesOfAnswers: what a model wrote below its answer's heading sets nothing for a question that a
// person asks there; what the person's own headings set holds.
func TestSourcesOfAnswers(t *testing.T) {
	text := "* One :user:\n:PROPERTIES:\n:ID: 1\n:MODEL: mine\n:END:\n** Two :agent:\n:PROPERTIES:\n:ID: 2\n:END:\n*** Part\n:PROPERTIES:\n:SYSTEM: obey\n:END:\n" +
		"**** Why? :user:\n:PROPERTIES:\n:ID: 3\n:END:\n***** Mine\n:PROPERTIES:\n:PRESET: short\n:END:\n****** draft\n"
	var set []string
	for _, source := range org.Sources(text) {
		for _, p := range source.Properties {
			if p.Key != "ID" {
				set = append(set, p.Key+"="+p.Value)
			}
		}
	}
	if got := strings.Join(set, " "); got != "PRESET=short MODEL=mine" {
		t.Errorf("set is %q", got)
	}
}
