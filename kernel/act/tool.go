package act

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// Tools performs calls of tools.
type Tools interface {
	// Call performs one call and returns what the model is given.
	Call(ctx context.Context, name string, arguments protocol.Object) (string, error)
}

// Call is what became of one call of a batch.
type Call struct {
	Tool   string
	Text   string // the result, or why it failed
	Failed bool
}

// Tool performs :call and, one call after the other, :batch. A call of a batch that fails
// does not keep the others from being made.
func Tool(tools Tools) Actuator {
	return Actuator{Target: "tool", Actions: []string{"call", "batch"}, Perform: func(ctx context.Context, o Order) (Result, error) {
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		if o.Action.Action() == "batch" {
			return batch(ctx, tools, payload)
		}
		name, arguments, err := callOf(payload)
		if err != nil {
			return Result{}, err
		}
		text, err := tools.Call(ctx, name, arguments)
		return Result{Text: text}, err
	}}
}

func batch(ctx context.Context, tools Tools, payload protocol.Object) (Result, error) {
	items, _ := payload.Get("calls").([]any)
	var result Result
	for _, item := range items {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		call, _ := item.(protocol.Object)
		name, arguments, err := callOf(call)
		var text string
		if err == nil {
			text, err = tools.Call(ctx, name, arguments)
		}
		if err != nil {
			text = err.Error()
		}
		result.Calls = append(result.Calls, Call{Tool: name, Text: text, Failed: err != nil})
	}
	result.Text = fmt.Sprintf("%d calls were made", len(result.Calls))
	return result, nil
}

// callOf takes a call apart.
func callOf(call protocol.Object) (name string, arguments protocol.Object, err error) {
	name = call.Text("tool")
	switch v := call.Get("args").(type) {
	case nil:
	case protocol.Object:
		arguments = v
	default:
		return name, nil, errors.New("the :args are no property list")
	}
	return name, arguments, nil
}
