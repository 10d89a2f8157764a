package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/journal"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// toolLimit is the maximum number of tools that are summed separately. Models invent names, so there may
// be any number of them.
const toolLimit = 1000

// ToolSteps visits the steps of turns since a time, the oldest first. The session "" stands for all.
type ToolSteps interface {
	EachToolStep(ctx context.Context, session string, since time.Time, visit func(journal.ToolStep)) error
}

// toolUsage sums the results of each tool's calls since a time, the largest sum first. The session
// "" stands for all. A call that was refused or denied does not count.
func toolUsage(ctx context.Context, steps ToolSteps, session string, since time.Time) ([]protocol.ToolUsage, error) {
	sums := map[string]*protocol.ToolUsage{}
	add := func(name, text string) {
		if sums[name] == nil && len(sums) >= toolLimit {
			name = ""
		}
		sum := sums[name]
		if sum == nil {
			sum = &protocol.ToolUsage{Tool: name}
			sums[name] = sum
		}
		sum.Calls++
		sum.Bytes += len(text)
		sum.Tokens += prompt.Tokens(text)
	}
	err := steps.EachToolStep(ctx, session, since, func(step journal.ToolStep) {
		for _, call := range step.Calls {
			add(call.Tool, call.Text)
		}
		if len(step.Calls) > 0 || step.Verdict != gate.Performed && step.Verdict != gate.Failed {
			return
		}
		if name := action.CallOf(action.Recorded(step.Action).Payload()).Tool; name != "" {
			add(name, step.Text)
		}
	})
	if err != nil {
		return nil, err
	}
	var usage []protocol.ToolUsage
	for _, sum := range sums {
		usage = append(usage, *sum)
	}
	slices.SortFunc(usage, func(a, b protocol.ToolUsage) int {
		return cmp.Or(b.Bytes-a.Bytes, b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool))
	})
	return usage, nil
}
