package act

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// batchLimit is the maximum number of calls in a batch.
const batchLimit = 16

// parallelCalls is how many calls of a batch run at the same time. Most of them wait for a disk or
// a server. Calls that start subagents all begin at once, because subagents have their own queue.
const parallelCalls = 4

// batch makes several calls of tools at once. Each call only reads or starts a subagent, so none
// changes a file.
func batch(d Deps) kind.Kind {
	one := sexp.List{plist.Keyword("tool"), plist.String("<name>"), plist.Keyword("args"), anyArguments()}
	return kind.Kind{
		Spec: action.Spec{Target: "tool", Name: "batch", Does: "to use tools that only read together", Fields: []action.Field{
			{Name: "calls", Kind: action.Calls, Required: true, Example: sexp.List{one, one}}}},
		Judge:    judgeBatch,
		Describe: describeBatch,
		Calls:    action.Action.Calls,
		Reads:    func(a action.Action) bool { return d.all(a, protocol.ToolReads) },
		Outside:  d.outside,
		Subagent: d.neededTools,
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			return callAll(ctx, o.Tools, o.Action.Action().Calls()), nil
		},
		Undo: leavesNothing,
	}
}

// judgeBatch judges each call. The verdict is the worst of theirs.
func judgeBatch(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
	value, _ := a.Field("calls")
	calls, _ := value.(sexp.List) // a usable action has a list here
	if len(calls) == 0 || len(calls) > batchLimit {
		return policy.Refused("a batch has 1 to %d calls, not %d", batchLimit, len(calls))
	}
	worst := policy.Verdict{Kind: policy.Allow, Reason: "the tools only read"}
	judged := make(sexp.List, len(calls))
	for i, item := range calls {
		fields, _ := item.(sexp.List)
		one, reads, v := turn.Call(ctx, action.CallOf(fields))
		if v.Kind == policy.Refuse {
			return policy.Refused("call %d of the batch: %s", i+1, v.Reason)
		}
		if !reads {
			return policy.Refused("call %d of the batch: %s does more than read; call it by itself", i+1, one.Tool)
		}
		if v.Kind < worst.Kind {
			worst.Kind, worst.Reason = v.Kind, fmt.Sprintf("call %d of the batch: %s", i+1, v.Reason)
		}
		worst.OnceOnly, worst.Changes = worst.OnceOnly || v.OnceOnly, worst.Changes || v.Changes
		judged[i] = one.Fields()
	}
	worst.Action = a.With("calls", judged)
	return worst
}

// describeBatch shows the calls one below the other.
func describeBatch(a action.Action, deps describe.Deps) describe.Description {
	calls := a.Calls()
	d := describe.Description{Summary: fmt.Sprintf("Make %s together", text.Count(len(calls), "call")), Language: "text"}
	same := len(calls) > 0
	first := ""
	var text strings.Builder
	for i, c := range calls {
		one := describeCall(c, deps)
		if i == 0 {
			first = one.Summary
		}
		same = same && one.Summary == first
		fmt.Fprintf(&text, "%d. %s\n%s\n\n", i+1, one.Summary, strings.TrimRight(one.Text, "\n"))
		for _, effect := range one.Effects {
			if !slices.Contains(d.Effects, effect) {
				d.Effects = append(d.Effects, effect)
			}
		}
	}
	if same {
		d.Summary = fmt.Sprintf("%s, %d times", first, len(calls))
	}
	d.Text = strings.TrimRight(text.String(), "\n") + "\n"
	return d
}

// callAll makes the calls, several at a time. The results are in the order of the calls. A call
// that fails does not prevent the others. callAll returns when all calls have ended, which is soon
// after ctx ends; the results until then count.
func callAll(ctx context.Context, tools kind.Tools, calls []action.Call) kind.Result {
	made := make([]kind.Call, len(calls))
	var making sync.WaitGroup
	free := make(chan struct{}, parallelCalls)
	for i, c := range calls {
		if c.Tool == subagentTool {
			making.Go(func() { made[i] = makeOne(ctx, tools, c) })
			continue
		}
		free <- struct{}{}
		making.Go(func() {
			defer func() { <-free }()
			made[i] = makeOne(ctx, tools, c)
		})
	}
	making.Wait()
	return kind.Result{Calls: made, Text: fmt.Sprintf("%d calls were made", len(made))}
}

func makeOne(ctx context.Context, tools kind.Tools, c action.Call) kind.Call {
	begun := time.Now()
	made := kind.Call{Tool: c.Tool}
	arguments, err := c.Arguments()
	if err == nil {
		err = changedSince(tools, c)
	}
	if err == nil {
		made.Text, _, err = tools.Call(ctx, c.Tool, arguments)
	}
	if err != nil && ctx.Err() != nil {
		err = protocol.ToolErrorf(protocol.ToolCancelled, "it was stopped before it came to anything")
	}
	if err != nil {
		of := protocol.ToolErrorOf(err)
		made.Text, made.Failed, made.Code, made.Retryable = of.Message, true, of.Code, of.Retryable
	}
	made.Took = time.Since(begun)
	return made
}
