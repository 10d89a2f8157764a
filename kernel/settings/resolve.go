package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// place is a place that can set something: a heading, the file, or the conversation.
type place struct {
	from       string // the place, for people
	properties []org.Property
	presets    []string // names; a later one overrides an earlier one
	ends       bool     // presets of more distant places are ignored
	typed      bool     // a person chose the values by name, so that any model is allowed
}

// places returns all places that can set something for the message, the nearest first.
func (r *Resolver) places(ctx context.Context, event protocol.Event, sources []org.Source) ([]place, error) {
	var places []place
	for _, source := range sources {
		p := place{from: "the file", properties: source.Properties}
		switch {
		case source.Own:
			p.from = "the question's heading"
		case source.Heading != "":
			p.from = fmt.Sprintf("the heading %q", text.Prefix(source.Heading, 60))
		case len(places) < len(sources)-1:
			p.from = "a heading above"
		}
		value, _, found := ownValue(source.Properties, protocol.SettingPreset)
		p.presets, p.ends = strings.Fields(value), found && unset(value)
		if p.ends {
			p.presets = nil
		}
		if source.Own {
			// Presets in the words override the drawer's preset, but not its other properties.
			p.presets = append(p.presets, event.Presets...)
		}
		places = append(places, p)
	}
	model, err := r.Chosen.SessionModel(ctx, event.Session)
	if err != nil {
		return nil, err
	}
	preset, err := r.Chosen.SessionPreset(ctx, event.Session)
	if err != nil {
		return nil, err
	}
	chosen := place{from: "the conversation", typed: true}
	if model != "" {
		chosen.properties = []org.Property{{Key: protocol.SettingModel, Value: model}}
	}
	if preset != "" {
		chosen.presets = []string{preset}
	}
	return append(places, chosen), nil
}

// unset reports whether a value sets nothing: it is empty or Org's nil.
func unset(value string) bool { return value == "" || value == "nil" }

// ownValue returns the value of a property at one place. If whole is false, the place has only
// NAME+ rows, and the value is appended to the one further away.
func ownValue(properties []org.Property, name string) (value string, whole, found bool) {
	var parts []string
	for _, p := range properties {
		switch strings.ToUpper(p.Key) {
		case name:
			parts, whole, found = append([]string{p.Value}, parts...), true, true
		case name + "+":
			parts, found = append(parts, p.Value), true
		}
	}
	return strings.TrimSpace(strings.Join(parts, " ")), whole, found
}

// resolve finds the value of each setting and checks it.
func (r *Resolver) resolve(ctx context.Context, event *protocol.Event, places []place, settings config.Settings) (protocol.TurnSettings, error) {
	for _, p := range places {
		for _, name := range p.presets {
			if settings.Preset(name) == nil {
				return nil, noPreset(settings, p.from, name)
			}
		}
	}
	var resolved protocol.TurnSettings
	for _, name := range protocol.SettingNames {
		if name == protocol.SettingPreset || name == protocol.SettingSkill && event.Command != "" {
			continue // the command decides the skill
		}
		value, from, typed := lookUp(places, settings, name)
		if name == protocol.SettingHistory && value == "" && from == "" && settings.History != "" {
			value, from = settings.History, "config.org"
		}
		if configured := settings.Budget[name]; value == "" && from == "" && configured != "" {
			value, from = configured, "config.org"
		}
		if unset(value) {
			continue
		}
		value, err := r.checkSetting(ctx, name, value, typed)
		if err != nil {
			return nil, protocol.Errorf(protocol.ErrorCode(err), "%s sets %s: %w", from, name, err)
		}
		resolved = append(resolved, protocol.TurnSetting{Name: name, Value: value, From: from})
	}
	return resolved, nil
}

// lookUp returns the value of a setting at the nearest place that has it, and that place. A
// preset is as near as the place that names it.
func lookUp(places []place, settings config.Settings, name string) (value, from string, typed bool) {
	var added []string // values of NAME+ rows nearer than the value, the nearest last
	found := func(value, from string, typed bool) (string, string, bool) {
		if unset(value) && len(added) > 0 {
			value = ""
		}
		return strings.TrimSpace(strings.Join(append([]string{value}, added...), " ")), from, typed
	}
	presets := true
	nearestFrom := ""
	for _, p := range places {
		value, whole, there := ownValue(p.properties, name)
		switch {
		case whole:
			return found(value, cmp.Or(nearestFrom, p.from), p.typed)
		case there:
			added = append([]string{value}, added...)
			nearestFrom = cmp.Or(nearestFrom, p.from)
		}
		if presets {
			for _, preset := range slices.Backward(p.presets) {
				if value := presetValue(settings.Preset(preset), name); value != "" {
					return found(value, cmp.Or(nearestFrom, fmt.Sprintf("the preset %s, by %s", preset, p.from)), false)
				}
			}
		}
		presets = presets && !p.ends
	}
	return found("", nearestFrom, false)
}

// presetValue returns the value of a setting in a preset, "" if the preset does not set it.
func presetValue(p *config.Preset, name string) string {
	switch name {
	case protocol.SettingModel:
		return p.Model
	case protocol.SettingSkill:
		return p.Skill
	case protocol.SettingProfile:
		return p.Profile
	case protocol.SettingSystem:
		return p.System
	case protocol.SettingHistory:
		return p.History
	case protocol.SettingTemperature:
		return p.Temperature
	case protocol.SettingMaxTokens:
		return p.MaxTokens
	}
	return p.Budget[name]
}

func noPreset(settings config.Settings, from, name string) error {
	if fault, ok := settings.PresetFault(name); ok {
		return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %s, which is at fault: %s", from, name, fault)
	}
	if near := settings.NearPreset(name); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %q, and there is none: did you mean %q?", from, name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "%s names the preset %q, and config.org has none of that name below \"Presets\"", from, name)
}

// Preset returns the preset of that name. It fails if one of its settings cannot be used now. from
// is the place that names the preset, for errors.
func (r *Resolver) Preset(ctx context.Context, name, from string) (config.Preset, error) {
	settings := r.Live.Now()
	preset := settings.Preset(name)
	if preset == nil {
		return config.Preset{}, noPreset(settings, from, name)
	}
	chosen := []place{{from: from, presets: []string{preset.Name}}}
	_, err := r.resolve(ctx, &protocol.Event{Sensor: protocol.SensorChatMessage}, chosen, settings)
	return *preset, err
}

// PresetSettings returns the settings of a preset, in the order of [protocol.SettingNames].
func PresetSettings(preset config.Preset) (all protocol.TurnSettings) {
	for _, name := range protocol.SettingNames {
		if value := presetValue(&preset, name); value != "" {
			all = append(all, protocol.TurnSetting{Name: name, Value: value})
		}
	}
	return all
}

// systemLimit is the largest size of SYSTEM, in bytes.
const systemLimit = 128 << 10

// checkSetting returns the value in the form that a turn has it, or an error for an invalid one.
func (r *Resolver) checkSetting(ctx context.Context, name, value string, typed bool) (string, error) {
	var err error
	switch name {
	case protocol.SettingModel:
		if typed {
			err = r.Models.Find(value)
		} else {
			err = r.Models.Check(ctx, value)
		}
	case protocol.SettingSkill:
		value, _, _ = strings.Cut(value, "@") // an answer's drawer has NAME@HASH
		err = r.checkSkill(value)
	case protocol.SettingProfile:
		err = r.Profiles.CheckProfile(value)
	case protocol.SettingHistory:
		err = config.CheckHistory(value)
	case protocol.SettingTemperature:
		err = config.CheckTemperature(value)
	case protocol.SettingMaxTokens:
		err = config.CheckMaxTokens(value)
	case protocol.SettingBudgetRounds, protocol.SettingBudgetTokens, protocol.SettingBudgetTime, protocol.SettingBudgetCost:
		err = config.CheckBudget(name, value)
	case protocol.SettingSystem:
		if len(value) > systemLimit {
			err = protocol.Errorf(protocol.CodeTooLarge, "it has %d bytes, more than the %d allowed", len(value), systemLimit)
		}
	}
	if err != nil && protocol.ErrorCode(err) == protocol.CodeInternal {
		err = protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	return value, err
}

// checkSkill returns an error if there is no skill of that name, of either kind.
func (r *Resolver) checkSkill(name string) error {
	if r.Skills.Has(name) {
		return nil
	}
	if near := suggest.Of(name, r.Skills.Names()); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "no live skill is named %q: did you mean %q?", name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "no live skill is named %q: M-x org-agent-skills lists them", name)
}
