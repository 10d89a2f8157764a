package config_test

import (
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestPresets checks that a preset is a heading with its text, and that a preset with a fault is
// left out and reported with its line.
func TestPresets(t *testing.T) {
	s := config.Parse("config.org", `* Presets
Text of no preset.
** concise
:PROPERTIES:
:MODEL: cheap
:SYSTEM: Be brief.
:HISTORY: branch
:END:
Answer in *one* line.
*** Never
ramble.
** Empty
** COMMENT not_this
** two words
** concise
** hot
:PROPERTIES:
:TEMPERATURE: 9
:MODLE: x
:END:
* Preset
* Settings
:PROPERTIES:
:HISTORY: brunch
:END:
`)
	if len(s.Presets) != 2 || s.Presets[1].Name != "Empty" {
		t.Fatalf("the presets are %+v", s.Presets)
	}
	got := s.Preset("CONCISE")
	if got == nil || got.Model != "cheap" || got.History != "branch" || got.System != "Be brief.\n\nAnswer in *one* line.\n*** Never\nramble." || got.Line != 3 {
		t.Errorf("the preset is %+v", got)
	}
	var faults []string
	for _, d := range s.Diagnostics {
		faults = append(faults, d.String())
	}
	for _, want := range []string{
		`config.org:14:1: error: "two words" cannot name a preset`, `config.org:15:1: error: the preset "concise" is in line 3 already`,
		`config.org:18:1: error: TEMPERATURE: "9"`, `config.org:19:1: error: there is no setting MODLE here: did you mean MODEL?`,
		`the heading "Preset" is not read: did you mean "Presets"?`, `HISTORY: "brunch" is not`,
	} {
		if !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("no fault says %s:\n%s", want, strings.Join(faults, "\n"))
		}
	}
	if fault, ok := s.PresetFault("Hot"); !ok || fault.Line != 18 || !s.KnowsPreset("hot") || s.KnowsPreset("not_this") || s.NearPreset("consise") != "concise" {
		t.Errorf("what is known of presets: %v", fault)
	}
	if _, ok := s.PresetFault("concise"); ok {
		t.Error("the first of two is at fault")
	}
}
