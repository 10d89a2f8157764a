package gate

import (
	"errors"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// The verdicts of steps.
const (
	Performed = "performed"
	Refused   = "refused" // by the skill, the policy or a hook
	Denied    = "denied"  // by a person
	Failed    = "failed"
)

// Result is the outcome of an action. If Ended is not set, the turn goes on with the Step.
type Result struct {
	Ended bool
	Step  Step
}

// Step is an action that did not end the turn, with its outcome.
type Step struct {
	Action  action.Action // as the policy judged it, if it did
	Verdict string
	Text    string
	Calls   []kind.Call        // the calls of a batch of tools
	Failure protocol.ToolError // the error code, unless it was performed
	// Hooks are the texts that hooks add for the model.
	Hooks []journal.StepHook
	// Answers are a person's answers to the action, with secrets, for the skill. The Text has no
	// secrets.
	Answers sexp.List
	// Repeatable is set if the action changes nothing, so that repeating it does no harm.
	Repeatable bool
}

// PerformedStep returns the step of an action that was performed with this result or, if err is not
// nil, failed.
func PerformedStep(a action.Action, text string, err error) Step {
	step := Step{Action: a, Verdict: Performed, Text: text}
	if err != nil {
		return step.failed(err)
	}
	return step
}

// failed returns the step with the error of its action. If a person declined to answer, the verdict is
// Denied.
func (s Step) failed(err error) Step {
	s.Verdict, s.Text, s.Calls = Failed, err.Error(), nil
	if declined, ok := errors.AsType[tool.Declined](err); ok {
		s.Verdict, s.Text = Denied, declined.Error()
	} else {
		s.Failure = protocol.ToolErrorOf(err)
	}
	return s
}

// hookDecision is a hook's verdict on an action, as the journal has it.
type hookDecision struct {
	Hook    string `json:"hook"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Append  string `json:"append,omitempty"`
}

// hookDecisions returns the verdicts of hooks on an action.
func hookDecisions(verdict policy.Verdict) []hookDecision {
	var all []hookDecision
	for _, d := range verdict.Decisions {
		if d.Hook != "" {
			all = append(all, hookDecision{Hook: d.Hook, File: d.File, Line: d.Line, Verdict: d.Kind.String(), Reason: d.Reason, Append: d.Append})
		}
	}
	return all
}

// hookTexts returns the texts that hooks add to the result of an action.
func hookTexts(verdicts []hookDecision) (added []journal.StepHook) {
	for _, v := range verdicts {
		if v.Append != "" {
			added = append(added, journal.StepHook{Hook: v.Hook, Text: v.Append})
		}
	}
	return added
}
