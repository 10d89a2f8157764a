package agent

import (
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// What a person set for a turn, by properties of headings or a preset, was decided and
// checked when the message came: see [protocol.TurnSettings]. Here it takes effect.

// settingOf is the setting of that name, an empty one where nothing is set.
func settingOf(settings protocol.TurnSettings, name string) protocol.TurnSetting {
	for _, s := range settings {
		if s.Name == name {
			return s
		}
	}
	return protocol.TurnSetting{}
}

// setSkill is the skill that is set for the turn, whatever its trigger says; nil where none is.
// A prompt skill of that name is none: the skill that answers is given its text.
func (r *run) setSkill(live *skill.Set) (*skill.Skill, error) {
	wanted := r.turn.Record.Settings.Value(protocol.SettingSkill)
	if wanted == "" {
		return nil, nil
	}
	k := live.Named(wanted)
	if k == nil && (r.agent.config.Prompts == nil || r.agent.config.Prompts.Current().Command(wanted) == nil) {
		return nil, failf("%s sets the skill %s, which is not live any more; \"org-agent skill list\" says why",
			settingOf(r.turn.Record.Settings, protocol.SettingSkill).From, wanted)
	}
	return k, nil
}

// checkProfile fails where the profile of the turn cannot be had any more: nobody is to be
// answered as by another.
func (r *run) checkProfile() error {
	set := settingOf(r.turn.Record.Settings, protocol.SettingProfile)
	if set.Value == "" || r.agent.config.Persona == nil {
		return nil
	}
	if _, err := r.agent.config.Persona(set.Value); err != nil {
		return failf("%s sets the profile %s: %v", set.From, set.Value, err)
	}
	return nil
}
