package reply

import (
	"context"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
)

// preview shows an incomplete reply as far as the gate would let it pass. Each batch is the proposal
// with the text so far. Of plain text that is the answer with it. The first refusal or rewriting stops the preview until the whole action is
// verified. While no client shows previews, nothing is checked. A client that connects later gets all
// of the text with the next batch.
type preview struct {
	gate    Gate
	screen  Screen
	on      bool
	stream  plist.Stream
	shown   int  // bytes of text in the last batch
	plainly bool // plain text is an answer: answer returns the action
	answer  func(text string) action.Proposed
	plain   bool // the last batch was plain text
}

// write adds a part of the reply.
func (p *preview) write(text string) {
	if p.on {
		p.stream.Write(text)
	}
}

// flush verifies and shows the text so far, and returns how many bytes are new since the last batch.
func (p *preview) flush(ctx context.Context) (added int) {
	if !p.on {
		return 0
	}
	proposal, begun := p.stream.Proposal()
	text, plain := p.stream.Text(), false
	if !begun && p.plainly {
		if text = p.stream.Prose(); text != "" {
			proposal, begun, plain = p.answer(text).List(), true, true
		}
	}
	if !begun || len(text) == p.shown && plain == p.plain || strings.TrimSpace(text) == "" || !p.screen.Streams() {
		return 0
	}
	added, p.shown, p.plain = max(len(text)-p.shown, 0), len(text), plain
	if p.on = p.gate.Previews(ctx, proposal); p.on {
		p.screen.Preview(text)
	}
	return added
}

// finish shows the rest of a complete reply. Plain text before a proposal is no answer and is removed.
func (p *preview) finish(ctx context.Context) {
	p.flush(ctx)
	if p.plain && p.stream.Prose() == "" {
		p.screen.Retract()
	}
}
