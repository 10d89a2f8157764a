package settings

import (
	"strconv"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Turn has the settings of one turn, as typed values. [Of] makes it once, when the turn begins, for
// everything that answers the turn.
type Turn struct {
	// Model is the model that is asked, "" for the default.
	Model string
	// Skill and Profile name the skill that answers and the profile as which it answers. From says
	// who set them. Their values are "" where nothing is set.
	Skill, Profile protocol.TurnSetting
	// System has the instructions for the model beside the skill's prompt.
	System string
	// History is one of the History constants of package protocol, "" for all.
	History string
	// Temperature is nil and MaxTokens 0 where nothing is set.
	Temperature *float64
	MaxTokens   int
	// Budget is what the turn may take.
	Budget config.Budget
}

// Of returns what holds for a turn of the journal. The values were checked when the message came;
// one that cannot be read all the same sets nothing.
func Of(turn journal.Turn) Turn {
	t := Turn{Model: turn.Wanted, Budget: config.DefaultBudget}
	for _, set := range turn.Settings {
		switch set.Name {
		case protocol.SettingModel: // the turn has the one that it was queued with
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
