package agent

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

// catalogBytes is what the list of skills may take of a prompt. The tool list_skills has
// the rest.
const catalogBytes = 16 << 10

// system is what the model is told before the conversation. It is made of what was so when
// the turn first asked, so that every request of the turn begins with the same bytes, and
// requests of later turns do too, while nothing changes.
func (r *run) system(ctx context.Context, ask skill.Ask) prompt.Prompt {
	of := systemOf{extra: ask.System, mode: r.modeOf(ask), noStream: ask.NoStream, budget: r.window.Room() / promptShare}
	if known, ok := r.systems[of]; ok && r.looked == nil {
		return known
	}
	if r.systems == nil {
		r.systems = map[systemOf]prompt.Prompt{}
	}
	r.systems[of] = r.composeSystem(ctx, ask, of.budget)
	return r.systems[of]
}

// systemOf is all that differs from one system prompt of a turn to another.
type systemOf struct {
	extra    string
	mode     prompt.Mode
	noStream bool
	budget   int
}

// composeSystem is system for what was not asked for before.
func (r *run) composeSystem(ctx context.Context, ask skill.Ask, budget int) prompt.Prompt {
	facts := r.facts()
	facts.Mode, facts.Extra, facts.Wishes = r.modeOf(ask), ask.System, r.wishes(ask, facts.Wishes)
	facts.Budget = budget
	if r.offers(ask) {
		for _, form := range r.formats(ctx, len(facts.Tools) > 0) {
			facts.Formats = append(facts.Formats, "- "+form.String())
		}
	} else {
		facts.Tools, facts.Skills, facts.MoreSkills = nil, "", 0
	}
	if r.looked == nil {
		return r.agent.composed.of(r.agent.config.Library(), facts)
	}
	facts.Kind = cmp.Or(r.looked.kind, facts.Kind)
	composed := r.agent.composed.of(r.agent.config.Library(), facts)
	if !r.looked.taken {
		r.looked.system, r.looked.sources = composed, slices.Concat(facts.Files, facts.Days)
	}
	return composed
}

// promptShare is the part of a model's window that the system prompt may take: what is not
// required is cut to it.
const promptShare = 4

// offers reports whether the reply of an ask may be any action: then the model is told of
// the forms of actions, of tools and of skills.
func (r *run) offers(ask skill.Ask) bool {
	return r.turn.Record.Question.Message() && !ask.NoStream && (r.handed != nil || r.modeOf(ask) == prompt.Full)
}

// modeOf is how much an ask is told: all of it where the reply becomes the answer to a
// message, and what a reply needs to be of use where a skill has work done with it.
func (r *run) modeOf(ask skill.Ask) prompt.Mode {
	switch {
	case r.looked != nil && r.looked.mode != "":
		return r.looked.mode
	case ask.Prompt != "":
		return prompt.Mode(ask.Prompt)
	case ask.NoStream || r.handed != nil || !r.turn.Record.Question.Message():
		return prompt.Minimal
	}
	return prompt.Full
}

// formats are the forms that a reply may have: those that the kernel and the skill let
// through in this turn, and that something performs. The skill is asked as it is about a
// preview, with the forms themselves.
func (r *run) formats(ctx context.Context, tools bool) []action.Form {
	if r.forms != nil {
		return r.forms
	}
	var forms []action.Form
	var actions []sexp.List
	for _, form := range r.agent.config.Kinds.Specs().Forms(r.turn.Record.Question.Route) {
		if form.Target == "tool" && !tools || r.beyondForm(form) || r.agent.config.Kinds.Available(form.Key) != nil {
			continue
		}
		proposed, err := r.agent.proposedOf(form)
		if err != nil {
			r.log.Error("a form is no action", "form", form.Text, "err", err)
			continue
		}
		forms, actions = append(forms, form), append(actions, proposed.List())
	}
	for i, passes := range r.skill.Passes(ctx, actions, r.event()) {
		if passes {
			r.forms = append(r.forms, forms[i])
		}
	}
	return r.forms
}

// formsKept is how many bytes of forms are kept as actions.
const formsKept = 256 << 10

// proposedOf is the form as a proposal.
func (a *Agent) proposedOf(form action.Form) (action.Proposed, error) {
	if proposed, ok := a.forms.Get(form.Text); ok {
		return proposed, nil
	}
	proposed, err := action.Read(form.Text)
	if err == nil {
		const atoms = 16 // about how much larger the atoms are than their text
		a.forms.Put(form.Text, proposed, atoms*len(form.Text))
	}
	return proposed, err
}

// grammar holds the reply to the forms that the model is told of, where it can be held to
// anything; "" elsewhere.
func (r *run) grammar(ctx context.Context, ask skill.Ask) string {
	takes := r.agent.config.Grammar
	if takes == nil || !r.offers(ask) || !takes(r.turn.Record.Wanted) {
		return ""
	}
	var tools []string
	for _, t := range r.facts().Tools {
		tools = append(tools, t.Name)
	}
	forms := r.formats(ctx, len(tools) > 0)
	if len(forms) == 0 {
		return ""
	}
	return action.Grammar(forms, tools)
}

// facts are what a prompt of a turn is made of, but for what the asking skill says.
func (a *Agent) facts(ctx context.Context, turn journal.Turn) prompt.Facts {
	c := a.config
	facts := prompt.Facts{Kind: prompt.Chat, Augments: c.Skills.Current().Augments(ctx), Runtime: slices.Clone(c.Runtime), WithoutSafety: c.WithoutSafety}
	if c.Sandbox != nil {
		facts.Runtime = append(facts.Runtime, [2]string{"sandbox", c.Sandbox()})
	}
	if c.Emacs != nil {
		facts.Runtime = append(facts.Runtime, [2]string{"emacs", c.Emacs()})
	}
	facts.Runtime = append(facts.Runtime, [2]string{"model", cmp.Or(turn.Wanted, c.Model)})
	if c.Persona != nil {
		persona, err := c.Persona(turn.Settings.Value(protocol.SettingProfile))
		if err != nil { // it went since the turn began: what the home says is told
			c.Logger.Warn("the profile cannot be had", "err", err)
		}
		addPersona(&facts, persona, c.Shown, turn)
	}
	facts.Name = cmp.Or(facts.Name, c.Skills.Current().Identity().Name())
	for _, t := range c.Tools.Offered() {
		facts.Tools = append(facts.Tools, prompt.Tool{Name: t.Name(), Line: t.Line()})
	}
	if c.Prompts != nil {
		facts.Skills, facts.MoreSkills = skillmd.Catalog(c.Prompts.Current().Offered(), catalogBytes)
	}
	return facts
}

// addPersona adds what the person's files say to a turn. shown is how a path is written for
// people.
func addPersona(facts *prompt.Facts, persona memory.Persona, shown func(string) string, turn journal.Turn) {
	facts.Name, facts.Wishes = prompt.Name(persona.File("IDENTITY").Field("name")), persona.Style
	where := conversationOf(turn)
	told := func(files []memory.File) (all []prompt.File) {
		for _, f := range files {
			text := f.Within(where.Name, where.Alone || slices.Contains(rolesForAll, f.Role))
			disclosure := f.Disclosure()
			if text == "" || disclosure == memory.LeftOut { // it says nothing, or nothing here
				continue
			}
			if disclosure == memory.Listed {
				text = ""
			}
			all = append(all, prompt.File{Role: f.Role, Path: shown(f.Path), Size: f.Size, Text: text})
		}
		return all
	}
	facts.Files, facts.Days = told(persona.Files), told(persona.Days)
	if file := persona.File("USER"); facts.Name == "" && where.Alone && persona.File("IDENTITY").Text+file.Text == "" && file.Path != "" {
		facts.Unwritten = shown(filepath.Dir(file.Path))
	}
}

// rolesForAll are the files that are about the agent. Those about its user are for
// conversations in which nobody else is.
var rolesForAll = []string{"IDENTITY", "SOUL", "TOOLS", "HEARTBEAT"}
