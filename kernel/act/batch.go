package act

import (
	"context"
	"fmt"
	"sync"
	"time"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Call is what became of one call of a batch.
type Call struct {
	Tool   string
	Text   string // the result, or why it failed
	Failed bool
	// Code and Retryable are those of the error.
	Code      protocol.ToolErrorCode
	Retryable bool
	Took      time.Duration
}

// together is how many calls of a batch are made at once: most of them wait, for a disk or for
// a server. Those that hand on work all begin at once, as they wait for their place elsewhere.
const together = 4

// batch makes the calls, which only read or hand on work, several at a time. What comes of them stands in the
// order of the calls; one that fails does not keep the others from being made. It returns when
// all have ended, which is soon after ctx has; what had come until then counts.
func batch(ctx context.Context, tools Tools, payload protocol.Object) Result {
	items, _ := payload.Get("calls").([]any)
	calls := make([]Call, len(items))
	var making sync.WaitGroup
	free := make(chan struct{}, together)
	for i, item := range items {
		call, _ := item.(protocol.Object)
		if name, _, err := callOf(call); err == nil && name == policy.SpawnTool {
			making.Go(func() { calls[i] = made(ctx, tools, item) })
			continue
		}
		free <- struct{}{}
		making.Go(func() {
			defer func() { <-free }()
			calls[i] = made(ctx, tools, item)
		})
	}
	making.Wait()
	return Result{Calls: calls, Text: fmt.Sprintf("%d calls were made", len(calls))}
}

// made makes one call.
func made(ctx context.Context, tools Tools, item any) Call {
	begun := time.Now()
	call, _ := item.(protocol.Object)
	name, arguments, err := callOf(call)
	made := Call{Tool: name}
	if err == nil {
		made.Text, err = tools.Call(ctx, name, arguments)
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
