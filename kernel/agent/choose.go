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

// choose finds the skill that answers a turn: the program's, the one that is set, or the best whose
// trigger is true. Faults are the errors of triggers that failed.
func (a *Agent) choose(ctx context.Context, p *plan, event sexp.List) (k *skill.Skill, faults []error, err error) {
	if err := p.settings.checkProfile(); err != nil {
		return nil, nil, err
	}
	live, question := a.config.Sources.Skills.Current(), p.record.Question
	if k, err = p.program.skill(live); k == nil && err == nil {
		k, err = a.setSkill(live, p.settings.Skill)
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

// nearCommand ends an error: it names the command that was probably meant.
func (a *Agent) nearCommand(command string) string {
	if near := a.config.Sources.Skills.Current().NearCommand(command); near != "" {
		return "; did you mean /" + near + "?"
	}
	return "; \"org-agent skill list\" shows what is live"
}

// turnSettings is what holds for a turn. It is resolved once, when the turn begins, from what was
// decided and checked when the message came.
type turnSettings struct {
	settings.Turn
	// asked is the prompt skill that the question asks for, with /NAME or by what is set for it; ""
	// if it asks for none.
	asked string
	// persona is what the files of the home say with the turn's profile. They are read when it is
	// first called.
	persona func() (memory.Persona, error)
}

// settingsOf resolves what holds for a turn.
func (a *Agent) settingsOf(turn journal.Turn) turnSettings {
	set := turnSettings{Turn: settings.Of(turn)}
	set.asked = a.askedSkill(turn.Question, set.Skill.Value)
	if set.asked != "" {
		set.Budget.Rounds++ // what the person asked for by name is done beside what the turn may take
	}
	set.persona = sync.OnceValues(func() (memory.Persona, error) {
		if a.config.Persona == nil {
			return memory.Persona{}, nil
		}
		return a.config.Persona(set.Profile.Value)
	})
	return set
}

// askedSkill is the prompt skill that the question asks for. A note of the name that is set comes
// first: that one answers.
func (a *Agent) askedSkill(question protocol.Event, set string) string {
	if name := question.Payload.Text(protocol.PayloadSkill); name != "" {
		return name
	}
	if set == "" || a.config.Sources.Skills.Current().Named(set) != nil {
		return ""
	}
	return set
}

// setSkill is the skill that is set for the turn, whatever its trigger says; nil where none is.
// A prompt skill of that name is none: the skill that answers is given its text.
func (a *Agent) setSkill(live *skill.Set, set protocol.TurnSetting) (*skill.Skill, error) {
	if set.Value == "" {
		return nil, nil
	}
	k := live.Named(set.Value)
	if k == nil && (a.config.Sources.Prompts == nil || a.config.Sources.Prompts.Current().Command(set.Value) == nil) {
		return nil, fmt.Errorf("%s sets the skill %s, which is not live any more; \"org-agent skill list\" says why", set.From, set.Value)
	}
	return k, nil
}

// checkProfile fails if the profile of the turn is not there any more. No other profile answers in its
// place.
func (s turnSettings) checkProfile() error {
	if s.Profile.Value == "" {
		return nil
	}
	if _, err := s.persona(); err != nil {
		return fmt.Errorf("%s sets the profile %s: %v", s.Profile.From, s.Profile.Value, err)
	}
	return nil
}

// askedCall is the step that gives the model the prompt skill that the question asks for, as if the
// model had called for it. The person asked for it, so it needs neither a proposal nor a verdict. It is
// nil if the question asks for none.
func (a *Agent) askedCall(p *plan) (*gate.Step, error) {
	name, prompts := p.settings.asked, a.config.Sources.Prompts
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

// choice is the data of a row of kind choice: the skill that answers the turn, and those that would
// answer without it.
type choice struct {
	Skill    string        `json:"skill"`
	Hash     string        `json:"hash"`
	Version  string        `json:"version,omitempty"`
	Priority int           `json:"priority"`
	File     string        `json:"file"`
	Line     int           `json:"line,omitempty"`
	Shipped  bool          `json:"shipped,omitempty"`
	Command  string        `json:"command,omitempty"` // that was given, and that it has
	Set      string        `json:"set,omitempty"`     // who set it; then no trigger was run
	Rivals   []skill.Rival `json:"rivals,omitempty"`
	Unasked  int           `json:"unasked,omitempty"` // skills whose triggers there was no time to run
	Faults   []string      `json:"faults,omitempty"`  // of triggers that failed
}

// choice says why this skill answers.
func (r *run) choice(ctx context.Context, faults []error) choice {
	k, live := r.skill, r.agent.config.Sources.Skills.Current()
	made := choice{
		Skill: k.Name, Hash: k.Hash, Version: k.Version, Priority: k.Priority, File: k.File, Line: k.Line(),
		Shipped: k.Shipped, Command: r.turn.Record.Question.Command,
	}
	if set := r.plan.settings.Skill; live.Named(set.Value) == k && set.Value != "" {
		made.Set = set.From
	} else {
		made.Rivals, made.Unasked = live.Rivals(ctx, r.steps.Event(), k)
	}
	for _, err := range faults {
		made.Faults = append(made.Faults, err.Error())
	}
	return made
}
