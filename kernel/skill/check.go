package skill

import (
	"context"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// reasonLimit is the maximum number of characters of a reason.
const reasonLimit = 500

// CheckResult is what a heartbeat-when of a note found. Reason is "" if there is nothing to do.
type CheckResult struct {
	Name, Reason string
	Err          error
}

// expandHeartbeatWhen turns (heartbeat-when NAME (EVENT) form…) into a call with a function.
func expandHeartbeatWhen(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a check: %w", err)
	}
	if parameters, ok := lisp.Slice(args[1], 2); !ok || len(parameters) != 1 {
		return nil, fmt.Errorf("the check %s gets the event: write (heartbeat-when %s (event) …)", name, name)
	}
	if len(args) == 2 {
		return nil, fmt.Errorf("the check %s is empty: its value is nil, or a reason to ask the model", name)
	}
	function := append([]lisp.Value{call.Symbol("LAMBDA")}, args[1:]...)
	return lisp.NewList(call.Symbol("%REGISTER-CHECK"), lisp.NewString(name), lisp.NewList(function...)), nil
}

// registerCheck adds a check whose function was evaluated.
func registerCheck(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a check: %w", err)
	}
	h := &Hook{Name: name, Line: n.definitionLine("heartbeat-when", name), Event: Heartbeat, note: n}
	if h.function, err = functionOf("check", args[1]); err != nil {
		return nil, fmt.Errorf("the check %s: %w", name, err)
	}
	if defines, err := defining(call, "heartbeat-when"); !defines {
		return args[0], err
	}
	return args[0], n.addHook(h)
}

// HasChecks reports whether a live note has a check.
func (s *Set) HasChecks() bool { return len(s.Hooks(Heartbeat, "")) > 0 }

// Checks calls the checks of the live notes with a heartbeat, in the order of their notes, and returns what they found. What they
// write and log is dropped.
func (s *Set) Checks(ctx context.Context, event sexp.List) []CheckResult {
	var found []CheckResult
	for _, h := range s.Hooks(Heartbeat, "") {
		c := CheckResult{Name: h.Name}
		value, err := h.Call(ctx, event, true)
		reason, isText := value.(plist.String)
		switch {
		case err != nil:
			c.Err = fmt.Errorf("the check %s (%s) failed: %w", h.Name, h.File, err)
		case plist.IsNil(value):
		case isText && string(reason) != "":
			c.Reason = text.Clip(string(reason), reasonLimit)
		default:
			c.Reason = h.Name
		}
		found = append(found, c)
	}
	return found
}
