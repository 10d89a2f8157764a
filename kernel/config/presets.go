package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
)

// Preset is a heading below "Presets": named settings for a message or a conversation. The
// heading's text is added to the property SYSTEM.
type Preset struct {
	Name        string
	Model       string
	Skill       string
	Profile     string
	System      string
	History     string            // all, branch, none, or ""
	Temperature string            // a number from 0 to 2, or ""
	MaxTokens   string            // a number from 1 up, or ""
	Budget      map[string]string // values as the file writes them, by the names of settings
	Line        int
}

// systemLimit is the longest text of a preset, in bytes.
const systemLimit = 64 << 10

// Preset returns the preset of that name, in any case, or nil.
func (s Settings) Preset(name string) *Preset {
	for i, p := range s.Presets {
		if strings.EqualFold(p.Name, name) {
			return &s.Presets[i]
		}
	}
	return nil
}

// KnowsPreset reports whether a heading of that name stands below "Presets", usable or not.
func (s Settings) KnowsPreset(name string) bool {
	_, faulty := s.PresetFault(name)
	return faulty || s.Preset(name) != nil
}

// PresetFault returns what is wrong with the preset of that name.
func (s Settings) PresetFault(name string) (Diagnostic, bool) {
	fault, ok := s.faulty[strings.ToLower(name)]
	return fault, ok
}

// FaultyPreset is a heading below "Presets" that cannot be used, with the reason.
type FaultyPreset struct {
	Name  string
	Fault Diagnostic
}

// FaultyPresets returns the unusable presets in the order of their lines.
func (s Settings) FaultyPresets() []FaultyPreset {
	var all []FaultyPreset
	for name, fault := range s.faulty {
		all = append(all, FaultyPreset{name, fault})
	}
	slices.SortFunc(all, func(a, b FaultyPreset) int { return a.Fault.Line - b.Fault.Line })
	return all
}

// NearPreset returns the name of the most similar preset, or "" if none is similar.
func (s Settings) NearPreset(name string) string {
	var names []string
	for _, p := range s.Presets {
		names = append(names, p.Name)
	}
	return suggest.Of(name, names)
}

// preset reads a heading below "Presets". A heading with a fault is left out: half a preset would
// not be what the person wrote.
func (p *settingsParser) preset(h *org.Heading, source string) {
	preset := Preset{Name: h.Title, Line: h.Line}
	faults := len(p.settings.Diagnostics)
	defer func() {
		if len(p.settings.Diagnostics) > faults && p.settings.Preset(h.Title) == nil {
			if p.settings.faulty == nil {
				p.settings.faulty = map[string]Diagnostic{}
			}
			p.settings.faulty[strings.ToLower(h.Title)] = p.settings.Diagnostics[faults]
		}
	}()
	whole := p.drawer(h, append(budgetDrawer(&preset.Budget), []property{
		{"MODEL", func(value string) error { preset.Model = value; return nil }},
		{"SKILL", func(value string) error { preset.Skill = value; return nil }},
		{"PROFILE", func(value string) error { preset.Profile = value; return nil }},
		{"SYSTEM", func(value string) error { preset.System = value; return nil }},
		{"HISTORY", func(value string) error { preset.History = value; return CheckHistory(value) }},
		{"TEMPERATURE", func(value string) error { preset.Temperature = value; return CheckTemperature(value) }},
		{"MAX_TOKENS", func(value string) error { preset.MaxTokens = value; return CheckMaxTokens(value) }},
	}...))
	preset.System = strings.TrimSpace(preset.System + "\n\n" + strings.TrimSpace(source[h.Body:h.End]))
	before := p.settings.Preset(h.Title)
	switch {
	case !presetName(h.Title):
		p.fault(h.Line, "%q cannot name a preset: after @ a name is one word of letters, digits, - and _", h.Title)
	case before != nil:
		p.fault(h.Line, "the preset %q is in line %d already", h.Title, before.Line)
	case len(preset.System) > systemLimit:
		p.fault(h.Line, "the text of the preset %q has %d bytes, more than the limit of %d", h.Title, len(preset.System), systemLimit)
	case whole:
		p.settings.Presets = append(p.settings.Presets, preset)
	}
}

// presetNameLimit is the longest name of a preset, in bytes.
const presetNameLimit = 64

func presetName(name string) bool {
	return name != "" && len(name) <= presetNameLimit && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

// CheckHistory returns what is wrong with a value of HISTORY, or nil.
func CheckHistory(value string) error {
	switch value {
	case "all", "branch", "none":
		return nil
	}
	return fmt.Errorf("%q is not \"all\" (all earlier turns), \"branch\" (only the turns above the question) or \"none\"%s",
		value, suggestion(value, []string{"all", "branch", "none"}))
}

// suggestion returns the end of a sentence that suggests a similar name, or "".
func suggestion(value string, names []string) string {
	if near := suggest.Of(strings.ToLower(value), names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}

// CheckTemperature returns what is wrong with a value of TEMPERATURE, or nil.
func CheckTemperature(value string) error {
	var to *float64
	return setTemperature(&to, value)
}

// CheckMaxTokens returns what is wrong with a value of MAX_TOKENS, or nil.
func CheckMaxTokens(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n <= 0 || n > 1e9 {
		return fmt.Errorf("%q is not a number from 1 up", value)
	}
	return nil
}
