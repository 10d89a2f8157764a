package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
)

// streamGate shows a reply while it is written, and nothing that skill and policy would not pass: each
// batch is the proposal with the text so far, and goes through both. The first refusal or rewriting
// stops the preview until the whole action is verified. While no client shows previews nothing is
// checked; a client that comes later is shown all of the text with the next batch.
type streamGate struct {
	run    *run
	on     bool
	stream plist.Stream
	shown  int // bytes of text in the last batch that was shown
}

// write takes more of the reply.
func (p *streamGate) write(text string) {
	if p.on {
		p.stream.Write(text)
	}
}

// flush verifies and shows what has come since the last batch, and returns how many bytes
// were new.
func (p *streamGate) flush(ctx context.Context) (came int) {
	if !p.on {
		return 0
	}
	proposal, begun := p.stream.Proposal()
	text := p.stream.Text()
	if !begun || len(text) == p.shown || blank(text) || !p.run.turn.Streams() {
		return 0
	}
	came, p.shown = max(len(text)-p.shown, 0), len(text)
	if p.on = p.passes(ctx, proposal); p.on {
		p.run.turn.Preview(text)
	}
	return came
}

// passes reports whether skill and policy let the proposal, as far as it has come, into the turn's own
// conversation without a change.
func (p *streamGate) passes(ctx context.Context, list sexp.List) bool {
	r := p.run
	proposed, err := r.policy.Usable(action.Propose(list))
	if err != nil || proposed.Stripped() || !r.policy.Answers(ctx, proposed.Action(), r.where()) {
		return false
	}
	returned, err := r.skill.Preview(ctx, proposed.List(), r.steps.Event())
	return err == nil && proposed.Is(returned)
}
