package act

import (
	"context"
	"errors"

	"github.com/chewxy/sexp"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Tools performs calls of tools.
type Tools interface {
	// Call performs one call and returns what the model is given.
	Call(ctx context.Context, name string, arguments protocol.Object) (string, error)
	// Check says what is in the way of a call, nil when nothing is or nobody knows.
	Check(ctx context.Context, name string, arguments protocol.Object) error
	// Digest stands for what somebody else's program says of its tool; "" for a tool of ours.
	Digest(name string) string
}

// Tool performs :call and :batch.
func Tool(tools Tools) Actuator {
	check := func(ctx context.Context, _ Order, action sexp.List) error {
		payload, err := policy.Payload(action)
		if err != nil {
			return err
		}
		name, arguments, err := callOf(payload)
		if err != nil {
			return err
		}
		return tools.Check(ctx, name, arguments)
	}
	return Actuator{Target: "tool", Actions: []string{"call", "batch"}, Check: check, Perform: func(ctx context.Context, o Order) (Result, error) {
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		if o.Action.Action() == "batch" {
			return batch(ctx, tools, payload), nil
		}
		name, arguments, err := callOf(payload)
		if err != nil {
			return Result{}, err
		}
		if judged, now := payload.Text("digest"), tools.Digest(name); now != "" && judged != now {
			return Result{}, protocol.ToolErrorf(protocol.ToolChanged, "what is said of the tool %s changed while this was decided: look at it again", name)
		}
		text, err := tools.Call(ctx, name, arguments)
		return Result{Text: text}, err
	}}
}

// Shell performs a :shell, which is a call of the tool exec.
func Shell(tools Tools) Actuator {
	const name = "exec"
	return Actuator{Target: "shell", Check: func(ctx context.Context, _ Order, action sexp.List) error {
		payload, err := policy.Payload(action)
		if err != nil {
			return err
		}
		return tools.Check(ctx, name, policy.ShellArguments(payload))
	}, Perform: func(ctx context.Context, o Order) (Result, error) {
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		text, err := tools.Call(ctx, name, policy.ShellArguments(payload))
		return Result{Text: text}, err
	}}
}

// Spawn performs an :agent :spawn, which is a call of the tool that hands on work.
func Spawn(tools Tools) Actuator {
	return Actuator{Target: "agent", Actions: []string{"spawn"}, Perform: func(ctx context.Context, o Order) (Result, error) {
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		text, err := tools.Call(ctx, policy.SpawnTool, protocol.Object{{Key: "task", Value: payload.Get("task")}})
		return Result{Text: text}, err
	}}
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
