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

// Work is the work of a subagent.
type Work struct {
	Row   journal.Subagent
	Kinds Kinds
	Pool  *Pool // nil: nobody watches it
}

// Kinds is what is asked of the kinds of actions.
type Kinds interface {
	// Ends reports whether the action ends the turn.
	Ends(a action.Action, where policy.Where) bool
	// Subagent returns the tools that a subagent needs for the action, and why none may do it at all.
	Subagent(a action.Action) (needs []string, refused string)
}

// NamedSkill is the skill of the turn that started the subagent: an action that it refuses there is refused
// here.
func (s Work) NamedSkill(live *skill.Set) (*skill.Skill, error) {
	if k := live.Named(s.Row.Skill); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("the skill %s, which handed this on, is not live any more; \"org-agent skill list\" says why", s.Row.Skill)
}

// withheldTools are the tools that no subagent has: nobody answers its questions, and it starts no
// subagents.
var withheldTools = [...]string{"start_subagent", "list_subagents", "ask_user"}

// has reports whether the subagent has the tool of that name, as it is written.
func (s Work) has(name string) bool {
	if slices.Contains(withheldTools[:], name) {
		return false
	}
	return s.Row.Tools == nil || slices.ContainsFunc(s.Row.Tools, func(t string) bool { return sameTool(t, name) })
}

// sameTool reports whether two names are of the same tool.
func sameTool(a, b string) bool {
	fold := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, ":"))), "-", "_")
	}
	return fold(a) == fold(b)
}

// Refuses says why a subagent may not do an action. It may always write into its own conversation.
func (s Work) Refuses(a action.Action, where policy.Where) string {
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
			return fmt.Sprintf("a subagent has no %s: nobody answers its questions, and it hands on nothing", name)
		default:
			return fmt.Sprintf("the tool %s was not handed to this subagent: it has %s", name, strings.Join(s.Row.Tools, ", "))
		}
	}
	return ""
}

// Facts makes the facts of a prompt those of a subagent.
func (s Work) Facts(facts *prompt.Facts) {
	facts.Delegation = prompt.Delegation{Requester: s.Row.Session, Subagent: s.Row.Conversation, Label: s.Row.Label, Task: s.Row.Task}
	facts.Tools = slices.DeleteFunc(facts.Tools, func(t prompt.Tool) bool { return !s.has(t.Name) })
	if !slices.ContainsFunc(facts.Tools, func(t prompt.Tool) bool { return t.Name == "use_skill" }) {
		facts.Skills, facts.MoreSkills = "", 0
	}
}

// Progress tells the pool how far the work has come.
func (s Work) Progress(at protocol.TurnProgress) { s.Pool.Progress(s.Row.ID, at) }

// Waiting tells the pool that the work waits for a person, or no longer.
func (s Work) Waiting(waiting bool) { s.Pool.Waiting(s.Row.ID, waiting) }
