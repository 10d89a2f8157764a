package composer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// Functions returns what a model may call in a turn: the tools, and every other form. A call of one of them is
// the same action that a model proposes as text.
func (f *Forms) Functions(ctx context.Context, tools []tool.Tool) []llm.Tool {
	var functions []llm.Tool
	var offered []string
	for _, t := range tools {
		offered = append(offered, t.Name())
	}
	calls := false
	for _, form := range f.of(ctx, offered) {
		switch {
		case form.CallsTools():
			calls = true
		case !form.Another(nil, true):
			functions = append(functions, functionOf(form))
		}
	}
	if !calls {
		return functions
	}
	all := make([]llm.Tool, 0, len(tools)+len(functions))
	for _, t := range tools {
		all = append(all, f.functionOfTool(t))
	}
	for _, function := range functions {
		if _, taken := llm.Named(all, function.Name); !taken {
			all = append(all, function)
		}
	}
	return all
}

func functionOf(form action.Form) llm.Tool {
	return llm.Tool{
		Name: form.FunctionName(), Description: form.Does, Schema: func() any { return form.Schema() },
		Propose: func(arguments []byte) (string, error) {
			fields, err := fieldsOf(arguments)
			if err != nil {
				return "", err
			}
			proposed, err := form.Propose(protocol.Object(fields))
			return proposed.String(), err
		},
	}
}

func (f *Forms) functionOfTool(t tool.Tool) llm.Tool {
	return llm.Tool{
		Name: t.Name(), Description: t.Does(), Schema: func() any { return t.Schema() }, Reads: t.Effect() == protocol.ToolReads,
		Propose: func(arguments []byte) (string, error) {
			fields, err := fieldsOf(arguments)
			if err != nil {
				return "", err
			}
			args, err := plist.Marshal(fields)
			if err != nil {
				return "", fmt.Errorf("the arguments: %w", err)
			}
			return f.Kinds.Specs().ProposeCall(action.Call{Tool: t.Name(), Args: args}).String(), nil
		},
	}
}

// Together returns the action that makes several calls of tools at once. Each action makes one.
func (f *Forms) Together(actions []string) (string, error) {
	var calls []action.Call
	for _, text := range actions {
		proposed, err := action.Read(text)
		if err != nil {
			return "", err
		}
		calls = append(calls, proposed.Action().Calls()...)
	}
	return f.Kinds.Specs().ProposeCalls(calls).String(), nil
}

// fieldsOf reads the arguments of a call. Models leave them out, write null, or write the object into a
// string of its own.
func fieldsOf(arguments []byte) (fields protocol.Arguments, err error) {
	arguments = bytes.TrimSpace(arguments)
	var text string
	if len(arguments) > 0 && arguments[0] == '"' && json.Unmarshal(arguments, &text) == nil {
		arguments = bytes.TrimSpace([]byte(text))
	}
	if len(arguments) == 0 || string(arguments) == "null" {
		return nil, nil
	}
	if err := json.Unmarshal(arguments, new(any)); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if arguments[0] != '{' {
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err := json.Unmarshal(arguments, &fields); err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	return fields, nil
}
