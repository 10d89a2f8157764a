package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/text"
)

// The types of items in a reply.
const (
	typeMessage   = "message"
	typeCall      = "function_call"
	typeReasoning = "reasoning"
	typePicture   = "image_generation_call"
)

// event is an event of the stream. Which fields it has depends on its type.
type event struct {
	Type     string          `json:"type"`
	ItemID   string          `json:"item_id"`
	Index    *int            `json:"output_index"`
	Summary  int             `json:"summary_index"`
	Delta    json.RawMessage `json:"delta"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	Complete *string         `json:"arguments"`
	Item     json.RawMessage `json:"item"`
	Citation struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	} `json:"annotation"`
	Response *response       `json:"response"`
	Error    json.RawMessage `json:"error"`
	Message  string          `json:"message"` // of an error, with its code
	Code     json.RawMessage `json:"code"`

	// A reply that is not streamed is an object of this kind, with the fields of a response.
	Object string `json:"object"`
}

// response is the state of the reply.
type response struct {
	Model      string            `json:"model"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      json.RawMessage   `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// output is what is read of an item.
type output struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string, or an object where a server ignores the documentation
	Encrypted string          `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Result json.RawMessage `json:"result"` // of a picture: its bytes in base64
}

// usage is the server's count of tokens.
type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	In     struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Cost *float64 `json:"cost"`
}

// piece is an item of the reply while it comes.
type piece struct {
	index     int // -1 if the server sent none
	kind      string
	id        string
	callID    string
	name      string
	arguments strings.Builder
	shown     bool            // some of its text was sent in deltas
	whole     json.RawMessage // as the server sent it at its end, nil before
	kept      bool            // it goes back to the server
}

// itemsLimit is how many items of one reply are read. More are a model that is stuck.
const itemsLimit = 4 * llm.CallsLimit

// decoder turns the events of one stream into deltas.
type decoder struct {
	provider, model, writer string
	ignored                 *transport.Ignored

	begun  bool // there was a delta
	pieces []*piece
	bytes  int // of calls and items
	part   int // of the summary of the thinking
	finish llm.FinishReason
	usage  *llm.Usage
	// sources are those that the server names beside the text.
	sources llm.Citations
}

// decode returns the delta of an event. It is empty if the event says nothing that is wanted. The event
// that ends the reply gives the last delta, and sets finish.
func (d *decoder) decode(line []byte) (llm.Delta, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return llm.Delta{}, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not an event", text.Clip(string(line), 80)), Err: err}
	}
	if e.Type == "" && e.Object == "response" {
		e.Type, e.Response = "response.completed", &response{}
		if err := json.Unmarshal(line, e.Response); err != nil {
			return llm.Delta{}, &llm.Error{Class: llm.ClassProtocol, Message: "the reply cannot be read", Err: err}
		}
		e.Error = nil
	}
	if err := transport.StreamError(e.Error); err != nil && e.Type != "response.failed" {
		return llm.Delta{}, err
	}
	delta, err := d.event(&e)
	d.sources.Wrote(delta.Text)
	if d.finish != "" {
		delta.Text += d.sources.Text()
	}
	if err != nil || delta.Empty() || d.begun {
		return delta, err
	}
	d.begun = true
	delta.Provider, delta.Model = d.provider, d.model
	return delta, nil
}

// event returns the delta of an event.
func (d *decoder) event(e *event) (delta llm.Delta, err error) {
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		if e.Response != nil && e.Response.Model != "" && !d.begun {
			d.model = e.Response.Model
		}
	case "response.output_item.added", "response.output_item.done":
		return d.item(e)
	case "response.output_text.delta", "response.refusal.delta":
		p, err := d.of(e, typeMessage)
		if err != nil {
			return delta, err
		}
		delta.Text = textOf(e.Delta)
		p.shown = p.shown || delta.Text != ""
	case "response.output_text.done", "response.refusal.done": // of a server without deltas
		p, err := d.of(e, typeMessage)
		if err != nil || p.shown {
			return delta, err
		}
		delta.Text = e.Text + e.Refusal
		p.shown = delta.Text != ""
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		delta.Reasoning = textOf(e.Delta)
		if e.Summary > d.part {
			d.part, delta.Reasoning = e.Summary, "\n\n"+delta.Reasoning
		}
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		return d.arguments(e)
	case "response.output_text.annotation.added":
		d.sources.Add(e.Citation.URL, e.Citation.Title)
	case "response.completed", "response.incomplete", "response.failed":
		return d.end(e)
	case "error":
		return delta, failureOf(e.Message, e.Code)
	case "response.content_part.added", "response.content_part.done", "response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
		"response.reasoning_summary_text.done", "response.reasoning_text.done", "keepalive", "ping",
		"response.image_generation_call.in_progress", "response.image_generation_call.generating", "response.image_generation_call.partial_image", "response.image_generation_call.completed":
	default:
		d.ignored.Note("event", e.Type)
	}
	return delta, nil
}

// textOf returns the text of a delta. Anything but a string has none.
func textOf(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text)
	return text
}

// of returns the item that an event belongs to, a new one if it is the first event of the item.
func (d *decoder) of(e *event, kind string) (*piece, error) {
	for _, p := range slices.Backward(d.pieces) {
		sameID := e.ItemID == "" || p.id == "" || p.id == e.ItemID
		if sameID && p.whole == nil && (e.Index != nil && p.index == *e.Index || e.Index == nil && (e.ItemID != "" && p.id == e.ItemID || e.ItemID == "" && p.kind == kind)) {
			return p, nil
		}
	}
	return d.begin(e.Index, e.ItemID, kind)
}

// begin begins an item.
func (d *decoder) begin(index *int, id, kind string) (*piece, error) {
	if len(d.pieces) == itemsLimit || kind == typeCall && d.calls() == llm.CallsLimit {
		return nil, &llm.Error{Class: llm.ClassEndless, Message: "it makes more than " + strconv.Itoa(llm.CallsLimit) + " calls"}
	}
	p := &piece{index: -1, id: id, kind: kind}
	if index != nil {
		p.index = *index
	}
	d.pieces = append(d.pieces, p)
	return p, nil
}

// calls returns the number of calls so far.
func (d *decoder) calls() (n int) {
	for _, p := range d.pieces {
		if p.kind == typeCall {
			n++
		}
	}
	return n
}

// count counts bytes that are kept until the end of the reply.
func (d *decoder) count(size int) error {
	if d.bytes += size; d.bytes > 2*llm.ReplyLimit {
		return &llm.Error{Class: llm.ClassEndless, Message: "its calls and its thinking are longer than " + strconv.Itoa(2*llm.ReplyLimit/1000) + " kB"}
	}
	return nil
}

// arguments adds a piece of the arguments of a call, or all of them.
func (d *decoder) arguments(e *event) (delta llm.Delta, err error) {
	p, err := d.of(e, typeCall)
	if err != nil {
		return delta, err
	}
	written := textOf(e.Delta)
	if e.Complete != nil {
		written = *e.Complete
		p.arguments.Reset()
	}
	p.arguments.WriteString(written)
	if p.arguments.Len() > llm.ReplyLimit {
		return delta, &llm.Error{Class: llm.ClassEndless, Message: "its calls are longer than " + strconv.Itoa(llm.ReplyLimit/1000) + " kB"}
	}
	delta = calling(p)
	if e.Complete == nil {
		delta.CallText = written
	}
	return delta, d.count(len(written))
}

// calling returns the delta of a call that is being written.
func calling(p *piece) llm.Delta {
	if p.name == "" {
		return llm.Delta{Calling: "a function"}
	}
	return llm.Delta{Calling: p.name}
}

// item begins an item or ends it. What an item has at its end counts.
func (d *decoder) item(e *event) (delta llm.Delta, err error) {
	var o output
	if json.Unmarshal(e.Item, &o) != nil || o.Type == "" {
		return delta, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not an item", text.Clip(string(e.Item), 80))}
	}
	if o.Type == typePicture {
		if content := textOf(o.Result); content != "" && e.Type == "response.output_item.done" {
			delta.Pictures = []string{"data:image;base64," + content}
		}
		return delta, nil
	}
	if o.Type != typeMessage && o.Type != typeCall && o.Type != typeReasoning {
		d.ignored.Note("item", o.Type)
		return delta, nil
	}
	e.ItemID = o.ID
	if d.repeated(e) {
		return delta, nil
	}
	p, err := d.of(e, o.Type)
	if err != nil {
		return delta, err
	}
	p.id, p.kind = o.ID, o.Type
	if e.Type != "response.output_item.done" {
		if o.Type == typeCall {
			p.callID, p.name = o.CallID, o.Name
			return calling(p), nil
		}
		return delta, nil
	}
	return d.ended(p, &o, e.Item)
}

// repeated reports whether an item was complete before this event, which says the same again.
func (d *decoder) repeated(e *event) bool {
	return e.ItemID != "" && slices.ContainsFunc(d.pieces, func(p *piece) bool {
		return p.whole != nil && p.id == e.ItemID && (e.Index == nil || p.index == *e.Index)
	})
}

// ended keeps an item that is complete.
func (d *decoder) ended(p *piece, o *output, raw json.RawMessage) (delta llm.Delta, err error) {
	p.whole = bytes.Clone(raw)
	if err := d.count(len(raw)); err != nil {
		return delta, err
	}
	switch o.Type {
	case typeCall:
		p.kept = true
		p.callID, p.name = o.CallID, o.Name
		if arguments := argumentsOf(o.Arguments); arguments != "" {
			p.arguments.Reset()
			p.arguments.WriteString(arguments)
		}
		return calling(p), nil
	case typeReasoning: // without the thought, a server would look for one that it has not stored
		p.kept = o.Encrypted != "" || len(o.Content) > 0
	case typeMessage:
		p.kept = true
		for _, c := range o.Content {
			if !p.shown {
				delta.Text += c.Text + c.Refusal
			}
		}
		p.shown = p.shown || delta.Text != ""
	}
	return delta, nil
}

// argumentsOf returns the arguments of a call as text.
func argumentsOf(raw json.RawMessage) string {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return textOf(raw)
}

// end ends the reply.
func (d *decoder) end(e *event) (llm.Delta, error) {
	if e.Response == nil {
		e.Response = &response{}
	}
	r := e.Response
	if r.Model != "" && !d.begun {
		d.model = r.Model
	}
	d.usage = usageOf(r.Usage)
	if err := transport.StreamError(r.Error); err != nil {
		return llm.Delta{}, err
	}
	switch {
	case e.Type == "response.failed" || r.Status == "failed":
		return llm.Delta{}, &llm.Error{Class: llm.ClassServer, Message: "the model stopped with an error"}
	case r.Status == "cancelled":
		return llm.Delta{}, &llm.Error{Class: llm.ClassTruncated}
	}
	var delta llm.Delta
	if len(d.pieces) == 0 { // the server has sent nothing before the end
		for i, raw := range r.Output {
			one, err := d.item(&event{Type: "response.output_item.done", Index: &i, Item: raw})
			if err != nil {
				return llm.Delta{}, err
			}
			delta.Text += one.Text
			delta.Pictures = append(delta.Pictures, one.Pictures...)
		}
	}
	delta.Calls, delta.Original = d.written()
	delta.Finish, delta.Usage = llm.FinishStop, d.usage
	switch {
	case e.Type == "response.incomplete" || r.Status == "incomplete":
		delta.Finish = llm.FinishLength
		if r.Incomplete.Reason == "content_filter" {
			delta.Finish = llm.FinishFiltered
		}
	case len(delta.Calls) > 0:
		delta.Finish = llm.FinishTools
	}
	d.finish = delta.Finish
	return delta, nil
}

// written returns the calls of the reply, and the reply as it goes back to the server, nil if it has no
// call or a call that is incomplete.
func (d *decoder) written() (calls []llm.FunctionCall, whole *llm.Original) {
	slices.SortStableFunc(d.pieces, func(a, b *piece) int { return a.index - b.index })
	var kept [][]byte
	complete := true
	for _, p := range d.pieces {
		if p.kind == typeCall {
			calls = append(calls, llm.FunctionCall{ID: p.callID, Name: p.name, Arguments: p.arguments.String()})
			complete = complete && p.whole != nil
		}
		if p.kept {
			kept = append(kept, p.whole)
		}
	}
	if len(calls) == 0 || !complete {
		return calls, nil
	}
	data := append(append([]byte("["), bytes.Join(kept, []byte(","))...), ']')
	return calls, &llm.Original{Writer: d.writer, Data: data}
}

// usageOf returns the server's count, nil if there is none.
func usageOf(raw json.RawMessage) *llm.Usage {
	var u *usage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u == nil {
		return nil
	}
	return &llm.Usage{Input: u.Input, Output: u.Output, Cached: u.In.Cached, Written: u.In.Written, Reasoning: u.Out.Reasoning, Cost: u.Cost}
}

// failureOf returns the error of an event that is one.
func failureOf(message string, code json.RawMessage) error {
	raw, err := json.Marshal(map[string]any{"message": message, "code": code})
	if err != nil || len(code) == 0 {
		raw, _ = json.Marshal(map[string]any{"message": message + " "})
	}
	return transport.StreamError(raw)
}
