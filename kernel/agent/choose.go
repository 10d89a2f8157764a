package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
	"org-agent/kernel/skill"
)

// choose returns the skill that answers a turn: that of the program, that of the settings, or the best
// one whose trigger is true. faults are the errors of triggers.
func (a *Agent) choose(ctx context.Context, p *plan, event sexp.List) (k *skill.Skill, faults []error, err error) {
	if err := p.settings.checkProfile(); err != nil {
		return nil, nil, err
	}
	live, question := a.config.Sources.Skills.Current(), p.record.Question
	if k, err = p.program.skill(live); k == nil && err == nil {
		k, err = a.skillFromSettings(live, p.settings.Skill)
	}
	if k != nil || err != nil {
		return k, nil, err
	}
	k, faults = live.Best(ctx, event)
	for _, err := range faults {
		p.log.Warn("trigger failed", "err", err)
	}
	switch {
	case k != nil:
		return k, faults, nil
	case question.Command != "":
		return nil, nil, fmt.Errorf("no live skill has the command /%s%s", question.Command, a.nearCommand(question.Command))
	}
	return nil, nil, fmt.Errorf("no skill answers a %s; \"org-agent skill list\" shows what is live", question.Sensor)
}

// nearCommand returns the end of an error text, which suggests a similar command.
func (a *Agent) nearCommand(command string) string {
	if near := a.config.Sources.Skills.Current().NearCommand(command); near != "" {
		return "; did you mean /" + near + "?"
	}
	return "; \"org-agent skill list\" shows what is live"
}

// turnSettings are the settings of a turn. They are resolved once, at the beginning of the turn, from
// those that were decided and checked when the message came.
type turnSettings struct {
	settings.Turn
	// requestedSkill is the name of the prompt skill that the question requests, with /NAME or by a
	// setting; "" for none.
	requestedSkill string
	// persona returns the content of the home's files with the turn's profile. It reads the files at
	// its first call only.
	persona func() (memory.Persona, error)
}

// settingsOf resolves the settings of a turn.
func (a *Agent) settingsOf(turn journal.Turn) turnSettings {
	set := turnSettings{Turn: settings.Of(turn)}
	set.requestedSkill = a.requestedSkill(turn.Question, set.Skill.Value)
	if set.requestedSkill != "" {
		set.Budget.Rounds++ // the requested skill is a round more than the limit
	}
	set.persona = sync.OnceValues(func() (memory.Persona, error) {
		if a.config.Persona == nil {
			return memory.Persona{}, nil
		}
		return a.config.Persona(set.Profile.Value)
	})
	return set
}

// requestedSkill returns the name of the prompt skill that the question requests. set is the skill of
// the settings: if a note has this name, the note answers and no prompt skill is requested.
func (a *Agent) requestedSkill(question protocol.Event, set string) string {
	if name := question.Payload.Text(protocol.PayloadSkill); name != "" {
		return name
	}
	if set == "" || a.config.Sources.Skills.Current().Named(set) != nil {
		return ""
	}
	return set
}

// skillFromSettings returns the skill that the settings choose, whatever its trigger says; nil if they
// choose none. It returns nil for a prompt skill too: the skill that answers gets its text.
func (a *Agent) skillFromSettings(live *skill.Set, set protocol.TurnSetting) (*skill.Skill, error) {
	if set.Value == "" {
		return nil, nil
	}
	k := live.Named(set.Value)
	if k == nil && (a.config.Sources.Prompts == nil || a.config.Sources.Prompts.Current().Command(set.Value) == nil) {
		return nil, fmt.Errorf("%s sets the skill %s, which is not live any more; \"org-agent skill list\" says why", set.From, set.Value)
	}
	return k, nil
}

// checkProfile returns an error if the profile of the turn no longer exists. No other profile replaces
// it.
func (s turnSettings) checkProfile() error {
	if s.Profile.Value == "" {
		return nil
	}
	if _, err := s.persona(); err != nil {
		return fmt.Errorf("%s sets the profile %s: %v", s.Profile.From, s.Profile.Value, err)
	}
	return nil
}

// requestedSkillStep returns the step that shows the model the requested prompt skill, as if the model
// had called the tool. The person requested it, so there is neither a proposal nor a verdict. It
// returns nil if no prompt skill is requested.
func (a *Agent) requestedSkillStep(p *plan) (*gate.Step, error) {
	name, prompts := p.settings.requestedSkill, a.config.Sources.Prompts
	if name == "" || prompts == nil {
		return nil, nil
	}
	k := prompts.Current().Command(name)
	if k == nil {
		return nil, fmt.Errorf("there is no skill %s any more; \"org-agent skill list\" says why", name)
	}
	text, err := k.Read("", "")
	if err != nil {
		return nil, fmt.Errorf("the skill %s cannot be used: %v", name, err)
	}
	proposed := p.kinds.Specs().ProposeCall(action.Call{Tool: "use_skill", Args: sexp.List{plist.Keyword("name"), plist.String(name)}})
	return &gate.Step{Action: proposed.Action(), Verdict: gate.Performed, Text: text}, nil
}

// choice is the data of a row of kind choice: the skill that answers the turn, and the other skills
// that could have answered.
type choice struct {
	Skill     string        `json:"skill"`
	Hash      string        `json:"hash"`
	Version   string        `json:"version,omitempty"`
	Priority  int           `json:"priority"`
	File      string        `json:"file"`
	Line      int           `json:"line,omitempty"`
	Shipped   bool          `json:"shipped,omitempty"`
	Command   string        `json:"command,omitempty"` // of the message, which the skill has
	Set       string        `json:"set,omitempty"`     // where it is set; then no trigger was run
	Rivals    []skill.Rival `json:"rivals,omitempty"`
	Unchecked int           `json:"unasked,omitempty"` // skills whose triggers did not run for lack of time
	Faults    []string      `json:"faults,omitempty"`  // errors of triggers
}

// choice returns the choice row of the turn's skill.
func (r *run) choice(ctx context.Context, faults []error) choice {
	k, live := r.skill, r.agent.config.Sources.Skills.Current()
	made := choice{
		Skill: k.Name, Hash: k.Hash, Version: k.Version, Priority: k.Priority, File: k.File, Line: k.Line(),
		Shipped: k.Shipped, Command: r.turn.Record.Question.Command,
	}
	if set := r.plan.settings.Skill; live.Named(set.Value) == k && set.Value != "" {
		made.Set = set.From
	} else {
		made.Rivals, made.Unchecked = live.Rivals(ctx, r.steps.Event(), k)
	}
	for _, err := range faults {
		made.Faults = append(made.Faults, err.Error())
	}
	return made
}
