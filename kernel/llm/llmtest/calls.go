package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Call is a call of a function in a reply. Arguments are the JSON text, valid or not.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// CallStyle is how a server writes calls. Each was seen at a real one.
type CallStyle string

// The styles.
const (
	CallsAsDocumented CallStyle = ""           // the id and the name first, then the arguments in pieces
	CallsAgain        CallStyle = "again"      // the id and the name come again with each piece
	CallsWhole        CallStyle = "whole"      // a whole call in each event
	CallsUnnumbered   CallStyle = "unnumbered" // whole, without an index
	CallsAllFirst     CallStyle = "first"      // each with the index 0
	CallsInPieces     CallStyle = "pieces"     // the name in pieces, too
	CallsLate         CallStyle = "late"       // the arguments before the name
	CallsObjects      CallStyle = "objects"    // the arguments are an object, not a string
	CallsOld          CallStyle = "old"        // function_call, of which there is one
	CallsIndexed      CallStyle = "indexed"    // the first has the index 1
)

// CallStyles returns all styles that can write several calls.
func CallStyles() []CallStyle {
	return []CallStyle{CallsAsDocumented, CallsAgain, CallsWhole, CallsUnnumbered, CallsAllFirst, CallsInPieces, CallsLate, CallsObjects, CallsIndexed}
}

// calls sends the calls of the reply.
func (p *playback) calls(ctx context.Context) error {
	for i, c := range p.exchange.Calls {
		for _, piece := range p.exchange.CallStyle.pieces(i, c) {
			field, value := "tool_calls", any([]any{piece})
			if p.exchange.CallStyle == CallsOld {
				field, value = "function_call", piece["function"]
			}
			event := map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{field: value}, "finish_reason": nil}}}
			if err := p.event(ctx, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// pieces returns the pieces of a call, as they stand in the events.
func (s CallStyle) pieces(index int, c Call) (all []map[string]any) {
	add := func(id, name, arguments string) {
		function := map[string]any{"arguments": arguments}
		if name != "" {
			function["name"] = name
		}
		piece := map[string]any{"index": index, "function": function}
		switch s {
		case CallsUnnumbered:
			delete(piece, "index")
		case CallsAllFirst:
			piece["index"] = 0
		case CallsIndexed:
			piece["index"] = index + 1
		case CallsObjects:
			function["arguments"] = json.RawMessage(arguments)
		}
		if id != "" {
			piece["id"], piece["type"] = id, "function"
		}
		all = append(all, piece)
	}
	half := len(c.Arguments) / 2
	switch s {
	case CallsWhole, CallsUnnumbered, CallsObjects:
		add(c.ID, c.Name, c.Arguments)
	case CallsAgain:
		add(c.ID, c.Name, c.Arguments[:half])
		add(c.ID, c.Name, c.Arguments[half:])
	case CallsInPieces:
		add(c.ID, c.Name[:1], "")
		add("", c.Name[1:], c.Arguments)
	case CallsLate:
		add(c.ID, "", c.Arguments[:half])
		add("", c.Name, c.Arguments[half:])
	default:
		add(c.ID, c.Name, "")
		for _, piece := range []string{c.Arguments[:half], c.Arguments[half:]} {
			add("", "", piece)
		}
	}
	return all
}

// completion is what is checked of a request's body.
type completion struct {
	Tools []struct {
		Type     string
		Function struct {
			Name       string
			Parameters json.RawMessage
		}
	}
	Grammar  string
	Format   *responseFormat `json:"response_format"`
	Messages []struct {
		Role    string
		Content json.RawMessage
		Calls   []struct {
			ID, Type string
			Function struct {
				Name      string
				Arguments *string
			}
		} `json:"tool_calls"`
		CallID  string `json:"tool_call_id"`
		Thought string `json:"reasoning_content"`
	}
}

// check returns an error for a request that OpenAI, or one of the servers that follow it, refuses: calls
// without results, results without calls, names and schemas that cannot be.
func check(received Received) error {
	var w completion
	if err := json.Unmarshal(received.Body, &w); err != nil {
		return fmt.Errorf("the request is no completion request: %w", err)
	}
	if len(w.Tools) > 0 && w.Grammar != "" {
		return errors.New("cannot use custom grammar constraints with tools")
	}
	if err := w.Format.check(); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, t := range w.Tools {
		name := t.Function.Name
		var schema struct{ Type string }
		switch {
		case t.Type != "function" || !functionName(name):
			return fmt.Errorf("invalid 'tools[%d].function.name': %q", i, name)
		case names[name]:
			return fmt.Errorf("tools: Tool names must be unique: %q", name)
		case json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object":
			return fmt.Errorf("invalid schema for function %q: schema must be a JSON Schema of 'type: \"object\"'", name)
		}
		names[name] = true
	}
	open, used := []string(nil), map[string]bool{}
	for i, m := range w.Messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("invalid parameter: messages[%d] with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			open = open[1:]
		} else if len(open) > 0 {
			return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", open[0])
		}
		if len(m.Calls) > 0 && m.Role != "assistant" || len(m.Calls) == 0 && (len(m.Content) == 0 || string(m.Content) == "null") {
			return fmt.Errorf("invalid value for 'content' of messages[%d]: expected a string, got null", i)
		}
		if received.thinks && len(m.Calls) > 0 && m.Thought == "" {
			return fmt.Errorf("missing `reasoning_content` field in the assistant message at messages[%d]", i)
		}
		for _, c := range m.Calls {
			if c.ID == "" || used[c.ID] || c.Type != "function" || !functionName(c.Function.Name) || c.Function.Arguments == nil || !object(*c.Function.Arguments) {
				return fmt.Errorf("invalid 'messages[%d].tool_calls': %+v", i, c)
			}
			used[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages: %s has none", open[0])
	}
	return nil
}

// functionName reports whether OpenAI accepts a function's name.
func functionName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// object reports whether a text is a JSON object.
func object(text string) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &fields) == nil && fields != nil
}
