package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"org-agent/kernel/journal"
)

// Results returns the whole texts of results that a model was shown shortened.
type Results struct {
	Session string
	// Running returns the steps of the running turn. Earlier has those of earlier turns.
	Running func() []journal.ToolStep
	Earlier EarlierSteps
}

// EarlierSteps reads steps of earlier turns by their rows.
type EarlierSteps interface {
	ToolStep(ctx context.Context, session string, seq int64) (journal.ToolStep, error)
}

// Whole returns the result with the id that its shortened form shows. For a call of a batch, a point
// and the number of the call follow the id. With ".call" behind the id it returns the call itself.
func (r Results) Whole(ctx context.Context, id string) (string, error) {
	result, isCall := strings.CutSuffix(strings.TrimSpace(id), callSuffix)
	if isCall {
		step, err := r.step(ctx, result)
		return step.Action, err
	}
	name, call, batch := strings.Cut(strings.TrimSpace(id), ".")
	step, err := r.step(ctx, name)
	if err != nil {
		return "", err
	}
	if !batch {
		return step.Text, nil
	}
	n, err := strconv.Atoi(call)
	if err != nil || n < 1 || n > len(step.Calls) {
		return "", fmt.Errorf("the batch %s has %d calls, and %q is none of them", name, len(step.Calls), id)
	}
	return step.Calls[n-1].Text, nil
}

// step returns a step of the running turn, or of an earlier turn of the conversation. No step is
// added to the turn while its calls are made.
func (r Results) step(ctx context.Context, name string) (journal.ToolStep, error) {
	if index, running := RunningIndex(name); running {
		steps := r.Running()
		if index < 0 || index >= len(steps) {
			return journal.ToolStep{}, fmt.Errorf("this turn has no step %d: it has had %d", index+1, len(steps))
		}
		return steps[index], nil
	}
	row, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return journal.ToolStep{}, fmt.Errorf("%q is the id of no result: use an id that a shortened result shows", name)
	}
	return r.Earlier.ToolStep(ctx, r.Session, row)
}
