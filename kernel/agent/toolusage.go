package agent

import (
	"cmp"
	"context"
	"slices"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// toolsSummed is how many tools are summed one by one. Models make names up, so that there
// may be any number of them.
const toolsSummed = 1000

// ToolUsage sums what the results of each tool's calls were since a moment, in the session or
// in all if that is "", the largest first. What a person refused was no call.
func (a *Agent) ToolUsage(ctx context.Context, session string, since time.Time) ([]protocol.ToolUsage, error) {
	sums := map[string]*protocol.ToolUsage{}
	add := func(name, text string) {
		if sums[name] == nil && len(sums) >= toolsSummed {
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
	err := a.config.Journal.EachToolStep(ctx, session, since, func(round journal.ToolStep) {
		for _, call := range round.Calls {
			add(call.Tool, call.Text)
		}
		if len(round.Calls) > 0 || round.Verdict != "performed" && round.Verdict != "failed" {
			return
		}
		if name := calledTool(action.Recorded(round.Action)); name != "" {
			add(name, round.Text)
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

// calledTool is the tool that an action calls, "" if it calls none.
func calledTool(a action.Action) string { return action.CallOf(a.Payload()).Tool }
