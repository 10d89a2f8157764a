package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"
)

// playback is one exchange on its way to one client.
type playback struct {
	exchange  Exchange
	wire      wire
	w         http.ResponseWriter
	received  Received
	cached    cached
	ollama    *Ollama    // see [ServerScript].Ollama
	earlier   []Received // the requests before it
	sentWhole bool       // all of the reply was sent; the client may leave before the end of the stream
}

// errCut is the error for a connection that the script closes.
var errCut = errors.New("cut by the script")

// run answers the request. It returns an error when the client left before the
// end of the answer.
func (p *playback) run(ctx context.Context) error {
	e := p.exchange
	if err := wait(ctx, time.Duration(e.FirstDelay)); err != nil {
		return err
	}
	for name, value := range e.Headers {
		p.w.Header().Set(name, value)
	}
	if (e.Status != 0 && e.Status != http.StatusOK) || e.Body != "" || e.BodySize > 0 {
		if err := p.sendBody(); err != nil {
			return err
		}
		return p.hangAtEnd(ctx)
	}
	if e.Whole {
		writeJSON(p.w, http.StatusOK, p.wire.whole(p))
		return nil
	}
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", cmp.Or(p.wire.media, "text/event-stream"))
	}
	p.w.WriteHeader(http.StatusOK)
	err := p.wire.stream(ctx, p)
	if errors.Is(err, errCut) {
		p.cut()
		return nil
	}
	return err
}

// sendBody answers with a status and a body as they are.
func (p *playback) sendBody() error {
	e := p.exchange
	p.w.WriteHeader(max(e.Status, http.StatusOK))
	if _, err := io.WriteString(p.w, e.Body); err != nil {
		return err
	}
	blanks := bytes.Repeat([]byte(" "), 32<<10)
	for left := e.BodySize - len(e.Body); left > 0; left -= len(blanks) {
		if _, err := p.w.Write(blanks[:min(left, len(blanks))]); err != nil {
			return err
		}
	}
	return nil
}

// streamChat sends the reply as events.
func streamChat(ctx context.Context, p *playback) error {
	e := p.exchange
	if err := p.write(ctx, strings.Repeat(": keep-alive"+p.lineEnd(), e.KeepAlives)+strings.Repeat(p.lineEnd(), e.BlankLines)); err != nil {
		return err
	}
	if err := p.event(ctx, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": ""}, "finish_reason": nil}}}); err != nil {
		return err
	}
	field := e.ReasoningField
	if field == "" {
		field = "reasoning_content"
	}
	if err := p.deltas(ctx, field, e.Reasoning, false); err != nil {
		return err
	}
	if err := p.deltas(ctx, "content", p.reply(), true); err != nil {
		return err
	}
	if err := p.calls(ctx); err != nil {
		return err
	}
	if err := p.end(ctx); err != nil {
		return err
	}
	return p.hangAtEnd(ctx)
}

// hangAtEnd keeps the connection open after the end, if the script says so.
func (p *playback) hangAtEnd(ctx context.Context) error {
	if !p.exchange.HangAtEnd {
		return nil
	}
	if err := http.NewResponseController(p.w).Flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// deltas sends text in pieces. If faults is true, it counts them for the faults of the script.
func (p *playback) deltas(ctx context.Context, field, text string, faults bool) error {
	e := p.exchange
	sent := 0
	for piece := range p.cutText(text) {
		if faults {
			if err := p.fault(ctx, sent); err != nil {
				return err
			}
		}
		if err := wait(ctx, time.Duration(e.Delay)); err != nil {
			return err
		}
		piece = p.stamped(piece)
		// The JSON is built by hand, because the piece may be half a character.
		head := fmt.Sprintf(`{"id":"test","object":"chat.completion.chunk","model":"test-model","choices":[{"index":0,"delta":{%q:`, field)
		if err := p.line(ctx, "data: "+head+quoteRaw(piece)+`},"finish_reason":null}]}`); err != nil {
			return err
		}
		sent++
	}
	if faults {
		return p.fault(ctx, sent)
	}
	return nil
}

// stamped returns a piece with the time in its place, if the script says so.
func (p *playback) stamped(piece string) string {
	if !p.exchange.Stamp {
		return piece
	}
	return strings.ReplaceAll(piece, StampPlace, fmt.Sprintf("%013d", time.Now().UnixMilli()))
}

// fault performs the script's fault for this number of deltas, if there is one.
func (p *playback) fault(ctx context.Context, sent int) error {
	due := func(after int) bool { return after > 0 && after == sent || after < 0 && sent == 0 }
	switch {
	case due(p.exchange.CutAfter):
		return errCut
	case due(p.exchange.HangAfter):
		return p.hang(ctx)
	}
	return nil
}

// hang sends nothing until the client leaves, or until the file of the script exists.
func (p *playback) hang(ctx context.Context) error {
	if p.exchange.Until == "" {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for {
		if _, err := os.Stat(p.exchange.Until); err == nil {
			return nil
		}
		if err := wait(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// end sends the events after the last delta.
func (p *playback) end(ctx context.Context) error {
	e := p.exchange
	p.sentWhole = true
	if len(e.Error) > 0 {
		return p.event(ctx, map[string]any{"error": e.Error})
	}
	if e.Finish != "none" {
		if err := p.event(ctx, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": p.finish()}}}); err != nil {
			return err
		}
	}
	if !e.NoUsage {
		if err := p.event(ctx, map[string]any{"choices": []any{}, "usage": p.usage()}); err != nil {
			return err
		}
	}
	if e.NoDone {
		return nil
	}
	return p.line(ctx, "data: [DONE]")
}

// event sends an object as an event.
func (p *playback) event(ctx context.Context, fields map[string]any) error {
	fields["id"], fields["object"], fields["model"] = "test", "chat.completion.chunk", "test-model"
	encoded, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return p.line(ctx, "data: "+string(encoded))
}

// line sends a line of an event, and the blank line after it.
func (p *playback) line(ctx context.Context, text string) error {
	end := p.lineEnd()
	if !p.exchange.NoBlank {
		end += end
	}
	return p.write(ctx, text+end)
}

func (p *playback) lineEnd() string {
	if p.exchange.CRLF {
		return "\r\n"
	}
	return "\n"
}

// write sends bytes at once, a few at a time if the script says so.
func (p *playback) write(ctx context.Context, text string) error {
	step := p.exchange.WireChunk
	if step <= 0 {
		step = max(len(text), 1)
	}
	for len(text) > 0 {
		n := min(step, len(text))
		if _, err := io.WriteString(p.w, text[:n]); err != nil {
			return err
		}
		if err := http.NewResponseController(p.w).Flush(); err != nil {
			return err
		}
		text = text[n:]
	}
	return ctx.Err()
}

// cut closes the connection in the middle of the answer.
func (p *playback) cut() {
	connection, _, err := http.NewResponseController(p.w).Hijack()
	if err == nil {
		connection.Close()
	}
}

// reply returns the text to be streamed.
func (p *playback) reply() string {
	text := p.exchange.Reply
	if p.exchange.Echo {
		text = p.received.last()
	}
	text = strings.NewReplacer(p.exchange.Replace...).Replace(text)
	return strings.Repeat(text, max(p.exchange.Repeat, 1))
}

// wholeChat returns the reply as one object.
func wholeChat(p *playback) map[string]any {
	message := map[string]any{"role": "assistant", "content": p.reply()}
	if len(p.exchange.Calls) > 0 {
		var calls []any
		for _, c := range p.exchange.Calls {
			calls = append(calls, CallsWhole.pieces(0, c)[0])
		}
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": "test", "object": "chat.completion", "model": "test-model", "usage": p.usage(),
		"choices": []any{map[string]any{"index": 0, "finish_reason": p.finish(), "message": message}},
	}
}

func (p *playback) finish() string {
	if p.exchange.Finish != "" {
		return p.exchange.Finish
	}
	if len(p.exchange.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// usage returns the script's usage, or counts a token for every four bytes.
func (p *playback) usage() any {
	if len(p.exchange.Usage) > 0 {
		return p.exchange.Usage
	}
	input, output := p.ollama.read(p.received.Messages()), (len(p.reply())+3)/4
	return map[string]any{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}
}

// cutText returns the pieces of a text.
func (p *playback) cutText(text string) iter.Seq[string] {
	if n := p.exchange.ChunkBytes; n > 0 {
		return func(yield func(string) bool) {
			for len(text) > 0 {
				end := min(n, len(text))
				if !yield(text[:end]) {
					return
				}
				text = text[end:]
			}
		}
	}
	n := p.exchange.Chunk
	if n <= 0 {
		n = 16
	}
	return pieces(text, n)
}

// quoteRaw writes a JSON string whose bytes need not be UTF-8.
func quoteRaw(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
