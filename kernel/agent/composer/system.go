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
	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// catalogBytes is the largest list of skills in a prompt. The tool list_skills lists the rest.
const catalogBytes = 16 << 10

// promptShare is the part of a model's window that the system prompt may take: one in so many. Sections
// that are not required are cut to fit.
const promptShare = 4

// systemKey has everything in which the system prompts of a turn differ.
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

// sections returns the prompt as values. The recorded prompt of an earlier attempt is one text.
func (s system) sections() []llm.Section {
	if len(s.Parts) == 0 && s.Text != "" {
		return llm.System(s.Text)
	}
	var sections []llm.Section
	for _, part := range s.Parts {
		if part.Text != "" {
			sections = append(sections, llm.Section{Name: part.Name, Text: part.Text, Stable: !part.Varies, Notation: llm.Notation(part.Notation)})
		}
	}
	return sections
}

// system returns the system prompt. It is made of the facts at the turn's first request, so that every
// request of the turn begins with the same bytes. Those of later turns do too, as long as the facts stay.
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
	facts.Mode, facts.Extra, facts.Wishes, facts.Budget = key.mode, ask.System, t.instructions(ask, facts.Wishes), key.budget
	if t.offersActions(ask) {
		if t.program.Forms != nil {
			facts.Formats = slices.Concat(facts.Formats, t.program.Forms(ctx, facts.Tools))
		}
		facts.Plain = t.program.Plain != nil && t.program.Plain(ctx, facts.Tools)
	} else {
		facts.Tools, facts.Skills, facts.MoreSkills = nil, "", 0
	}
	made := system{t.composer.prompts.compose(t.composer.Sources.Library(), facts), slices.Concat(facts.Files, facts.Days)}
	t.systems[key] = made
	return made, nil
}

// offersActions reports whether the reply to an ask may be any action. The system prompt then has the forms of
// actions, the tools and the skills.
func (t *Turn) offersActions(ask skill.Ask) bool {
	return t.Record.Question.Message() && !ask.NoStream && (t.program.Restricted || t.mode(ask) == prompt.Full)
}

// mode returns the length of the system prompt of an ask: that of the program if the reply becomes the
// answer to a message, and the minimal one for other asks of a skill.
func (t *Turn) mode(ask skill.Ask) prompt.Mode {
	switch {
	case t.program.ForcedMode != "":
		return t.program.ForcedMode
	case ask.Prompt != "":
		return prompt.Mode(ask.Prompt)
	case ask.NoStream || !t.Record.Question.Message():
		return prompt.Minimal
	}
	return cmp.Or(t.program.Mode, prompt.Full)
}

// grammar returns a grammar that constrains the reply to the forms of the system prompt; "" if the model
// takes none or the ask offers no actions.
func (t *Turn) grammar(ctx context.Context, ask skill.Ask) string {
	if t.program.Grammar == nil || !t.offersActions(ask) {
		return ""
	}
	return t.program.Grammar(ctx, t.toldTools(func(prompt.Tool) bool { return true }))
}

// purpose returns a name that is different for asks of a turn with different system prompts. It depends on
// the skill, its part of the prompt, the mode, the model and the kernel's runtime.
func (t *Turn) purpose(ask skill.Ask) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %q %q %q", t.Skill, ask.System, ask.NoStream, t.mode(ask), t.Model(), t.composer.Sources.Runtime))
	return hex.EncodeToString(hash[:8])
}

// instructions returns the person's own instructions for this place. Only the request whose reply becomes the
// answer has them: a skill that asks silently, such as to sort or to summarize, asks in its own words.
// style is the profile's way of answering.
func (t *Turn) instructions(ask skill.Ask, style string) string {
	if ask.NoStream {
		return ""
	}
	return strings.TrimSpace(style + "\n\n" + t.program.Settings.System)
}

// factsOf returns the facts that the prompts of a turn are made of, without those of an ask.
func (t *Turn) factsOf(ctx context.Context) prompt.Facts {
	c := t.composer
	facts := prompt.Facts{Kind: t.program.Kind, Augments: c.Sources.Skills.Current().Augments(ctx), Runtime: slices.Clone(c.Sources.Runtime), WithoutSafety: c.Sources.WithoutSafety}
	if c.Sources.Sandbox != nil {
		facts.Runtime = append(facts.Runtime, [2]string{"sandbox", c.Sources.Sandbox()})
	}
	if c.Sources.Emacs != nil {
		facts.Runtime = append(facts.Runtime, [2]string{"emacs", c.Sources.Emacs()})
	}
	facts.Runtime = append(facts.Runtime, [2]string{"model", t.Model()})
	if t.program.Persona != nil {
		persona, err := t.program.Persona()
		if err != nil { // then the persona has the home's files without the profile
			c.Sources.Logger.Warn("the files of the home cannot be had", "err", err)
		}
		addPersona(&facts, persona, c.Sources.DisplayPath, t.Record)
	}
	if route := t.Record.Question.Route; route.Kind == protocol.RouteChannel {
		facts.Chat = prompt.ChatPlace{Channel: string(route.Channel), Group: t.Record.Question.Payload.Get(protocol.PayloadGroup) == true}
	}
	facts.Name = cmp.Or(facts.Name, c.Sources.Skills.Current().Identity().Name())
	facts.Tools = t.choose(ctx, t.availableTools())
	if c.Sources.Prompts != nil {
		facts.Skills, facts.MoreSkills = skillmd.Catalog(c.Sources.Prompts.Current().Offered(), catalogBytes)
	}
	return facts
}

// tools returns what the model of the turn may call.
func (t *Turn) tools(ctx context.Context) []llm.Tool {
	if t.program.Functions == nil {
		return nil
	}
	return t.program.Functions(ctx, t.toldTools(func(p prompt.Tool) bool { return p.Line != "" }))
}

// toldTools returns the tools that the system prompt names, as far as which says yes to them.
func (t *Turn) toldTools(which func(prompt.Tool) bool) (tools []tool.Tool) {
	told := t.facts().Tools
	for _, one := range t.availableTools() {
		if slices.ContainsFunc(told, func(p prompt.Tool) bool { return p.Name == one.Name() && which(p) }) {
			tools = append(tools, one)
		}
	}
	return tools
}

// addPersona adds the content of the person's files to the facts of a turn. shown returns a path as it is
// written for people.
func addPersona(facts *prompt.Facts, persona memory.Persona, shown func(string) string, turn journal.Turn) {
	facts.Name, facts.Wishes = prompt.Name(persona.File("IDENTITY").Field("name")), persona.Style
	where := Conversation(turn)
	disclosed := func(files []memory.File) (all []prompt.File) {
		for _, f := range files {
			text := f.Within(where.Name, where.Alone || slices.Contains(rolesForAll, f.Role))
			disclosure := f.Disclosure()
			if text == "" || disclosure == memory.LeftOut {
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

// rolesForAll are the roles of files about the agent. Files about the person are only for conversations
// in which nobody else takes part.
var rolesForAll = []string{"IDENTITY", "SOUL", "TOOLS", "HEARTBEAT"}

// Conversation returns the conversation of a turn. The person is alone with the agent in Emacs and at the
// command line, unless the message says that it is a group, and in a private chat of a channel whose owner they are. In any
// other chat they are not, and neither are they where a program calls tools. The name of a conversation on a channel is its id there, which never changes.
func Conversation(record journal.Turn) tool.Conversation {
	alone := false
	if route := record.Question.Route; route.Local() || route.Kind == protocol.RouteChannel && record.Question.Payload.Get(protocol.PayloadOwner) == true {
		group := record.Question.Payload.Get(protocol.PayloadGroup)
		alone = group == nil || group == false
	}
	return tool.Conversation{
		Session: record.Session, Turn: record.ID, Event: record.Event, Alone: alone,
		Route: record.Question.Route,
		Name:  cmp.Or(record.Question.Route.Chat, record.Session), Program: record.Question.Route.Kind == protocol.RouteMCP,
	}
}
