package agent

import (
	"context"
	"strconv"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
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

// pickSet takes the skill that is set for the turn, whatever its trigger says. A prompt
// skill of that name leaves r.skill as it is: the skill that answers is given its text.
func (r *run) pickSet(ctx context.Context, live *skill.Set, wanted string) error {
	k := live.Named(wanted)
	if k == nil && r.agent.config.Prompts != nil && r.agent.config.Prompts.Current().Command(wanted) != nil {
		return nil
	}
	if k == nil {
		return failf("%s sets the skill %s, which is not live any more; \"org-agent skill list\" says why",
			settingOf(r.turn.Record.Settings, protocol.SettingSkill).From, wanted)
	}
	r.skill = k
	r.describe("")
	r.recordChoice(ctx, live, nil)
	return r.useAsked(ctx)
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

// set gives a request what holds for the turn.
func (r *run) set(request *llm.Request) {
	settings := r.turn.Record.Settings
	if degrees, err := strconv.ParseFloat(settings.Value(protocol.SettingTemperature), 64); err == nil {
		request.Temperature = &degrees
	}
	if tokens, err := strconv.Atoi(settings.Value(protocol.SettingMaxTokens)); err == nil {
		request.MaxTokens = tokens
	}
}

// wishes are what the person has the model told in this place. They go only with the request
// whose reply becomes the answer: a skill that asks silently, to sort or to summarize say, asks
// in its own words. style is how to answer by the profile.
func (r *run) wishes(ask skill.Ask, style string) string {
	if ask.NoStream {
		return ""
	}
	return strings.TrimSpace(style + "\n\n" + r.turn.Record.Settings.Value(protocol.SettingSystem))
}

// branch finds the turns that the model may be shown where HISTORY says that they are not
// those before this one in the conversation, but only those that its question stands below,
// or none; nil where it does not say so. How much of them is shown is not decided here.
func (r *run) branch() func(context.Context) ([]*journal.Exchange, error) {
	switch record := r.turn.Record; record.Settings.Value(protocol.SettingHistory) {
	case protocol.HistoryNone:
		return func(context.Context) ([]*journal.Exchange, error) { return nil, nil }
	case protocol.HistoryBranch:
		return func(ctx context.Context) ([]*journal.Exchange, error) {
			return r.agent.config.Journal.Branch(ctx, record.Session, record.Parent)
		}
	}
	return nil
}
