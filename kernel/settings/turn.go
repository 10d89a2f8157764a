package settings

import (
	"strconv"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Turn holds the settings of one turn as typed values. [Of] makes it once, when the turn begins,
// and everything that answers the turn reads it.
type Turn struct {
	// Model is the model that answers, or "" for the default.
	Model string
	// Skill and Profile name the skill that answers and its profile, and the places that set them.
	// Their values are "" if nothing is set.
	Skill, Profile protocol.TurnSetting
	// System holds instructions for the model in addition to the skill's prompt.
	System string
	// History is one of the History constants of package protocol, or "" for all.
	History string
	// Temperature is nil and MaxTokens is 0 if nothing is set.
	Temperature *float64
	MaxTokens   int
	// Budget limits the rounds, the tokens, the time and the cost of the turn.
	Budget config.Budget
}

// Of returns the settings of a turn of the journal. The values were checked when the message
// arrived. A value that cannot be read nevertheless is ignored.
func Of(turn journal.Turn) Turn {
	t := Turn{Model: turn.RequestedModel, Budget: config.DefaultBudget}
	for _, set := range turn.Settings {
		switch set.Name {
		case protocol.SettingModel: // the turn keeps the model with which it was queued
		case protocol.SettingSkill:
			t.Skill = set
		case protocol.SettingProfile:
			t.Profile = set
		case protocol.SettingSystem:
			t.System = set.Value
		case protocol.SettingHistory:
			t.History = set.Value
		case protocol.SettingTemperature:
			if degrees, err := strconv.ParseFloat(set.Value, 64); err == nil {
				t.Temperature = &degrees
			}
		case protocol.SettingMaxTokens:
			t.MaxTokens, _ = strconv.Atoi(set.Value)
		default:
			_ = t.Budget.Set(set.Name, set.Value)
		}
	}
	return t
}
