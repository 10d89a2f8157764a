package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer is a reply as the events of OpenAI's Responses API while it is sent.
type answer struct {
	*playback
	sequence int
	output   []any // the items that are complete
	begun    int   // items
}

// streamResponse sends the reply as the events of OpenAI's Responses API.
func streamResponse(ctx context.Context, p *playback) error {
	a := &answer{playback: p}
	e := p.exchange
	if err := p.write(ctx, strings.Repeat(": keep-alive"+p.lineEnd(), e.KeepAlives)+strings.Repeat(p.lineEnd(), e.BlankLines)); err != nil {
		return err
	}
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := a.send(ctx, kind, map[string]any{"response": a.state("in_progress", nil)}); err != nil {
			return err
		}
	}
	if e.Unknown != "" {
		if err := a.send(ctx, e.Unknown, map[string]any{"output_index": 0}); err != nil {
			return err
		}
	}
	if e.Reasoning != "" {
		if err := a.thought(ctx); err != nil {
			return err
		}
	}
	if text := p.reply(); text != "" || len(e.Calls) == 0 {
		if err := a.message(ctx, text); err != nil {
			return err
		}
	}
	for i, c := range e.Calls {
		if err := a.call(ctx, i, c); err != nil {
			return err
		}
	}
	if err := a.end(ctx); err != nil {
		return err
	}
	return p.hangAtEnd(ctx)
}

// send sends an event.
func (a *answer) send(ctx context.Context, kind string, fields map[string]any) error {
	fields["type"], fields["sequence_number"] = kind, a.sequence
	a.sequence++
	encoded, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return a.sendRaw(ctx, kind, string(encoded))
}

func (a *answer) sendRaw(ctx context.Context, kind, data string) error {
	if !a.exchange.NoBlank {
		if err := a.write(ctx, "event: "+kind+a.lineEnd()); err != nil {
			return err
		}
	}
	return a.line(ctx, "data: "+data)
}

// item begins an item, sends what it consists of, and ends it. complete returns the item at its end.
func (a *answer) item(ctx context.Context, begun map[string]any, inner func(index int) error, complete func() map[string]any) error {
	index := a.begun
	a.begun++
	if err := a.send(ctx, "response.output_item.added", map[string]any{"output_index": index, "item": begun}); err != nil {
		return err
	}
	if err := inner(index); err != nil {
		return err
	}
	item := complete()
	a.output = append(a.output, item)
	return a.send(ctx, "response.output_item.done", map[string]any{"output_index": index, "item": item})
}

// id returns the id of the item that begins now. Like a real one it is unique within a conversation.
func (a *answer) id(kind string) string {
	hash := sha256.Sum256(a.received.Body)
	return fmt.Sprintf("%s_%s%d", kind, hex.EncodeToString(hash[:6]), a.begun)
}

// thought sends the reasoning: a summary, and all of it encrypted if the request wants that.
func (a *answer) thought(ctx context.Context) error {
	id, text := a.id("rs"), a.exchange.Reasoning
	summary := []any{map[string]any{"type": "summary_text", "text": text}}
	at := func(index int, fields map[string]any) map[string]any {
		fields["item_id"], fields["output_index"], fields["summary_index"] = id, index, 0
		return fields
	}
	return a.item(ctx, map[string]any{"id": id, "type": "reasoning", "summary": []any{}}, func(index int) error {
		if err := a.send(ctx, "response.reasoning_summary_part.added", at(index, map[string]any{"part": map[string]any{"type": "summary_text", "text": ""}})); err != nil {
			return err
		}
		for piece := range a.cutText(text) {
			if err := a.send(ctx, "response.reasoning_summary_text.delta", at(index, map[string]any{"delta": piece})); err != nil {
				return err
			}
		}
		if err := a.send(ctx, "response.reasoning_summary_text.done", at(index, map[string]any{"text": text})); err != nil {
			return err
		}
		return a.send(ctx, "response.reasoning_summary_part.done", at(index, map[string]any{"part": summary[0]}))
	}, func() map[string]any {
		item := map[string]any{"id": id, "type": "reasoning", "summary": summary}
		if w, err := readResponsesRequest(a.received.Body); err == nil && len(w.Include) > 0 {
			following := ""
			if len(a.exchange.Calls) > 0 && a.reply() == "" {
				following = a.exchange.Calls[0].ID
			}
			item["encrypted_content"] = encrypted(w.Model, id, following)
		}
		return item
	})
}

// encrypted returns the thinking of an item as only the server could read it. It says which model thought
// it, and which call came of it, "" if a message did.
func encrypted(model, id, following string) string {
	payload := strings.Join([]string{model, id, following}, "\n")
	hash := sha256.Sum256([]byte("encrypted " + payload))
	return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(hash[:]) + "\n" + payload))
}

// decrypted returns what encrypted was given. ok is false for anything else.
func decrypted(text string) (model, id, following string, ok bool) {
	content, err := base64.StdEncoding.DecodeString(text)
	parts := strings.Split(string(content), "\n")
	if err != nil || len(parts) != 4 || encrypted(parts[1], parts[2], parts[3]) != text {
		return "", "", "", false
	}
	return parts[1], parts[2], parts[3], true
}

// message sends the text.
func (a *answer) message(ctx context.Context, text string) error {
	id, field, kind := a.id("msg"), "text", "output_text"
	if a.exchange.Refused {
		field, kind = "refusal", "refusal"
	}
	at := func(index int, fields map[string]any) map[string]any {
		fields["item_id"], fields["output_index"], fields["content_index"] = id, index, 0
		return fields
	}
	part := func(text string) map[string]any {
		if a.exchange.Refused {
			return map[string]any{"type": kind, field: text}
		}
		return map[string]any{"type": kind, field: text, "annotations": []any{}, "logprobs": []any{}}
	}
	return a.item(ctx, map[string]any{"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}, func(index int) error {
		if err := a.send(ctx, "response.content_part.added", at(index, map[string]any{"part": part("")})); err != nil {
			return err
		}
		sent := 0
		for piece := range a.cutText(text) {
			if err := a.fault(ctx, sent); err != nil {
				return err
			}
			if err := wait(ctx, time.Duration(a.exchange.Delay)); err != nil {
				return err
			}
			if a.exchange.Stamp {
				piece = strings.ReplaceAll(piece, StampPlace, fmt.Sprintf("%013d", time.Now().UnixMilli()))
			}
			// The JSON is built by hand, because the piece may be half a character.
			head := fmt.Sprintf(`{"type":"response.%s.delta","sequence_number":%d,"item_id":%q,"output_index":%d,"content_index":0,"logprobs":[],"delta":`, kind, a.sequence, id, index)
			a.sequence++
			if err := a.sendRaw(ctx, "response."+kind+".delta", head+quoteRaw(piece)+"}"); err != nil {
				return err
			}
			sent++
		}
		if err := a.fault(ctx, sent); err != nil {
			return err
		}
		if err := a.send(ctx, "response."+kind+".done", at(index, map[string]any{field: text})); err != nil {
			return err
		}
		return a.send(ctx, "response.content_part.done", at(index, map[string]any{"part": part(text)}))
	}, func() map[string]any {
		return map[string]any{"id": id, "type": "message", "role": "assistant", "status": "completed", "content": []any{part(text)}}
	})
}

// errStopped ends a reply in the middle of a call.
var errStopped = fmt.Errorf("%w: stopped in the middle of a call", errCut)

// call sends a call. The last call of a reply that runs into its limit is cut off in its arguments.
func (a *answer) call(ctx context.Context, at int, c Call) error {
	id := a.id("fc")
	call := func(arguments, status string) map[string]any {
		return map[string]any{"id": id, "type": "function_call", "status": status, "call_id": c.ID, "name": c.Name, "arguments": arguments}
	}
	half := len(c.Arguments) / 2
	err := a.item(ctx, call("", "in_progress"), func(index int) error {
		for _, piece := range []string{c.Arguments[:half], c.Arguments[half:]} {
			if err := a.send(ctx, "response.function_call_arguments.delta", map[string]any{"item_id": id, "output_index": index, "delta": piece}); err != nil {
				return err
			}
			if a.exchange.Finish == "length" && at == len(a.exchange.Calls)-1 {
				return errStopped
			}
		}
		return a.send(ctx, "response.function_call_arguments.done", map[string]any{"item_id": id, "output_index": index, "name": c.Name, "arguments": c.Arguments})
	}, func() map[string]any { return call(c.Arguments, "completed") })
	if err == errStopped {
		return nil
	}
	return err
}

// end sends the event that ends the reply.
func (a *answer) end(ctx context.Context) error {
	a.sentWhole = true
	e := a.exchange
	if len(e.Error) > 0 {
		if e.Finish == "failed" {
			state := a.state("failed", nil)
			state["error"] = e.Error
			return a.send(ctx, "response.failed", map[string]any{"response": state})
		}
		fields := map[string]any{}
		if err := json.Unmarshal(e.Error, &fields); err != nil {
			return err
		}
		return a.send(ctx, "error", fields)
	}
	var usage any
	if !e.NoUsage {
		usage = a.responseUsage()
	}
	switch e.Finish {
	case "none":
		return nil
	case "length", "content_filter":
		state := a.state("incomplete", usage)
		reason := e.Finish
		if reason == "length" {
			reason = "max_output_tokens"
		}
		state["incomplete_details"] = map[string]any{"reason": reason}
		return a.send(ctx, "response.incomplete", map[string]any{"response": state})
	}
	return a.send(ctx, "response.completed", map[string]any{"response": a.state("completed", usage)})
}

// state returns the reply so far, as events have it.
func (a *answer) state(status string, usage any) map[string]any {
	output := a.output
	if output == nil {
		output = []any{}
	}
	return map[string]any{"id": "resp_test", "object": "response", "status": status, "model": "test-model", "output": output, "usage": usage,
		"error": nil, "incomplete_details": nil, "store": false}
}

// wholeResponse returns the reply as one object.
func wholeResponse(p *playback) map[string]any {
	a := &answer{playback: p}
	content := []any{map[string]any{"type": "output_text", "text": p.reply(), "annotations": []any{}}}
	a.output = append(a.output, map[string]any{"id": a.id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": content})
	for _, c := range p.exchange.Calls {
		a.begun++
		a.output = append(a.output, map[string]any{"id": a.id("fc"), "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	return a.state("completed", a.responseUsage())
}

// responseUsage returns the script's usage, or counts a token for every four bytes. Cached are those of the
// longest beginning that an earlier request had, too.
func (a *answer) responseUsage() any {
	if len(a.exchange.Usage) > 0 {
		return a.exchange.Usage
	}
	prompt, cached := promptOf(a.received.Body), 0
	for _, earlier := range a.earlier {
		cached = max(cached, a.received.Shared(earlier))
	}
	output, thought := (len(a.reply())+3)/4, (len(a.exchange.Reasoning)+3)/4
	for _, c := range a.exchange.Calls {
		output += (len(c.Arguments) + 3) / 4
	}
	input := (len(prompt) + 3) / 4
	return map[string]any{
		"input_tokens": input, "input_tokens_details": map[string]any{"cached_tokens": cached / 4},
		"output_tokens": output + thought, "output_tokens_details": map[string]any{"reasoning_tokens": thought}, "total_tokens": input + output + thought,
	}
}

// Shared returns how many bytes of a prompt are the beginning of an earlier one, too, for protocols in which
// servers cache beginnings unasked. The whole of an earlier one is earlier.Shared(earlier).
func (r Received) Shared(earlier Received) int {
	return commonPrefix(promptOf(r.Body), promptOf(earlier.Body))
}

// promptOf returns the parts of a request that the model reads, in the order in which it reads them.
func promptOf(body []byte) string {
	var w struct {
		Instructions, Model    string
		Tools, Input, Messages []json.RawMessage
	}
	if json.Unmarshal(body, &w) != nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(w.Model)
	for _, t := range w.Tools {
		b.Write(t)
	}
	b.WriteString(w.Instructions)
	for _, item := range append(w.Input, w.Messages...) {
		b.WriteByte('\n')
		b.Write(item)
	}
	return b.String()
}

// commonPrefix returns the length of the longest common beginning of two texts.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// refuseResponse answers with an error in OpenAI's form. A message may begin with its code and a colon.
func refuseResponse(w http.ResponseWriter, status int, message string) {
	fields := map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code, rest, ok := strings.Cut(message, ": "); ok && !strings.ContainsAny(code, " '") {
		fields["code"], fields["message"] = code, rest
	}
	writeJSON(w, status, map[string]any{"error": fields})
}

// inputMessages returns the messages of a request by the Responses API, nil for another.
func (r Received) inputMessages() []Message {
	if !bytes.Contains(r.Body, []byte(`"input"`)) {
		return nil
	}
	w, err := readResponsesRequest(r.Body)
	if err != nil || len(w.Input) == 0 {
		return nil
	}
	var messages []Message
	if w.Instructions != "" {
		messages = append(messages, Message{Role: "system", Content: w.Instructions})
	}
	for _, raw := range w.Input {
		var i inputItem
		if json.Unmarshal(raw, &i) != nil {
			continue
		}
		switch i.Type {
		case "", "message":
			messages = append(messages, i.message())
		case "function_call":
			messages = append(messages, Message{Role: "assistant", Content: i.Name + " " + i.Arguments})
		case "function_call_output":
			m := Message{Role: "tool"}
			if json.Unmarshal(i.Output, &m.Content) == nil {
				messages = append(messages, m)
			}
		}
	}
	return messages
}
