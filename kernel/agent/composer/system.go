package composer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// catalogBytes is what the list of skills may take of a prompt. The tool list_skills has
// the rest.
const catalogBytes = 16 << 10

// promptShare is the part of a model's window that the system prompt may take. What is not
// required is cut to it.
const promptShare = 4

// systemKey is all that differs from one system prompt of a turn to another.
type systemKey struct {
	extra    string
	mode     prompt.Mode
	noStream bool
	budget   int
}

// system is a system prompt with the person's files in it.
type system struct {
	prompt.Prompt
	files []prompt.File
}

// system is what the model is told before the conversation. It is made of what was so when
// the turn first asked, so that every request of the turn begins with the same bytes, and
// requests of later turns do too, while nothing changes.
func (t *Turn) system(ctx context.Context, ask skill.Ask, purpose string) (system, error) {
	if t.program.System != nil {
		text, found, err := t.program.System(ctx, purpose)
		if found || err != nil {
			return system{Prompt: prompt.Prompt{Text: text}}, err
		}
	}
	key := systemKey{extra: ask.System, mode: t.mode(ask), noStream: ask.NoStream, budget: t.window.Room() / promptShare}
	if known, ok := t.systems[key]; ok {
		return known, nil
	}
	facts := t.facts()
	facts.Mode, facts.Extra, facts.Wishes, facts.Budget = key.mode, ask.System, t.wishes(ask, facts.Wishes), key.budget
	if t.offers(ask) {
		if t.program.Forms != nil {
			facts.Formats = slices.Concat(facts.Formats, t.program.Forms(ctx, facts.Tools))
		}
	} else {
		facts.Tools, facts.Skills, facts.MoreSkills = nil, "", 0
	}
	made := system{t.composer.prompts.compose(t.composer.Library(), facts), slices.Concat(facts.Files, facts.Days)}
	t.systems[key] = made
	return made, nil
}

// offers reports whether the reply of an ask may be any action. Then the model is told of
// the forms of actions, of tools and of skills.
func (t *Turn) offers(ask skill.Ask) bool {
	return t.Record.Question.Message() && !ask.NoStream && (t.program.Bound || t.mode(ask) == prompt.Full)
}

// mode is how much an ask is told: all that the program says where the reply becomes the answer
// to a message, and what a reply needs to be of use where a skill has work done with it.
func (t *Turn) mode(ask skill.Ask) prompt.Mode {
	switch {
	case t.program.Only != "":
		return t.program.Only
	case ask.Prompt != "":
		return prompt.Mode(ask.Prompt)
	case ask.NoStream || !t.Record.Question.Message():
		return prompt.Minimal
	}
	return cmp.Or(t.program.Mode, prompt.Full)
}

// grammar holds the reply to the forms that the model is told of, where it can be held to
// anything; "" elsewhere.
func (t *Turn) grammar(ctx context.Context, ask skill.Ask) string {
	if t.program.Grammar == nil || !t.offers(ask) {
		return ""
	}
	return t.program.Grammar(ctx, t.facts().Tools)
}

// purpose tells those asks of a turn apart that have different system prompts: by the skill's
// part, by how much the kernel says, by the model, and by the kernel itself.
func (t *Turn) purpose(ask skill.Ask) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %q %q %q", t.Skill, ask.System, ask.NoStream, t.mode(ask), t.Model(), t.composer.Runtime))
	return hex.EncodeToString(hash[:8])
}

// wishes are what the person has the model told in this place. They go only with the request
// whose reply becomes the answer: a skill that asks silently, to sort or to summarize say, asks
// in its own words. style is how to answer by the profile.
func (t *Turn) wishes(ask skill.Ask, style string) string {
	if ask.NoStream {
		return ""
	}
	return strings.TrimSpace(style + "\n\n" + t.Record.Settings.Value(protocol.SettingSystem))
}

// factsOf are what the prompts of a turn are made of, but for what the asking skill says.
func (c *Composer) factsOf(ctx context.Context, turn journal.Turn) prompt.Facts {
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
	where := Conversation(turn)
	disclosed := func(files []memory.File) (all []prompt.File) {
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
	facts.Files, facts.Days = disclosed(persona.Files), disclosed(persona.Days)
	if file := persona.File("USER"); facts.Name == "" && where.Alone && persona.File("IDENTITY").Text+file.Text == "" && file.Path != "" {
		facts.Unwritten = shown(filepath.Dir(file.Path))
	}
}

// rolesForAll are the files that are about the agent. Those about its user are for
// conversations in which nobody else is.
var rolesForAll = []string{"IDENTITY", "SOUL", "TOOLS", "HEARTBEAT"}

// Conversation is where a turn takes place. The person is alone with the agent in Emacs and at
// the command line, unless the message says that others are there; of any other channel that is
// not known, so they are not. A conversation is known by its id on the channel, which names do
// not change.
func Conversation(record journal.Turn) tool.Conversation {
	alone := false
	if record.Question.Route.Local() {
		group := record.Question.Payload.Get(protocol.PayloadGroup)
		alone = group == nil || group == false
	}
	return tool.Conversation{
		Session: record.Session, Turn: record.ID, Event: record.Event, Alone: alone,
		Name: cmp.Or(record.Question.Route.Chat, record.Session),
	}
}
