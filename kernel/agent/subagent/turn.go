package subagent

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Turn is the turn of a subagent. It restricts what the subagent may do, and reports its progress.
type Turn struct {
	Row   journal.Subagent
	Kinds Kinds
	Pool  *Pool // gets the progress; may be nil
}

// Kinds has the properties of kinds of actions that restrict subagents.
type Kinds interface {
	// Ends reports whether the action ends the turn.
	Ends(a action.Action, where policy.Where) bool
	// Subagent returns the tools that a subagent needs for the action, and why no subagent may perform
	// it, "" if it may.
	Subagent(a action.Action) (needs []string, refused string)
}

// NamedSkill returns the skill of the turn that started the subagent. So an action that this skill
// refuses there is refused here too.
func (s Turn) NamedSkill(live *skill.Set) (*skill.Skill, error) {
	if k := live.Named(s.Row.Skill); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("the skill %s, which started this subagent, is not live any more; \"org-agent skill list\" says why", s.Row.Skill)
}

// withheldTools are the tools that no subagent has, because nobody answers its questions and it may
// start no subagents.
var withheldTools = [...]string{"start_subagent", "list_subagents", "ask_user"}

// has reports whether the subagent has the tool of that name.
func (s Turn) has(name string) bool {
	if slices.Contains(withheldTools[:], name) {
		return false
	}
	return s.Row.Tools == nil || slices.ContainsFunc(s.Row.Tools, func(t string) bool { return sameTool(t, name) })
}

// sameTool reports whether two spellings name the same tool.
func sameTool(a, b string) bool {
	fold := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, ":"))), "-", "_")
	}
	return fold(a) == fold(b)
}

// Refuses returns why the subagent may not perform an action, "" if it may. It may always write into
// its own conversation.
func (s Turn) Refuses(a action.Action, where policy.Where) string {
	if s.Kinds.Ends(a, where) {
		return ""
	}
	needs, refused := s.Kinds.Subagent(a)
	if refused != "" {
		return refused
	}
	for _, name := range needs {
		switch {
		case s.has(name):
		case slices.Contains(withheldTools[:], name):
			return fmt.Sprintf("a subagent has no %s: nobody answers its questions, and it starts no subagents", name)
		default:
			return fmt.Sprintf("the tool %s was not given to this subagent: it has %s", name, strings.Join(s.Row.Tools, ", "))
		}
	}
	return ""
}

// Facts changes the facts of a prompt to those of this subagent.
func (s Turn) Facts(facts *prompt.Facts) {
	facts.Delegation = prompt.Delegation{Requester: s.Row.Session, Subagent: s.Row.Conversation, Label: s.Row.Label, Task: s.Row.Task}
	facts.Tools = slices.DeleteFunc(facts.Tools, func(t prompt.Tool) bool { return !s.has(t.Name) })
	if !slices.ContainsFunc(facts.Tools, func(t prompt.Tool) bool { return t.Name == "use_skill" }) {
		facts.Skills, facts.MoreSkills = "", 0
	}
}

// Progress reports the progress to the pool.
func (s Turn) Progress(at protocol.TurnProgress) { s.Pool.Progress(s.Row.ID, at) }

// Waiting reports to the pool whether the turn waits for a person.
func (s Turn) Waiting(waiting bool) { s.Pool.Waiting(s.Row.ID, waiting) }
