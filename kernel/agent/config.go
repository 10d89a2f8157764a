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

// Config configures an agent. All fields are required, except the limits and where noted.
type Config struct {
	// Sources are the parts of requests that all turns share.
	Sources composer.Sources
	// Persona returns the content of the home's files with the profile of that name; nil for no
	// content.
	Persona func(profile string) (memory.Persona, error)
	// Index finds the reminders of turns; nil for none.
	Index composer.Recaller

	// Provider answers requests: those of turns and of summaries.
	Provider llm.Provider
	// Model returns the name that is shown before the provider reports its own.
	Model func() string
	// SummaryModel returns the model that summarises long conversations; "" for the model of the
	// conversation.
	SummaryModel func() string
	// Window returns the context window of a model; "" is the model of turns that choose none. It asks
	// the model's server only if ask is true. nil if windows are unknown.
	Window func(ctx context.Context, model string, ask bool) llm.Window
	// ServedWindow asks the server of a model for its window, whatever the settings say; 0 if it does not tell.
	// nil if windows are unknown.
	ServedWindow func(ctx context.Context, model string) int
	// HistoryTurns returns the largest number of earlier turns in a request; 0 is as many as fit the
	// window.
	HistoryTurns func() int
	// Grammar reports whether the model of that name accepts a grammar, which may ask its server; nil if none
	// does.
	Grammar func(ctx context.Context, model string) bool
	// Images changes the images of a request like the provider that is asked first. It serves dry runs.
	// nil if the provider changes none.
	Images func(llm.Request) (llm.Request, error)
	// CheckModel returns an error if there is no model of that name; nil accepts any name.
	CheckModel func(ctx context.Context, name string) error

	// Policy verifies actions. Each turn uses it with the kinds of the turn.
	Policy *policy.Policy
	// Kinds returns the present kinds of actions. A turn keeps those that it began with.
	Kinds func() *kind.Set
	// Hooks are notified of results, and of the beginning and the end of turns; nil for none.
	Hooks *hook.Hooks
	// Subagents runs the subagents of turns; nil if none can be started.
	Subagents *subagent.Pool

	// Journal records turns, and has the earlier ones.
	Journal Journal
	// Compacted notifies the clients of a session of the state of a summary; nil for nobody.
	Compacted func(ctx context.Context, summary protocol.SessionCompacted)
	// NewID returns a unique id.
	NewID func() string
	// Now returns the time in the person's zone.
	Now func() time.Time
}

// Journal has the stores of the journal, each with the methods that the agent uses.
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

// Records are the journal's rows. Append writes a row at once, AppendDeferred together with the next
// row that is written at once.
type Records interface {
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
	AppendDeferred(ctx context.Context, entry journal.Entry) error
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// Turns has the turns, and the items that were sent along with their questions.
type Turns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
}

// Transcripts has the earlier turns of conversations, and the steps of turns.
type Transcripts interface {
	history.Transcripts
	composer.Branches
	policy.Earlier // the projects of a conversation
	history.EarlierSteps
}

// Subagents has the subagents, with the turns that started them.
type Subagents interface {
	Subagent(ctx context.Context, id string) (journal.Subagent, error)
}

// Usage stores the usage of turns and summaries.
type Usage interface {
	loop.UsageStore
	composer.Corrections
}
