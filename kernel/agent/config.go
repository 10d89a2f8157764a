package agent

import (
	"context"
	"time"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/hook"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Config is what an agent works with. All of it is required, but for the limits and where it says
// so.
type Config struct {
	// Sources are what requests are made of.
	Sources composer.Sources
	// Persona is what the files of the home say with the profile of that name. nil: they say nothing.
	Persona func(profile string) (memory.Persona, error)
	// Index is what a turn is reminded from. nil: it is reminded of nothing.
	Index composer.Recaller

	// Provider answers requests: those of turns and of summaries.
	Provider llm.Provider
	// Model is the name that is shown before the provider has said its own.
	Model string
	// SummaryModel summarises what long conversations began with; "" for the model of the
	// conversation.
	SummaryModel string
	// Window says how much a model can be shown, "" being the one that answers where none is chosen.
	// It asks the model's server only if ask is true. nil: nobody knows.
	Window func(ctx context.Context, model string, ask bool) llm.Window
	// HistoryTurns is how many earlier turns a model is shown at most; 0 is as many as its window
	// holds.
	HistoryTurns int
	// Grammar reports whether the model of that name can be held to a grammar. nil: none can.
	Grammar func(model string) bool
	// Images is what the provider that is asked first does to images before it sends a request. It
	// is only for showing a prompt. nil: it sends them as they are.
	Images func(llm.Request) (llm.Request, error)
	// CheckModel is the error of asking for a model of that name. nil: any name may be one.
	CheckModel func(ctx context.Context, name string) error

	// Policy verifies what is proposed. In a turn it has the kinds of the turn.
	Policy *policy.Policy
	// Kinds returns the kinds of actions that there are now, which perform. A turn keeps those that
	// it began with.
	Kinds func() *kind.Set
	// Hooks are told of results, and of the beginning and the end of turns. nil: nobody is told.
	Hooks *hook.Hooks
	// Subagents runs the subagents that turns start. nil: none can be started.
	Subagents *subagent.Pool

	// Journal keeps what turns do, and has the earlier turns.
	Journal Journal
	// Compacted tells the clients of a session what becomes of a summary of it. nil: nobody is told.
	Compacted func(ctx context.Context, summary protocol.SessionCompacted)
	// NewID returns an id that no other thing has.
	NewID func() string
	// Now is the time where the person is.
	Now func() time.Time
}

// Journal is what is read of the journal and written into it. Each part is what its consumers use of
// one store of the journal.
type Journal struct {
	Records     Records
	Turns       Turns
	Acts        gate.Acts
	Asks        person.Asks
	Models      history.Models
	Transcripts Transcripts
	Subagents   Subagents
	Usage       Usage
}

// Records are the journal's rows. Append writes a row at once, AppendDeferred with what the turn does
// next.
type Records interface {
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
	AppendDeferred(ctx context.Context, entry journal.Entry) error
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// Turns are the turns, and what was sent along with their questions.
type Turns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
}

// Transcripts are the earlier turns of conversations, and the steps of turns.
type Transcripts interface {
	history.Transcripts
	composer.Branches
	policy.Earlier // which projects it is about
	history.KeptSteps
}

// Subagents say which turn started a subagent.
type Subagents interface {
	Subagent(ctx context.Context, id string) (journal.Subagent, error)
}

// Usage is what turns and summaries take.
type Usage interface {
	loop.UsageStore
	composer.Corrections
}
