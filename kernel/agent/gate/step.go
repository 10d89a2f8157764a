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

// Result is the outcome of an action: either the turn has ended with it, or there is a step.
type Result struct {
	Ended bool
	Step  Step
}

// Step is an action that did not end the turn, with its outcome.
type Step struct {
	Action  action.Action // as far as it was judged
	Verdict string
	Text    string
	Calls   []kind.Call        // of a batch of tools
	Failure protocol.ToolError // the code of an action that failed or was refused
	// Hooks are what hooks add for the model.
	Hooks []journal.StepHook
	// Answers are what a person answered to the action, for the skill. The text has them without
	// secrets.
	Answers sexp.List
	// Light is true if the action changes nothing, so that it may be done twice.
	Light bool
}

// Done is the step of an action that was performed with that text or, if there is an error, failed.
func Done(a action.Action, text string, err error) Step {
	step := Step{Action: a, Verdict: Performed, Text: text}
	if err != nil {
		return step.failed(err)
	}
	return step
}

// failed is the step with the error of its action. A person who declined to answer has denied it.
func (s Step) failed(err error) Step {
	s.Verdict, s.Text, s.Calls = Failed, err.Error(), nil
	if declined, ok := errors.AsType[tool.Declined](err); ok {
		s.Verdict, s.Text = Denied, declined.Error()
	} else {
		s.Failure = protocol.ToolErrorOf(err)
	}
	return s
}

// hookVerdict is what a hook said of an action, as the journal has it.
type hookVerdict struct {
	Hook    string `json:"hook"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Append  string `json:"append,omitempty"`
}

// hookVerdicts are what the hooks said of an action.
func hookVerdicts(verdict policy.Verdict) []hookVerdict {
	var all []hookVerdict
	for _, d := range verdict.Decisions {
		if d.Hook != "" {
			all = append(all, hookVerdict{Hook: d.Hook, File: d.File, Line: d.Line, Verdict: d.Kind.String(), Reason: d.Reason, Append: d.Append})
		}
	}
	return all
}

// additions are what hooks add for the model with what comes of an action.
func additions(verdicts []hookVerdict) (added []journal.StepHook) {
	for _, v := range verdicts {
		if v.Append != "" {
			added = append(added, journal.StepHook{Hook: v.Hook, Text: v.Append})
		}
	}
	return added
}
