package protocol

import (
	"regexp"
	"strings"
)

// The names of what can be set for a turn: as properties of headings, as properties of a
// preset, and by clients.
const (
	SettingModel       = "MODEL"       // which model answers, as in [ModelInfo]
	SettingSystem      = "SYSTEM"      // what the model is told beside the skill's prompt
	SettingSkill       = "SKILL"       // which skill answers
	SettingProfile     = "PROFILE"     // the name of a file of the home's profiles
	SettingPreset      = "PRESET"      // names of presets, of which the last counts first
	SettingHistory     = "HISTORY"     // one of the History constants
	SettingTemperature = "TEMPERATURE" // 0 to 2
	SettingMaxTokens   = "MAX_TOKENS"  // the longest reply

	// What the whole turn may take.
	SettingBudgetRounds = "BUDGET_ROUNDS"
	SettingBudgetTokens = "BUDGET_TOKENS"
	SettingBudgetTime   = "BUDGET_TIME"
	SettingBudgetCost   = "BUDGET_COST"
)

// SettingNames are all of them, in the order in which people are told.
var SettingNames = []string{
	SettingModel, SettingSkill, SettingPreset, SettingProfile, SettingHistory, SettingTemperature, SettingMaxTokens,
	SettingBudgetRounds, SettingBudgetTokens, SettingBudgetTime, SettingBudgetCost, SettingSystem,
}

// What of the conversation a model is shown.
const (
	HistoryAll    = "all"    // what was said before
	HistoryBranch = "branch" // of that, the turns that the question stands below
	HistoryNone   = "none"   // nothing
)

// Limits of what a question's heading brings.
const (
	PropertiesLimit = 64      // properties of a question
	AboveLimit      = 1 << 20 // bytes of what stands above a question
)

// TurnSetting is something that holds for a turn, and who set it.
type TurnSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from,omitempty"`
}

// TurnSettings is all that holds for a turn, each name once.
type TurnSettings []TurnSetting

// Value is the value of the setting of that name, "" where nothing is set.
func (s TurnSettings) Value(name string) string {
	for _, setting := range s {
		if setting.Name == name {
			return setting.Value
		}
	}
	return ""
}

// Property is a property of a question's heading, as the person wrote it. On the wire it
// is a list of two strings.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// propertyName is what can stand between the colons of a property.
var propertyName = regexp.MustCompile(`^[^\s:]+$`)

// ParseProperties reads :properties, a list of lists of two strings. The properties that
// identify a question are not among what a client sets.
func ParseProperties(value any) ([]Property, error) {
	list, ok := value.([]any)
	if value != nil && !ok {
		return nil, Errorf(CodeInvalidParams, ":properties is a list of lists of two strings")
	}
	if len(list) > PropertiesLimit {
		return nil, Errorf(CodeTooLarge, "the question has %d properties, more than the %d that it can", len(list), PropertiesLimit)
	}
	var properties []Property
	for _, element := range list {
		pair, ok := element.([]any)
		if !ok || len(pair) != 2 {
			return nil, Errorf(CodeInvalidParams, "an element of :properties is no list of two strings")
		}
		name, isText := pair[0].(string)
		text, also := pair[1].(string)
		if pair[1] == nil { // the empty string of some codecs
			also = true
		}
		if !isText || !also || !propertyName.MatchString(name) || len(name) > CommandLimit || strings.ContainsAny(text, "\r\n\x00") {
			return nil, Errorf(CodeInvalidParams, "an element of :properties is not a name without blanks and colons with a value on one line")
		}
		switch name = strings.ToUpper(name); name {
		case "ID", "INSTEAD", "END", "PROPERTIES":
			return nil, Errorf(CodeInvalidParams, "the property %s of a question is set by what keeps it", name)
		}
		properties = append(properties, Property{Name: name, Value: strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")})
	}
	return properties, nil
}

// SettingsGetResult says what would hold.
type SettingsGetResult struct {
	Settings TurnSettings `json:"settings,omitempty"`
}

// PresetListResult is the presets of config.org, in their order, and the faults of the
// file that are about them, each with its line.
type PresetListResult struct {
	Presets []PresetInfo `json:"presets,omitempty"`
	Faults  []string     `json:"faults,omitempty"`
	// Chosen is the session's, when one was asked about.
	Chosen string `json:"chosen,omitempty"`
	// Profiles are the names that PROFILE can have.
	Profiles []string `json:"profiles,omitempty"`
}

// PresetInfo is one preset: Settings are its own, Line is where it stands in config.org.
type PresetInfo struct {
	Name     string       `json:"name"`
	Settings TurnSettings `json:"settings,omitempty"`
	Line     int          `json:"line,omitempty"`
}

// PresetListParams asks for the presets. Session: for which one the answer says what is
// chosen.
type PresetListParams struct {
	Session string `json:"session,omitempty"`
}

// SessionPresetParams chooses the preset that holds in a session; none: none. As an
// answer and as a notification it says what was chosen.
type SessionPresetParams struct {
	Session string `json:"session"`
	Preset  string `json:"preset,omitempty"`
}
