package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// A subagent's turn is answered as any other, by the skill of the turn that handed it its work and
// under the same policy. Here is what it may not do that the other may: it is decided here, before
// skill and policy, whatever its model was told and whatever a person allowed elsewhere.

// findHanded finds what a subagent was handed.
func (r *run) findHanded(ctx context.Context) error {
	if r.turn.Record.Question.Route.Kind != protocol.RouteSubagent {
		return nil
	}
	s, err := r.agent.config.Journal.Spawn(ctx, r.turn.Record.Event)
	if err != nil {
		return fmt.Errorf("look for what was handed on: %w", err)
	}
	r.handed = &s
	above, err := r.agent.config.Journal.Turn(ctx, s.Turn)
	if err != nil {
		return fmt.Errorf("look for the turn that handed it on: %w", err)
	}
	r.budget.whole = newBudget(above.Settings, false).Budget
	return nil
}

// countBeside finds what the other turns of the question took: a question with its subagents takes
// no more than one without.
func (r *run) countBeside(ctx context.Context) {
	question := r.turn.Record.ID
	switch {
	case r.handed != nil:
		question = r.handed.Turn
	case !r.spawned:
		return
	}
	taken, err := r.agent.config.Journal.TakenBeside(context.WithoutCancel(ctx), question, r.turn.Record.ID)
	if err != nil {
		r.log.Warn("what subagents took is not counted", "err", err)
		return
	}
	r.budget.beside = taken
}

// handedSkill is the skill of the turn that handed the work on: what that does not let pass
// does not pass here.
func (r *run) handedSkill(live *skill.Set) (*skill.Skill, error) {
	if k := live.Named(r.handed.Skill); k != nil {
		return k, nil
	}
	return nil, failf("the skill %s, which handed this on, is not live any more; \"org-agent skill list\" says why", r.handed.Skill)
}

// neverHanded are the tools that no subagent has: nobody answers its questions, and it hands on
// nothing.
var neverHanded = [...]string{"sessions_spawn", "sessions_list", "ask_user"}

// has reports whether the subagent has the tool of that name, as it is written.
func (r *run) has(name string) bool {
	if slices.Contains(neverHanded[:], name) {
		return false
	}
	return r.handed.Tools == nil || slices.ContainsFunc(r.handed.Tools, func(t string) bool { return sameTool(t, name) })
}

// sameTool reports whether two names are of the same tool.
func sameTool(a, b string) bool {
	fold := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, ":"))), "-", "_")
	}
	return fold(a) == fold(b)
}

// beyond says why an action is none of a subagent's; "" if it may be, and in any other turn. Into
// its own conversation it may always write.
func (r *run) beyond(a action.Action) string {
	kinds := r.agent.config.Kinds
	if r.handed == nil || kinds.Ends(a, r.where()) {
		return ""
	}
	needs, refused := kinds.Subagent(a)
	if refused != "" {
		return refused
	}
	for _, name := range needs {
		if !r.has(name) {
			return r.beyondTool(name)
		}
	}
	return ""
}

func (r *run) beyondTool(name string) string {
	if slices.Contains(neverHanded[:], name) {
		return fmt.Sprintf("a subagent has no %s: nobody answers its questions, and it hands on nothing", name)
	}
	return fmt.Sprintf("the tool %s was not handed to this subagent: it has %s", name, strings.Join(r.handed.Tools, ", "))
}

// beyondForm reports whether a reply of that form would be none of a subagent's.
func (r *run) beyondForm(form action.Form) bool {
	if r.handed == nil {
		return false
	}
	proposed, err := r.agent.proposedOf(form)
	return err != nil || r.beyond(proposed.Action()) != ""
}

// subagentFacts makes the facts of a prompt those of a subagent.
func (r *run) subagentFacts(facts *prompt.Facts) {
	facts.Kind = prompt.Subagent
	facts.Handed = prompt.Handed{Requester: r.handed.Session, Child: r.turn.Record.Session, Label: r.handed.Label, Task: r.handed.Task}
	facts.Tools = slices.DeleteFunc(facts.Tools, func(t prompt.Tool) bool { return !r.has(t.Name) })
	if !slices.ContainsFunc(facts.Tools, func(t prompt.Tool) bool { return t.Name == "use_skill" }) {
		facts.Skills, facts.MoreSkills = "", 0
	}
}

// progress tells how far the turn has come.
func (r *run) progress() {
	at := r.budget.progress(r.turn.Record)
	if r.handed == nil {
		at.Tokens += r.budget.beside.Tokens
		if at.Cost != nil {
			*at.Cost += r.budget.beside.Cost
		}
	}
	r.turn.Progress(at)
	if r.handed != nil && r.agent.config.Subagents != nil {
		r.agent.config.Subagents.Progress(r.handed.ID, at)
	}
}

// waits shows that the turn waits for a person, or no longer.
func (r *run) waits(ctx context.Context, waiting bool) error {
	err := r.turn.Waiting(ctx, waiting)
	if r.handed != nil && r.agent.config.Subagents != nil {
		r.agent.config.Subagents.Waiting(r.handed.ID, waiting)
	}
	return err
}
