package settings_test

import (
	"reflect"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

// TestOf checks that the settings of a turn become typed values, with the model that the turn was
// queued with, and that a missing or unreadable value leaves the default.
func TestOf(t *testing.T) {
	set := func(name, value string) protocol.TurnSetting {
		return protocol.TurnSetting{Name: name, Value: value, From: "the file"}
	}
	warm, usual := 0.7, config.DefaultBudget
	budget := usual
	budget.Rounds, budget.Time, budget.Tokens = 5, 2*time.Minute, 0
	for name, c := range map[string]struct {
		turn journal.Turn
		want settings.Turn
	}{
		"nothing": {journal.Turn{}, settings.Turn{Budget: usual}},
		"a model that was asked for again": {
			journal.Turn{RequestedModel: "other", Settings: protocol.TurnSettings{set(protocol.SettingModel, "first")}},
			settings.Turn{Model: "other", Budget: usual},
		},
		"everything": {
			journal.Turn{RequestedModel: "m", Settings: protocol.TurnSettings{set(protocol.SettingModel, "m"), set(protocol.SettingSkill, "plain"), set(protocol.SettingProfile, "terse"),
				set(protocol.SettingHistory, protocol.HistoryBranch), set(protocol.SettingTemperature, "0.7"), set(protocol.SettingMaxTokens, "300"),
				set(protocol.SettingBudgetRounds, "5"), set(protocol.SettingBudgetTokens, "off"), set(protocol.SettingBudgetTime, "2m"), set(protocol.SettingSystem, "Be brief.")}},
			settings.Turn{Model: "m", Skill: set(protocol.SettingSkill, "plain"), Profile: set(protocol.SettingProfile, "terse"), System: "Be brief.",
				History: protocol.HistoryBranch, Temperature: &warm, MaxTokens: 300, Budget: budget},
		},
		"what cannot be read": {
			journal.Turn{Settings: protocol.TurnSettings{set(protocol.SettingTemperature, "warm"), set(protocol.SettingMaxTokens, "many"), set(protocol.SettingBudgetCost, "-")}},
			settings.Turn{Budget: usual},
		},
	} {
		if got := settings.Of(c.turn); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}
