package service

import (
	"cmp"
	"context"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// promptCommands is how many commands of prompt skills are listed for clients. All of them can be
// called.
const promptCommands = 1000

// Skills lists the skills and the states of their notes, and checks, tests and evaluates notes.
type Skills struct {
	Notes   *skill.Registry
	Prompts *skillmd.Registry
	Grants  *skill.Grants
	// Recorded returns a turn of the journal, for tests that replay it.
	Recorded func(ctx context.Context, turn string) (skill.Recording, error)
	// Specs returns the kernel's kinds of actions.
	Specs func() action.Specs
	// Tools returns the names of the kernel's tools, and CheckEvent why nobody would take an event of a
	// note.
	Tools      func() []string
	CheckEvent func(event sexp.List) error
	// Persona returns a value of the agent's identity that notes read, by name.
	Persona func(name string) string
}

// Methods returns the methods of this service.
func (s Skills) Methods() []Method {
	return []Method{
		{protocol.MethodSkillList, For(func(context.Context, protocol.Empty) (protocol.SkillListResult, error) {
			return s.List(s.Notes.Statuses()), nil
		})},
		{protocol.MethodSkillReload, For(s.reload)},
		{protocol.MethodSkillCheck, For(s.check)},
		{protocol.MethodSkillTest, For(s.test)},
		{protocol.MethodSkillGrant, For(s.grant)},
		{protocol.MethodSkillEvaluate, For(s.evaluate)},
		{protocol.MethodSkillSymbols, For(s.symbols)},
	}
}

// About describes what there is, for people who ask the built-in guide.
func (s Skills) About(tools *tool.Registry) (about builtin.About) {
	for _, k := range s.Notes.Current().Skills() {
		about.Skills = append(about.Skills, builtin.Item{Name: k.Name, Does: cmp.Or(k.Description, k.Title)})
	}
	for _, k := range s.Prompts.Current().Offered() {
		about.Texts = append(about.Texts, builtin.Item{Name: k.Name, Does: k.Matter.Description})
	}
	for _, t := range tools.Offered() {
		about.Tools = append(about.Tools, builtin.Item{Name: t.Name(), Does: t.Does()})
	}
	return about
}

// Has reports whether a live skill of either form has the name.
func (s Skills) Has(name string) bool {
	return s.Notes.Current().Named(name) != nil || s.Prompts.Current().Command(name) != nil
}

// Names returns the names of the live skills of both forms.
func (s Skills) Names() (names []string) {
	for _, k := range s.Notes.Current().Skills() {
		names = append(names, k.Name)
	}
	for _, k := range s.Prompts.Current().Commands() {
		names = append(names, k.Name)
	}
	return names
}

func (s Skills) reload(ctx context.Context, _ protocol.Empty) (protocol.SkillListResult, error) {
	statuses := s.Notes.Load(ctx)
	s.Prompts.Load(ctx)
	return s.List(statuses), nil
}

func (Skills) symbols(ctx context.Context, _ protocol.Empty) (protocol.SkillSymbolsResult, error) {
	var result protocol.SkillSymbolsResult
	entries, err := skill.Entries(ctx)
	for _, e := range entries {
		result.Symbols = append(result.Symbols, protocol.SkillSymbol{
			Name: e.Name, Kind: protocol.Keyword(strings.ReplaceAll(string(e.Kind), " ", "-")), List: e.LambdaList, Doc: e.Doc,
		})
	}
	return result, err
}

func skillDiagnostics(all []skill.Diagnostic) (diagnostics []protocol.SkillDiagnostic) {
	for _, d := range all {
		diagnostics = append(diagnostics, protocol.SkillDiagnostic(d))
	}
	return diagnostics
}

func skillActions(all []skill.ActionStatus) (actions []protocol.SkillAction) {
	for _, a := range all {
		actions = append(actions, protocol.SkillAction(a))
	}
	return actions
}

func skillTools(all []skill.ToolStatus) (tools []protocol.SkillTool) {
	for _, t := range all {
		tools = append(tools, protocol.SkillTool(t))
	}
	return tools
}

func skillHooks(all []*skill.Hook) (hooks []protocol.SkillHook) {
	for _, h := range all {
		hooks = append(hooks, protocol.SkillHook{Name: h.Name, On: h.On(), Line: h.Line})
	}
	return hooks
}

// List returns all skills and commands, with the states of the notes.
func (s Skills) List(statuses []skill.Status) protocol.SkillListResult {
	result := protocol.SkillListResult{Diagnostics: skillDiagnostics(s.Grants.Diagnostics())}
	for _, c := range s.Notes.Current().Commands() {
		result.Commands = append(result.Commands, protocol.SkillCommand{
			Name: c.Name, Description: c.Description, Skill: c.Skill, Wants: c.Wants})
	}
	for i, k := range s.Prompts.Current().Commands() {
		if i == promptCommands {
			break
		}
		if _, taken := s.Notes.Current().Command(k.Name); !taken {
			result.Commands = append(result.Commands, protocol.SkillCommand{Name: k.Name, Description: k.Summary(), Skill: k.Name})
		}
	}
	for _, note := range statuses {
		result.Skills = append(result.Skills, protocol.SkillStatus{
			File: note.File, Title: note.Title, Description: note.Description, Skill: note.Skill, State: protocol.Keyword(note.State),
			Shipped: note.Shipped, LastGood: note.LastGood, Hash: note.Hash, Version: note.Version, Priority: note.Priority,
			Tests: note.Tests, Capabilities: note.Capabilities, Granted: note.Granted, Since: note.Since, Withheld: note.Withheld,
			Actions: skillActions(note.Actions), Tools: skillTools(note.Tools), Hooks: skillHooks(note.Hooks), Diagnostics: skillDiagnostics(note.Diagnostics),
		})
	}
	prompts, left := s.prompts()
	result.Skills, result.Left = append(result.Skills, prompts...), left
	return result
}

// promptListBytes is the maximum size of the prompt skills in a message. A frame is limited, and
// people can list thousands of skills in other ways.
const promptListBytes = protocol.FrameLimit / 4

// prompts converts the prompt skills for the wire. left is how many are omitted.
func (s Skills) prompts() (list []protocol.SkillStatus, left int) {
	bytes := 0
	all := s.Prompts.Statuses()
	for i, p := range all {
		const keys = 200 // the approximate size of the keys and the punctuation
		bytes += keys + len(p.File) + len(p.Skill) + len(p.Description)
		for _, reason := range p.Reasons {
			bytes += len(reason)
		}
		for _, fault := range p.Diagnostics {
			bytes += keys + len(fault.File) + len(fault.Message)
		}
		if bytes > promptListBytes {
			return list, len(all) - i
		}
		list = append(list, protocol.SkillStatus{
			Kind: "prompt", File: p.File, Skill: p.Skill, Description: p.Description, State: protocol.Keyword(p.State), Reasons: p.Reasons,
			Shipped: p.Shipped, Version: p.Version, OnlyUser: p.OnlyUser, Diagnostics: skillDiagnostics(p.Diagnostics),
		})
	}
	return list, 0
}
