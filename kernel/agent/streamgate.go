package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
)

// streamGate shows a reply while it is written, and nothing of it that skill and
// policy would not pass: each batch is the envelope with the text so far, and
// goes through both. The first refusal or rewriting stops the flow until the
// whole action is verified.
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
// that are.
func (p *streamGate) flush(ctx context.Context) (came int) {
	if !p.on {
		return 0
	}
	proposal, begun := p.stream.Proposal()
	text := p.stream.Text()
	if !begun || len(text) == p.shown || blank(text) {
		return 0
	}
	came, p.shown = max(len(text)-p.shown, 0), len(text)
	if p.on = p.passes(ctx, proposal); p.on {
		p.run.turn.Preview(text)
	}
	return came
}

// passes reports whether the action, as far as it is known, is let through
// unchanged into the turn's own conversation.
func (p *streamGate) passes(ctx context.Context, list sexp.List) bool {
	r := p.run
	proposed, err := r.agent.config.Policy.Usable(action.Propose(list))
	if err != nil || proposed.Stripped() || !r.agent.config.Policy.Answers(ctx, proposed.Action(), r.where()) {
		return false
	}
	returned, err := r.skill.Preview(ctx, proposed.List(), r.event())
	return err == nil && plist.Equal(returned, proposed.List())
}
