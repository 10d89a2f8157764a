// Package reply asks the model of a turn and reads its replies.
//
// It composes, renders and sends the ask of a skill, and reads the reply piece by piece. It shows the
// thoughts of the reply, and the text that skill and policy would let pass, as they come. It stops a
// model that repeats itself endlessly. It records the request, the reply and the usage.
//
// A [Sender] is safe for many turns at once. A [Turn] belongs to one goroutine. An ask blocks until the
// reply is complete or its context ends. It starts one goroutine, which has ended when the ask returns.
package reply

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

// Config configures a [Sender]. All fields are required.
type Config struct {
	Provider llm.Provider
	// Dialect is the dialect of the provider that is asked first. Requests are recorded in it.
	Dialect llm.Dialect
	// Model returns the name that is shown before the provider reports its own.
	Model func() string
	// ServedWindow asks the server of a model for its window, whatever the settings say; 0 if it does not tell.
	// "" is the model of turns that choose none.
	ServedWindow func(ctx context.Context, model string) int
	// Hide removes secrets from requests.
	Hide func(text string) string
	// Past records which part of the earlier turns the model was shown.
	Past Past
	// Summarise starts a summary of a conversation.
	Summarise func(session string)
}

// Past records which part of the earlier turns a model is shown, so that the next turn shows the same.
type Past interface {
	RecordExcerpt(ctx context.Context, session string, shown *history.Excerpt) error
}

// Sender sends the requests of turns. It keeps the last request of each conversation in memory. Make
// one with [New].
type Sender struct {
	config   Config
	requests *lru.Cache[string, lastRequest]
	warnings warnings
}

// New returns a sender.
func New(config Config) *Sender {
	return &Sender{config: config, requests: lru.New[string, lastRequest](requestCacheBytes)}
}

// Turn is the turn for which a model is asked. All exported fields are required, except where noted.
type Turn struct {
	Sender *Sender
	Record journal.Turn
	// Requests composes the requests, and has the name and the window of the model.
	Requests Requests
	// Steps has the steps of the turn so far. Meter counts the usage of its replies.
	Steps Steps
	Meter Meter
	Rows  loop.Rows
	// Screen shows the reply to people, as far as Gate lets it pass.
	Screen Screen
	Gate   Gate
	// OnModel is called with the name of the model when another model answers than before.
	OnModel func(model string)
	// Together returns the action that makes several calls at once. Each action is one that only reads.
	Together func(actions []string) (string, error)
	// Answer returns the action that answers with a text. Plain is set if a plain text of the model is an answer.
	Answer func(text string) action.Proposed
	Plain  bool
	// Resumed is set if the model was asked before a restart of the kernel.
	Resumed bool
	Log     *slog.Logger

	model            string // the name that the provider reported, "" before
	questionRecorded bool   // the journal has the question in the words that the model got
	hasThoughts      bool   // a reply of the turn had thoughts
}

// Requests composes requests. A [composer.Turn] is one.
type Requests interface {
	Compose(ctx context.Context, ask skill.Ask) (composer.Composition, error)
	// Shorten reports whether a request that the model refused as too long can be composed shorter.
	Shorten(ctx context.Context, estimate int) bool
	// Corrected returns an estimate in the model's own tokens. Window returns its context window.
	Corrected(tokens int) int
	Window() int
	Model() string
	History() *protocol.History
}

// Steps are the steps of a turn. The [loop.Steps] are some.
type Steps interface {
	// Steer adds the messages that a person has sent to the running turn.
	Steer(ctx context.Context) error
	// AddQuotable adds texts to the Input, the texts that a reply may quote.
	AddQuotable(texts []string)
	Input() []string
}

// Meter counts the usage of requests. A [loop.Meter] is one.
type Meter interface {
	// Allows returns an error if the turn may not ask once more.
	Allows(ctx context.Context) error
	ShowProgress()
	// ShowWait shows what the turn waits for, nil if it does not wait any longer.
	ShowWait(wait *protocol.ModelWait)
	Count(ctx context.Context, reply loop.RequestUsage, of journal.ReplyUsage)
}

// Screen shows an incomplete reply to people.
type Screen interface {
	AnswerID() string
	// Streams reports whether any client shows incomplete answers.
	Streams() bool
	// Pause returns how far apart a client wishes previews to be, 0 if none has a wish.
	Pause() time.Duration
	Preview(text string)
	// Retract removes the preview.
	Retract()
	AddThought(text string)
	// AddCommentary shows what the model said beside its calls.
	AddCommentary(text string)
	// SetRequestSize shows the size of the request and of the model's window, in tokens.
	SetRequestSize(shown, window int)
	Notify(method string, params any)
}

// Gate reports whether an incomplete proposal may be shown.
type Gate interface {
	Previews(ctx context.Context, proposal sexp.List) bool
}

// Asker returns an asker for one proposal.
func (t *Turn) Asker() loop.Asker { return &asker{turn: t} }

// Model returns the name of the model that answered last, "" before the first reply.
func (t *Turn) Model() string { return t.model }

// setModel sets the model's name, and reports it.
func (t *Turn) setModel(model string) {
	t.model = model
	t.OnModel(model)
}

// warnings remembers which warnings were shown. It forgets them all when there are many: a warning that
// is shown twice is better than a map without a bound. The zero value is ready. It is safe for many
// goroutines.
type warnings struct {
	mu    sync.Mutex
	shown map[string]bool
}

// isNew reports whether the warning is new, and remembers it.
func (o *warnings) isNew(warning string) bool {
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
