package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// choose finds the skill that answers a turn. Faults are the errors of triggers that failed.
func (a *Agent) choose(ctx context.Context, record journal.Turn, p *program, event sexp.List) (k *skill.Skill, faults []error, err error) {
	if err := a.checkProfile(record.Settings); err != nil {
		return nil, nil, err
	}
	live, question := a.config.Skills.Current(), record.Question
	if k, err = p.skill(live); k == nil && err == nil {
		k, err = a.setSkill(live, record.Settings)
	}
	if k != nil || err != nil {
		return k, nil, err
	}
	k, faults = live.Best(ctx, event)
	for _, err := range faults {
		a.config.Logger.Warn("trigger failed", "session", record.Session, "turn", record.ID, "err", err)
	}
	switch {
	case k != nil:
		return k, faults, nil
	case question.Command != "":
		return nil, nil, failf("no live skill has the command /%s%s", question.Command, a.nearCommand(question.Command))
	}
	return nil, nil, failf("no skill answers a %s; \"org-agent skill list\" shows what is live", question.Sensor)
}

// nearCommand says which command was probably meant.
func (a *Agent) nearCommand(command string) string {
	if near := a.config.Skills.Current().NearCommand(command); near != "" {
		return "; did you mean /" + near + "?"
	}
	return "; \"org-agent skill list\" shows what is live"
}

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
func (a *Agent) setSkill(live *skill.Set, settings protocol.TurnSettings) (*skill.Skill, error) {
	wanted := settings.Value(protocol.SettingSkill)
	if wanted == "" {
		return nil, nil
	}
	k := live.Named(wanted)
	if k == nil && (a.config.Prompts == nil || a.config.Prompts.Current().Command(wanted) == nil) {
		return nil, failf("%s sets the skill %s, which is not live any more; \"org-agent skill list\" says why",
			settingOf(settings, protocol.SettingSkill).From, wanted)
	}
	return k, nil
}

// checkProfile fails where the profile of the turn cannot be had any more: nobody is to be
// answered as by another.
func (a *Agent) checkProfile(settings protocol.TurnSettings) error {
	set := settingOf(settings, protocol.SettingProfile)
	if set.Value == "" || a.config.Persona == nil {
		return nil
	}
	if _, err := a.config.Persona(set.Value); err != nil {
		return failf("%s sets the profile %s: %v", set.From, set.Value, err)
	}
	return nil
}

// askedSkill is the prompt skill that the question asks for, with /NAME or by what is set
// for it; "" if it does not. A note of the name that is set comes first: that one answers.
func (a *Agent) askedSkill(turn journal.Turn) string {
	if name := turn.Question.Payload.Text(protocol.PayloadSkill); name != "" {
		return name
	}
	name := turn.Settings.Value(protocol.SettingSkill)
	if name == "" || a.config.Skills.Current().Named(name) != nil {
		return ""
	}
	return name
}

// askedCall gives the model the skill that the person asked for, as if it had called for it: what
// a person asks for needs neither a proposal nor a verdict. It is nil where no skill was asked for.
func (a *Agent) askedCall(record journal.Turn) (*result, error) {
	name := a.askedSkill(record)
	if name == "" || a.config.Prompts == nil {
		return nil, nil
	}
	k := a.config.Prompts.Current().Command(name)
	if k == nil {
		return nil, failf("there is no skill %s any more; \"org-agent skill list\" says why", name)
	}
	text, err := k.Read("", "")
	if err != nil {
		return nil, failf("the skill %s cannot be used: %v", name, err)
	}
	proposed := action.Propose(sexp.List{
		plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target"), plist.Keyword("tool"),
		plist.Keyword("action"), plist.Keyword("call"), plist.Keyword("tool"), plist.String("use_skill"),
		plist.Keyword("args"), sexp.List{plist.Keyword("name"), plist.String(name)},
	})
	return &result{action: proposed.Action(), verdict: "performed", text: text}, nil
}

// choice is the data of a row of kind choice: the skill that answers the turn, and those
// that would have if it had not.
type choice struct {
	Skill    string        `json:"skill"`
	Hash     string        `json:"hash"`
	Version  string        `json:"version,omitempty"`
	Priority int           `json:"priority"`
	File     string        `json:"file"`
	Line     int           `json:"line,omitempty"`
	Shipped  bool          `json:"shipped,omitempty"`
	Command  string        `json:"command,omitempty"` // it has this one, which was given
	Set      string        `json:"set,omitempty"`     // by this, and no trigger was asked
	Rivals   []skill.Rival `json:"rivals,omitempty"`
	Unasked  int           `json:"unasked,omitempty"` // there was no time to ask so many others
	Faults   []string      `json:"faults,omitempty"`  // of triggers that failed
}

// recordChoice keeps why this skill answers.
func (r *run) recordChoice(ctx context.Context, live *skill.Set, faults []error) {
	k := r.skill
	made := choice{
		Skill: k.Name, Hash: k.Hash, Version: k.Version, Priority: k.Priority, File: k.File, Line: k.Line(),
		Shipped: k.Shipped, Command: r.turn.Record.Question.Command,
	}
	if set := settingOf(r.turn.Record.Settings, protocol.SettingSkill); live.Named(set.Value) == k && set.Value != "" {
		made.Set = set.From
	} else {
		made.Rivals, made.Unasked = live.Rivals(ctx, r.event(), k)
	}
	for _, err := range faults {
		made.Faults = append(made.Faults, err.Error())
	}
	r.record(ctx, journal.KindChoice, made)
}
