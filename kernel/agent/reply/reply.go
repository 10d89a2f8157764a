// Package reply asks the model of a turn and reads its replies.
//
// A skill's ask is composed, rendered and sent. The reply is read piece by piece while it is written:
// its thoughts and the part that skill and policy would let pass are shown at once, a model that goes
// round and round is stopped, and what was sent and what it took are recorded.
//
// A [Sender] is safe for many turns at once. A [Turn] belongs to one goroutine. An ask blocks until the
// whole reply is there or its context ends. It starts one goroutine, which has ended when it returns.
package reply

import (
	"context"
	"log/slog"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Config is what a [Sender] works with. All of it is required.
type Config struct {
	Provider llm.Provider
	// Dialect is that of the provider that is asked first: requests are recorded in it.
	Dialect llm.Dialect
	// Model is the name that is shown before the provider has said its own.
	Model string
	// Hide takes secrets out of what is sent.
	Hide func(text string) string
	// Past keeps what the earlier turns are shown as.
	Past Past
	// Summarise starts a summary of a conversation.
	Summarise func(session string)
}

// Past keeps what a model is shown of the earlier turns, so that the next turn is shown the same.
type Past interface {
	Keep(ctx context.Context, session string, shown history.Shown) error
}

// Sender sends the requests of turns. It remembers the last one of each conversation. Make one with
// [New].
type Sender struct {
	config Config
	sent   *lru.Cache[string, sent]
	warned once
}

// New returns a sender.
func New(config Config) *Sender {
	return &Sender{config: config, sent: lru.New[string, sent](sentKept)}
}

// Turn is the turn for which a model is asked. All of it is required but where it says so.
type Turn struct {
	Sender *Sender
	Record journal.Turn
	// Requests composes the requests, and knows the model that they are for.
	Requests Requests
	// Steps are what the turn did so far, and Meter counts what its replies take.
	Steps Steps
	Meter Meter
	Rows  loop.Rows
	// Screen shows people what comes, as far as Gate lets it pass.
	Screen Screen
	Gate   Gate
	// Described is called when another model answers than before, with its name.
	Described func(model string)
	// Example is an action that would answer, for a model whose reply cannot be used.
	Example func() action.Proposed
	// Resumed is set if the model was asked before the kernel was restarted.
	Resumed bool
	Log     *slog.Logger

	model    string // the name that the model gave itself, "" before
	recorded bool   // the journal has the question as the model was shown it
	thought  bool   // a model has sent thoughts
}

// Requests composes requests. A [composer.Turn] is one.
type Requests interface {
	Compose(ctx context.Context, ask skill.Ask) (composer.Composition, error)
	// Shorten reports whether a request that the model refused as too long can be composed shorter.
	Shorten(ctx context.Context, estimate int) bool
	// Corrected is an estimate as the model counts, and Window how much it can be shown.
	Corrected(tokens int) int
	Window() int
	Model() string
	History() *protocol.History
}

// Steps are the steps of a turn. The [loop.Steps] are some.
type Steps interface {
	// Steer adds what a person said to the turn while it ran.
	Steer(ctx context.Context) error
	// Quotable adds texts that a reply may quote to the Input, which are all of them.
	Quotable(texts []string)
	Input() []string
}

// Meter counts what requests take. A [loop.Meter] is one.
type Meter interface {
	// Allows returns an error if the turn may not ask once more.
	Allows(ctx context.Context) error
	ShowProgress()
	Count(ctx context.Context, reply loop.Reply, of journal.Spent)
}

// Screen shows people a reply while it is written.
type Screen interface {
	AnswerID() string
	// Streams reports whether anybody is shown an answer before it is whole.
	Streams() bool
	Preview(text string)
	// Retract takes back what was previewed.
	Retract()
	Thought(text string)
	// Held tells how much the model was shown, of how much it can be.
	Held(shown, window int)
	Notify(method string, params any)
}

// Gate reports whether a proposal, as far as it has come, may be shown.
type Gate interface {
	Previews(ctx context.Context, proposal sexp.List) bool
}

// Asker returns what asks the model for one proposal.
func (t *Turn) Asker() loop.Asker { return &asker{turn: t} }

// Model is the name of the model that answered last, "" before one did.
func (t *Turn) Model() string { return t.model }

// describe takes note of the model's name.
func (t *Turn) describe(model string) {
	t.model = model
	t.Described(model)
}

// once remembers which warnings were shown. It forgets them all when there are many: a warning that is
// shown twice is better than a map that grows for ever. The zero value is ready.
type once struct {
	mu    sync.Mutex
	shown map[string]bool
}

// first reports whether the warning is shown for the first time.
func (o *once) first(warning string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 10_000
	if o.shown == nil || len(o.shown) > most {
		o.shown = map[string]bool{}
	}
	was := o.shown[warning]
	o.shown[warning] = true
	return !was
}
