package reply

import (
	"context"
	"strings"

	"org-agent/kernel/plist"
)

// preview shows a reply while it is written, and nothing that the gate would not let pass: each batch is
// the proposal with the text so far. The first refusal or rewriting
// stops the preview until the whole action is verified. While no client shows previews nothing is
// checked; a client that comes later is shown all of the text with the next batch.
type preview struct {
	gate   Gate
	screen Screen
	on     bool
	stream plist.Stream
	shown  int // bytes of text in the last batch that was shown
}

// write takes more of the reply.
func (p *preview) write(text string) {
	if p.on {
		p.stream.Write(text)
	}
}

// flush verifies and shows what has come since the last batch, and returns how many bytes
// were new.
func (p *preview) flush(ctx context.Context) (came int) {
	if !p.on {
		return 0
	}
	proposal, begun := p.stream.Proposal()
	text := p.stream.Text()
	if !begun || len(text) == p.shown || strings.TrimSpace(text) == "" || !p.screen.Streams() {
		return 0
	}
	came, p.shown = max(len(text)-p.shown, 0), len(text)
	if p.on = p.gate.Previews(ctx, proposal); p.on {
		p.screen.Preview(text)
	}
	return came
}
