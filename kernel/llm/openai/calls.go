package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
)

// callPart is a piece of a call in one event. Servers differ in all of it: the index may be missing or
// always 0, the id and the name may come again with each piece, or in pieces themselves, and a whole call
// may come at once.
type callPart struct {
	Index        *int            `json:"index"`
	ID           lenient         `json:"id"`
	Extra        json.RawMessage `json:"extra_content"`
	Function     functionPart    `json:"function"`
	functionPart                 // of function_call
}

type functionPart struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string, or an object where a server ignores the documentation
}

// lenient is a string, or anything else in its notation as JSON.
type lenient string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lenient) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil && string(data) != "null" {
		text = string(data)
	}
	*l = lenient(text)
	return nil
}

// calls puts the calls of a reply together.
type calls struct {
	open  []*openCall
	bytes int
}

type openCall struct {
	index     int // -1 if the server sent none
	id, name  string
	extra     json.RawMessage // what the server attached, which goes back
	arguments joiner
	text      strings.Builder
}

// add adds the calls of an event. calling is the name of the function whose call the event continues, ""
// without one, and written is what it adds to arguments.
func (c *calls) add(p part) (calling, written string, err error) {
	parts := p.Calls
	if p.Call != nil {
		parts = append(parts[:len(parts):len(parts)], callPart{ID: p.Call.ID, Function: p.Call.functionPart})
	}
	for _, piece := range parts {
		f := piece.Function
		arguments, size := f.arguments()
		if c.bytes += size + len(f.Name) + len(piece.ID); c.bytes > llm.ReplyLimit {
			return "", "", &llm.Error{Class: llm.ClassEndless, Message: "its calls are longer than " + strconv.Itoa(llm.ReplyLimit/1000) + " kB"}
		}
		call := c.of(piece)
		if call == nil {
			return "", "", &llm.Error{Class: llm.ClassEndless, Message: "it makes more than " + strconv.Itoa(llm.CallsLimit) + " calls"}
		}
		if len(piece.Extra) > 0 && string(piece.Extra) != "null" {
			call.extra = piece.Extra
			c.bytes += len(piece.Extra)
		}
		if call.id == "" {
			call.id = string(piece.ID)
		}
		if f.Name != call.name { // else it is sent again
			call.name += f.Name
		}
		more := call.arguments.join(arguments)
		call.text.WriteString(more)
		written += more
		if calling = call.name; calling == "" {
			calling = "a function"
		}
	}
	return calling, written, nil
}

// arguments returns a piece of the arguments as the bytes of a JSON string, and its size. An object
// counts as the text that it is.
func (f functionPart) arguments() (piece []byte, size int) {
	raw := bytes.TrimSpace(f.Arguments)
	if len(raw) > 0 && raw[0] == '{' {
		return raw, len(raw)
	}
	piece = textOf(raw)
	return piece, len(piece)
}

// of returns the call that a piece belongs to, a new one if it begins one, or nil if there are too many.
// A known index with a new id begins a call, because some servers send index 0 with each.
func (c *calls) of(p callPart) *openCall {
	for i := len(c.open) - 1; i >= 0; i-- {
		call := c.open[i]
		sameID := p.ID == "" || call.id == "" || call.id == string(p.ID)
		switch {
		case p.Index != nil && call.index == *p.Index && sameID && !call.ended(p),
			p.Index == nil && p.ID != "" && call.id == string(p.ID),
			p.Index == nil && p.ID == "" && i == len(c.open)-1 && !call.ended(p):
			return call
		}
	}
	if len(c.open) == llm.CallsLimit {
		return nil
	}
	call := &openCall{index: -1}
	if p.Index != nil {
		call.index = *p.Index
	}
	c.open = append(c.open, call)
	return call
}

// ended reports whether a piece begins another call although its index and id may be those of this one:
// it has a name, and the arguments are a complete object already.
func (call *openCall) ended(p callPart) bool {
	if p.Function.Name == "" || call.text.Len() == 0 || p.ID != "" && call.id != "" || !json.Valid([]byte(call.text.String())) {
		return false
	}
	arguments, _ := p.Function.arguments()
	return p.Function.Name != call.name || bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{"))
}

// all returns the calls in the order in which they began. Arguments of two calls that a server has put
// together are two calls of the function.
func (c *calls) all() (all []llm.FunctionCall) {
	for _, call := range c.open {
		call.text.WriteString(call.arguments.flush())
		texts := objects(call.text.String())
		for i, text := range texts {
			one := llm.FunctionCall{Name: call.name, Arguments: text}
			if i == 0 {
				one.ID = call.id
			}
			all = append(all, one)
		}
	}
	return all[:min(len(all), llm.CallsLimit)]
}

// objects returns the JSON objects that stand one behind the other in a text, if it is nothing else, or
// else the text.
func objects(text string) []string {
	if json.Valid([]byte(text)) || strings.TrimSpace(text) == "" {
		return []string{text}
	}
	var all []string
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var one json.RawMessage
		if decoder.Decode(&one) != nil || len(one) == 0 || one[0] != '{' {
			return []string{text}
		}
		all = append(all, string(one))
	}
	return all
}
