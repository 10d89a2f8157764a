package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/text"
)

// event is an event of a stream. Fields that are not known are ignored.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Model string `json:"model"`
		Usage *usage `json:"usage"`
	} `json:"message"`
	Index int             `json:"index"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		start
		Input string `json:"partial_json"`
		ending
	} `json:"delta"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// reply is a reply that is not streamed.
type reply struct {
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Usage   *usage            `json:"usage"`
	ending
}

// start is a block as it begins.
type start struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of a thought that is not shown
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// ending is why a reply has ended.
type ending struct {
	Stop    sdk.StopReason `json:"stop_reason"`
	Details *struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// usage is the server's count of tokens. Input is only what was neither read from its cache nor written
// into it.
type usage struct {
	Input    int `json:"input_tokens"`
	Created  int `json:"cache_creation_input_tokens"`
	Read     int `json:"cache_read_input_tokens"`
	Output   int `json:"output_tokens"`
	Thinking struct {
		Tokens int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// decoder turns the events of one reply into deltas. The zero value with the first fields is ready.
type decoder struct {
	provider, model string
	writer          string // of the original
	thinks          bool   // the conversation has thoughts, so it needs the reply as it is written
	ignored         *transport.Ignored

	begun   bool // there was a delta
	started bool // there was an event of the protocol
	done    bool // there was the last event
	stop    sdk.StopReason
	why     string // the model refuses
	blocks  []*part
	from    int // the first block since the last pause
	bytes   int // of the blocks
	calls   int
	usage   *usage
	before  llm.Usage // until the last pause
}

// decode returns the delta of an event. It is empty if the event has no news. The stop reason and the usage
// are stored for last.
func (d *decoder) decode(data []byte) (delta llm.Delta, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return delta, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not an event", text.Clip(string(data), 80)), Err: err}
	}
	switch e.Type {
	case "message_start":
		d.begin(e)
	case "content_block_start":
		delta, err = d.open(e.Index, e.Block)
	case "content_block_delta":
		delta, err = d.add(e)
	case "content_block_stop", "ping":
	case "message_delta":
		d.end(e.Delta.ending, e.Usage)
	case "message_stop":
		d.done = true
	case "message":
		delta, err = d.whole(data)
	case "error":
		return delta, streamFailure(data)
	default:
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return delta, streamFailure(data)
		}
		if !d.started {
			return delta, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not an event", text.Clip(string(data), 80))}
		}
		d.ignored.Note("event", e.Type)
	}
	d.started = true
	if err == nil && !delta.Empty() && !d.begun {
		d.begun = true
		delta.Provider, delta.Model = d.provider, d.model
	}
	return delta, err
}

// begin begins a reply, or goes on with one that has paused.
func (d *decoder) begin(e event) {
	d.model = cmp.Or(e.Message.Model, d.model)
	d.count(e.Message.Usage)
}

// end records why the reply is complete.
func (d *decoder) end(e ending, used *usage) {
	d.stop = cmp.Or(e.Stop, d.stop)
	if e.Details != nil {
		d.why = e.Details.Explanation
	}
	d.count(used)
}

// count records a usage. Later ones have the whole of what they count.
func (d *decoder) count(used *usage) {
	if used == nil {
		return
	}
	if before := d.usage; before != nil {
		used.Input, used.Created, used.Read = cmp.Or(used.Input, before.Input), cmp.Or(used.Created, before.Created), cmp.Or(used.Read, before.Read)
		used.Output = cmp.Or(used.Output, before.Output)
	}
	d.usage = used
}

// whole reads a reply that is not streamed.
func (d *decoder) whole(data []byte) (all llm.Delta, err error) {
	var whole reply
	if err := json.Unmarshal(data, &whole); err != nil {
		return all, &llm.Error{Class: llm.ClassProtocol, Message: "the reply cannot be read", Err: err}
	}
	d.model = cmp.Or(whole.Model, d.model)
	for i, block := range whole.Content {
		delta, err := d.open(i, block)
		if err != nil {
			return all, err
		}
		all.Text, all.Reasoning, all.Calling = all.Text+delta.Text, all.Reasoning+delta.Reasoning, cmp.Or(delta.Calling, all.Calling)
	}
	d.end(whole.ending, whole.Usage)
	d.done = true
	return all, nil
}

// last returns the delta that ends a complete reply.
func (d *decoder) last() llm.Delta {
	delta := llm.Delta{Finish: finish(d.stop), Calls: d.functions()}
	if delta.Finish == llm.FinishFiltered && strings.TrimSpace(d.why) != "" {
		delta.Text = d.why
		if d.begun {
			delta.Text = "\n\n" + d.why
		}
	}
	if len(delta.Calls) > 0 {
		delta.Original = d.original()
		if delta.Finish == llm.FinishStop {
			delta.Finish = llm.FinishTools
		}
	}
	if d.usage != nil || d.before != (llm.Usage{}) {
		used := d.before.Add(d.used())
		delta.Usage = &used
	}
	if !d.begun {
		delta.Provider, delta.Model = d.provider, d.model
	}
	return delta
}

// finish returns why a reply ended, by the server's word for it.
func finish(stop sdk.StopReason) llm.FinishReason {
	switch stop {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded, sdk.StopReasonPauseTurn: // that pauses without end
		return llm.FinishLength
	case sdk.StopReasonRefusal:
		return llm.FinishFiltered
	case sdk.StopReasonToolUse:
		return llm.FinishTools
	}
	return llm.FinishStop
}

// used returns the usage since the last pause.
func (d *decoder) used() llm.Usage {
	if d.usage == nil {
		return llm.Usage{}
	}
	u := d.usage
	return llm.Usage{Input: u.Input + u.Created + u.Read, Output: u.Output, Cached: u.Read, Written: u.Created, Reasoning: u.Thinking.Tokens}
}

// pause returns the blocks since the last pause, to be sent back. They must not end in white space.
func (d *decoder) pause() (content []any) {
	blocks := d.blocks[d.from:]
	for i, b := range blocks {
		if i == len(blocks)-1 && b.start.Type == "text" {
			trimmed := &part{start: b.start}
			trimmed.text.WriteString(strings.TrimRight(b.text.String(), " \t\r\n"))
			b = trimmed
		}
		if raw := b.json(); raw != nil {
			content = append(content, raw)
		}
	}
	d.before, d.usage = d.before.Add(d.used()), nil
	d.from, d.stop, d.done = len(d.blocks), "", false
	return content
}

// functions returns the calls of the reply, in the order in which they began.
func (d *decoder) functions() (all []llm.FunctionCall) {
	for _, b := range d.blocks {
		if b.start.Type == "tool_use" {
			all = append(all, llm.FunctionCall{ID: b.start.ID, Name: b.start.Name, Arguments: b.arguments()})
		}
	}
	return all
}

// original returns the reply as it must go back: if the model has thought, now or before. It is nil if a
// call is not one.
func (d *decoder) original() *llm.Original {
	var content []json.RawMessage
	thinks := d.thinks
	for _, b := range d.blocks {
		switch b.start.Type {
		case "thinking", "redacted_thinking":
			thinks = true
		case "text", "tool_use":
		default:
			continue
		}
		raw := b.json()
		if raw == nil && b.start.Type == "tool_use" {
			return nil
		}
		if raw != nil {
			content = append(content, raw)
		}
	}
	data, err := json.Marshal(content)
	if err != nil || !thinks {
		return nil
	}
	return &llm.Original{Writer: d.writer, Data: data}
}

// part is a block of a reply.
type part struct {
	index     int
	start     start
	raw       json.RawMessage // as it began
	text      strings.Builder // of a text, a thought or the input of a call
	signature strings.Builder
}

// open begins a block. An index that comes again is another block.
func (d *decoder) open(index int, raw json.RawMessage) (delta llm.Delta, err error) {
	b := &part{index: index, raw: bytes.Clone(raw)}
	if err := json.Unmarshal(raw, &b.start); err != nil {
		return delta, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not a block", text.Clip(string(raw), 80)), Err: err}
	}
	switch b.start.Type {
	case "text":
		b.text.WriteString(b.start.Text)
		delta.Text = b.start.Text
	case "thinking":
		b.text.WriteString(b.start.Thinking)
		b.signature.WriteString(b.start.Signature)
		delta.Reasoning = b.start.Thinking
	case "redacted_thinking":
	case "tool_use":
		delta.Calling = cmp.Or(b.start.Name, "a function")
		if d.calls++; d.calls > llm.CallsLimit {
			return llm.Delta{}, endless(fmt.Sprintf("it has more than %d calls", llm.CallsLimit))
		}
	default:
		d.ignored.Note("block", b.start.Type)
	}
	d.blocks = append(d.blocks, b)
	return delta, d.grow(len(raw) + 64)
}

// add continues a block.
func (d *decoder) add(e event) (delta llm.Delta, err error) {
	b := d.block(e.Index)
	if b == nil {
		d.ignored.Note("piece of a block that has not begun", e.Delta.Type)
		return delta, nil
	}
	switch e.Delta.Type {
	case "text_delta":
		b.text.WriteString(e.Delta.Text)
		delta.Text = e.Delta.Text
	case "thinking_delta":
		b.text.WriteString(e.Delta.Thinking)
		delta.Reasoning = e.Delta.Thinking
	case "signature_delta":
		b.signature.WriteString(e.Delta.Signature)
	case "input_json_delta":
		b.text.WriteString(e.Delta.Input)
		if b.start.Type == "tool_use" {
			delta.Calling, delta.CallText = cmp.Or(b.start.Name, "a function"), e.Delta.Input
		}
	case "citations_delta":
	default:
		d.ignored.Note("piece of a block", e.Delta.Type)
	}
	return delta, d.grow(len(e.Delta.Text) + len(e.Delta.Thinking) + len(e.Delta.Signature) + len(e.Delta.Input))
}

// block returns the last block with an index since the last pause, nil without one.
func (d *decoder) block(index int) *part {
	for i := len(d.blocks) - 1; i >= d.from; i-- {
		if d.blocks[i].index == index {
			return d.blocks[i]
		}
	}
	return nil
}

// grow counts bytes of the reply. The bound is twice that of what is passed on, because the thoughts are in
// the original too.
func (d *decoder) grow(bytes int) error {
	if d.bytes += bytes; d.bytes > 2*llm.ReplyLimit {
		return endless(fmt.Sprintf("it is longer than %d kB", 2*llm.ReplyLimit/1000))
	}
	return nil
}

func endless(message string) error { return &llm.Error{Class: llm.ClassEndless, Message: message} }

// arguments returns the input of a call: the pieces, or what it began with if there are none.
func (b *part) arguments() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}
	if begun := strings.TrimSpace(string(b.start.Input)); begun != "" && begun != "null" {
		return begun
	}
	return "{}"
}

// json returns the block as it is sent back, nil if it cannot be.
func (b *part) json() json.RawMessage {
	var fields map[string]any
	switch b.start.Type {
	case "text":
		if strings.TrimSpace(b.text.String()) == "" {
			return nil
		}
		fields = map[string]any{"text": b.text.String()}
	case "thinking":
		fields = map[string]any{"thinking": b.text.String(), "signature": b.signature.String()}
	case "redacted_thinking":
		fields = map[string]any{"data": b.start.Data}
	case "tool_use", "server_tool_use":
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(b.arguments()), &object) != nil || object == nil {
			return nil
		}
		fields = map[string]any{"id": b.start.ID, "name": b.start.Name, "input": json.RawMessage(b.arguments())}
	default:
		return b.raw
	}
	fields["type"] = b.start.Type
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(fields) != nil {
		return nil
	}
	return bytes.TrimSpace(encoded.Bytes())
}
