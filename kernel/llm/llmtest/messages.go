package llmtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// messageReply is a reply in the form of Anthropic's Messages.
type messageReply struct{ *playback }

// streamMessages sends the reply as the events of Anthropic's Messages.
func streamMessages(ctx context.Context, of *playback) error {
	p := messageReply{of}
	e := p.exchange
	if err := p.write(ctx, strings.Repeat(": keep-alive"+p.lineEnd(), e.KeepAlives)+strings.Repeat(p.lineEnd(), e.BlankLines)); err != nil {
		return err
	}
	used := p.messagesUsage()
	begun := map[string]any{"id": "msg_test", "type": "message", "role": "assistant", "model": "test-model", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": used}
	if err := p.typed(ctx, "message_start", map[string]any{"message": begun}); err != nil {
		return err
	}
	if err := p.typed(ctx, "ping", map[string]any{}); err != nil {
		return err
	}
	for index, b := range p.blocks() {
		if err := p.block(ctx, index, b); err != nil {
			return err
		}
	}
	p.sentWhole = true
	if len(e.Error) > 0 {
		return p.typed(ctx, "error", map[string]any{"error": e.Error})
	}
	if e.Finish != "none" {
		end := map[string]any{"delta": p.stop(), "usage": used}
		if e.NoUsage {
			end["usage"] = map[string]any{"output_tokens": 0}
		}
		if err := p.typed(ctx, "message_delta", end); err != nil {
			return err
		}
	}
	if !e.NoDone {
		if err := p.typed(ctx, "message_stop", map[string]any{}); err != nil {
			return err
		}
	}
	return p.hangAtEnd(ctx)
}

// contentBlock is a block of a reply: as it begins, and the pieces that follow.
type contentBlock struct {
	start  map[string]any
	pieces []map[string]any
	faults bool // the pieces count for the faults of the script
}

// blocks returns the blocks of the reply.
func (p messageReply) blocks() (all []contentBlock) {
	e := p.exchange
	switch {
	case e.Redacted:
		all = append(all, contentBlock{start: map[string]any{"type": "redacted_thinking", "data": redacted(e.Reasoning)}})
	case e.Reasoning != "" || e.Unshown:
		b := contentBlock{start: map[string]any{"type": "thinking", "thinking": "", "signature": ""}}
		if !e.Unshown {
			for piece := range p.cutText(e.Reasoning) {
				b.pieces = append(b.pieces, map[string]any{"type": "thinking_delta", "thinking": piece})
			}
		}
		thought := e.Reasoning
		if e.Unshown {
			thought = ""
		}
		b.pieces = append(b.pieces, map[string]any{"type": "signature_delta", "signature": signature(thought, messagesOf(p.received).before(-1))})
		all = append(all, b)
	}
	if text := p.reply(); text != "" || len(e.Calls) == 0 {
		b := contentBlock{start: map[string]any{"type": "text", "text": ""}, faults: true}
		for piece := range p.cutText(text) {
			b.pieces = append(b.pieces, map[string]any{"type": "text_delta", "text": piece})
		}
		all = append(all, b)
	}
	for _, c := range e.Calls {
		b := contentBlock{start: map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}}
		half := len(c.Arguments) / 2
		for _, piece := range []string{"", c.Arguments[:half], c.Arguments[half:]} {
			b.pieces = append(b.pieces, map[string]any{"type": "input_json_delta", "partial_json": piece})
		}
		all = append(all, b)
	}
	return all
}

// block sends a block.
func (p messageReply) block(ctx context.Context, index int, b contentBlock) error {
	if err := p.typed(ctx, "content_block_start", map[string]any{"index": index, "content_block": b.start}); err != nil {
		return err
	}
	for sent, piece := range b.pieces {
		if b.faults {
			if err := p.fault(ctx, sent); err != nil {
				return err
			}
		}
		if err := wait(ctx, time.Duration(p.exchange.Delay)); err != nil {
			return err
		}
		if text, ok := piece["text"].(string); ok {
			piece["text"] = p.stamped(text)
		}
		if err := p.typed(ctx, "content_block_delta", map[string]any{"index": index, "delta": piece}); err != nil {
			return err
		}
	}
	if b.faults {
		if err := p.fault(ctx, len(b.pieces)); err != nil {
			return err
		}
	}
	return p.typed(ctx, "content_block_stop", map[string]any{"index": index})
}

// typed sends an event with its type.
func (p messageReply) typed(ctx context.Context, kind string, fields map[string]any) error {
	fields["type"] = kind
	encoded, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := p.write(ctx, "event: "+kind+p.lineEnd()); err != nil {
		return err
	}
	return p.line(ctx, "data: "+string(encoded))
}

// stop returns why the reply ended.
func (p messageReply) stop() map[string]any {
	stop := map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}
	switch {
	case p.exchange.Finish != "":
		stop["stop_reason"] = p.exchange.Finish
	case len(p.exchange.Calls) > 0:
		stop["stop_reason"] = "tool_use"
	}
	if stop["stop_reason"] == "refusal" {
		stop["stop_details"] = map[string]any{"type": "refusal", "category": nil, "explanation": p.exchange.Refusal}
	}
	return stop
}

// wholeMessage returns the reply as one object.
func wholeMessage(of *playback) map[string]any {
	p := messageReply{of}
	var content []any
	for _, b := range p.blocks() {
		for _, piece := range b.pieces {
			for _, field := range []string{"text", "thinking", "signature"} {
				if text, ok := piece[field].(string); ok {
					b.start[field] = b.start[field].(string) + text
				}
			}
		}
		content = append(content, b.start)
	}
	for i, c := range p.exchange.Calls {
		content[len(content)-len(p.exchange.Calls)+i].(map[string]any)["input"] = json.RawMessage(c.Arguments)
	}
	whole := p.stop()
	for name, value := range map[string]any{"id": "msg_test", "type": "message", "role": "assistant", "model": "test-model", "content": content, "usage": p.messagesUsage()} {
		whole[name] = value
	}
	return whole
}

// messagesUsage returns the script's usage, or counts a token for every four bytes.
func (p messageReply) messagesUsage() any {
	if len(p.exchange.Usage) > 0 {
		return p.exchange.Usage
	}
	counted := p.cached
	return map[string]any{"input_tokens": counted.fresh / 4, "cache_creation_input_tokens": counted.created / 4,
		"cache_read_input_tokens": counted.read / 4, "output_tokens": (len(p.reply()) + 3) / 4}
}

// The window of every model in tokens, and how long its replies may be.
const (
	messagesWindow = 200_000
	messagesReply  = 64_000
)

// listMessagesModels answers GET /models in Anthropic's form, in pages. Ollama has that list in OpenAI's form only.
func listMessagesModels(s *Server, w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/models") || r.Header.Get("Anthropic-Version") == "" || s.ollama != nil {
		return false
	}
	s.mu.Lock()
	models := slices.Clone(s.models)
	s.mu.Unlock()
	limit := 20
	if asked := r.URL.Query().Get("limit"); asked != "" {
		var err error
		if limit, err = strconv.Atoi(asked); err != nil || limit < 1 || limit > 1000 {
			refuseMessage(w, http.StatusBadRequest, "limit: Input should be from 1 to 1000")
			return true
		}
	}
	if after := slices.Index(models, r.URL.Query().Get("after_id")); after >= 0 {
		models = models[after+1:]
	}
	page := models[:min(limit, len(models))]
	data := []any{}
	for _, id := range page {
		data = append(data, map[string]any{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z",
			"max_input_tokens": messagesWindow, "max_tokens": messagesReply})
	}
	list := map[string]any{"data": data, "has_more": len(page) < len(models), "first_id": nil, "last_id": nil}
	if len(page) > 0 {
		list["first_id"], list["last_id"] = page[0], page[len(page)-1]
	}
	writeJSON(w, http.StatusOK, list)
	return true
}

// refuseMessage answers with an error in Anthropic's form.
func refuseMessage(w http.ResponseWriter, status int, message string) {
	kind := "invalid_request_error"
	if status == http.StatusNotFound {
		kind = "not_found_error"
	}
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

// signature returns the signature of a thought. Like the real one it is bound to the conversation before
// the thought.
func signature(thought, before string) string {
	hash, bound := sha256.Sum256([]byte("thought "+thought)), sha256.Sum256([]byte(before+" thought "+thought))
	return hex.EncodeToString(hash[:]) + "." + hex.EncodeToString(bound[:])
}

// redacted returns a thought that only the server can read.
func redacted(thought string) string {
	hash := sha256.Sum256([]byte("redacted " + thought))
	return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(hash[:]) + "." + thought))
}
