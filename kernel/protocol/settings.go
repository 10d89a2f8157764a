package protocol

import (
	"regexp"
	"strings"
)

// The names of the settings of a turn. Headings and presets set them as properties, and
// clients set them too.
const (
	SettingModel       = "MODEL"       // which model answers, as in [ModelInfo]
	SettingSystem      = "SYSTEM"      // instructions for the model beside the skill's prompt
	SettingSkill       = "SKILL"       // which skill answers
	SettingProfile     = "PROFILE"     // the name of a file of the home's profiles
	SettingPreset      = "PRESET"      // names of presets; a later one overrides an earlier one
	SettingHistory     = "HISTORY"     // one of the History constants
	SettingTemperature = "TEMPERATURE" // 0 to 2
	SettingMaxTokens   = "MAX_TOKENS"  // the longest reply

	// The budget of the whole turn.
	SettingBudgetRounds = "BUDGET_ROUNDS"
	SettingBudgetTokens = "BUDGET_TOKENS"
	SettingBudgetTime   = "BUDGET_TIME"
	SettingBudgetCost   = "BUDGET_COST"
)

// SettingNames are all names, in the order in which people see them.
var SettingNames = []string{
	SettingModel, SettingSkill, SettingPreset, SettingProfile, SettingHistory, SettingTemperature, SettingMaxTokens,
	SettingBudgetRounds, SettingBudgetTokens, SettingBudgetTime, SettingBudgetCost, SettingSystem,
}

// How much of the conversation a model sees.
const (
	HistoryAll    = "all"    // all earlier turns
	HistoryBranch = "branch" // the earlier turns whose headings are above the question
	HistoryNone   = "none"   // nothing
)

// Limits of the settings of a question.
const (
	PropertiesLimit = 64      // properties of its heading
	aboveLimit      = 1 << 20 // bytes of [Event.Above]
)

// TurnSetting is a setting of a turn. From names its origin for people.
type TurnSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from,omitempty"`
}

// TurnSettings are the settings of a turn, each name once.
type TurnSettings []TurnSetting

// Value returns the value of the setting of that name, "" if it is not set.
func (s TurnSettings) Value(name string) string {
	for _, setting := range s {
		if setting.Name == name {
			return setting.Value
		}
	}
	return ""
}

// Model returns the model that answers, "" if it is not set.
func (s TurnSettings) Model() string { return s.Value(SettingModel) }

// Property is a property of a question's heading, as the person wrote it. On the wire it
// is a list of two strings.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// propertyName matches the name of a property, without its colons.
var propertyName = regexp.MustCompile(`^[^\s:]+$`)

// parseProperties reads :properties, a list of lists of two strings. A client may not set
// the properties that identify a question.
func parseProperties(value any) ([]Property, error) {
	list, ok := value.([]any)
	if value != nil && !ok {
		return nil, Errorf(CodeInvalidParams, ":properties is a list of lists of two strings")
	}
	if len(list) > PropertiesLimit {
		return nil, Errorf(CodeTooLarge, "the question has %d properties, more than the %d allowed", len(list), PropertiesLimit)
	}
	var properties []Property
	for _, element := range list {
		pair, ok := element.([]any)
		if !ok || len(pair) != 2 {
			return nil, Errorf(CodeInvalidParams, "an element of :properties is not a list of two strings")
		}
		name, isText := pair[0].(string)
		text, also := pair[1].(string)
		if pair[1] == nil { // the empty string of some codecs
			also = true
		}
		if !isText || !also || !propertyName.MatchString(name) || len(name) > commandLimit || strings.ContainsAny(text, "\r\n\x00") {
			return nil, Errorf(CodeInvalidParams, "an element of :properties is not a name without blanks and colons with a value on one line")
		}
		switch name = strings.ToUpper(name); name {
		case "ID", "INSTEAD", "END", "PROPERTIES":
			return nil, Errorf(CodeInvalidParams, "the property %s of a question is set by org-agent", name)
		}
		properties = append(properties, Property{Name: name, Value: strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")})
	}
	return properties, nil
}

// SettingsGetResult has the settings that a turn would have.
type SettingsGetResult struct {
	Settings TurnSettings `json:"settings,omitempty"`
}

// PresetListResult has the presets of config.org, in their order, and the faults of
// presets, each with its line.
type PresetListResult struct {
	Presets []PresetInfo `json:"presets,omitempty"`
	Faults  []string     `json:"faults,omitempty"`
	// Chosen is the preset of the session of the request.
	Chosen string `json:"chosen,omitempty"`
	// Profiles are the possible values of PROFILE.
	Profiles []string `json:"profiles,omitempty"`
}

// PresetInfo is one preset. Line is its line in config.org.
type PresetInfo struct {
	Name     string       `json:"name"`
	Settings TurnSettings `json:"settings,omitempty"`
	Line     int          `json:"line,omitempty"`
}

// PresetListParams asks for the presets. With Session the result has the preset that is
// chosen there.
type PresetListParams struct {
	Session string `json:"session,omitempty"`
}

// SessionPresetParams chooses the preset of a session, or with "" none. It is also the
// answer and the notification, and then has the chosen preset.
type SessionPresetParams struct {
	Session string `json:"session"`
	Preset  string `json:"preset,omitempty"`
}
