package composer

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// Sources are what system prompts are made of, as it is at the moment.
type Sources struct {
	Skills *skill.Registry
	// Library has the sections of a prompt.
	Library func() *prompt.Library
	// Persona is what the files of the home say with the profile of that name. It may be nil; then
	// nothing is said. Shown is how a path is written for people.
	Persona func(profile string) (memory.Persona, error)
	Shown   func(path string) string
	// Runtime is where this runs: nothing secret, and nothing that changes.
	Runtime [][2]string
	// Sandbox is the kind of the fence that commands run in; nil for none.
	Sandbox func() string
	// Emacs is the version of the person's Emacs, "" where nobody knows; it may be nil.
	Emacs func() string
	// WithoutSafety leaves the rules of safety out of every prompt.
	WithoutSafety bool
	// Tools and Prompts are what a chat turn is offered. Either may be nil.
	Tools   *tool.Registry
	Prompts *skillmd.Registry
	Logger  *slog.Logger
}

// Journal is what is read of the journal for a request, beside the earlier turns.
type Journal interface {
	// Branch returns the turns above the heading with the id parent, the oldest first.
	Branch(ctx context.Context, session, parent string) ([]*journal.Exchange, error)
	// Correction is by how much a model counts more tokens than are estimated.
	Correction(ctx context.Context, model string) (float64, error)
}

// Recaller finds what may bear on a message.
type Recaller interface {
	Recall(ctx context.Context, message string, scopes []string, limit int) ([]memory.Found, error)
}

// Composer composes requests. Its fields do not change while it is used.
type Composer struct {
	Sources
	Journal Journal
	Past    history.Past
	// Index is what a turn is reminded from; nil for nothing.
	Index Recaller
	// Home is the directory of the person's files.
	Home string
	// Model is the name of the model that answers where none is chosen.
	Model string
	// HistoryTurns is how many earlier turns are shown at most; 0 is as many as there is room for.
	HistoryTurns int

	prompts cache
	refused bounds
}

// Program is how a turn is composed where turns differ. Live turns, prompts that are only shown
// and the turns of subagents are different values of it. A function that is nil knows nothing.
type Program struct {
	// Mode is how much the system prompt says to the ask whose reply becomes the answer. Only is
	// the mode of every ask, whatever it wants; "" for none.
	Mode, Only prompt.Mode
	// Bound is a turn whose actions are bound from outside. Its model is told of their forms in
	// every mode.
	Bound bool
	// Change makes the facts those of this turn.
	Change func(*prompt.Facts)
	// Before is the row of the first request of a turn that goes on after the kernel's end; 0 for
	// any other turn. Sent are its requests, as the journal has them.
	Before int64
	Sent   []journal.RequestSent
	// Items are what the person sent along with the question, whole.
	Items func(ctx context.Context) ([]protocol.ContextItem, error)
	// Recalled is what an earlier attempt at the turn was reminded of; nil where there was none.
	Recalled func(ctx context.Context) (*Recalled, error)
	// System is the system prompt that an earlier attempt was told for the purpose, if that is to
	// be told again.
	System func(ctx context.Context, purpose string) (text string, found bool, err error)
	// Window says how much the model can be shown.
	Window func(ctx context.Context) llm.Window
	// Forms are the forms of actions that a reply may have, a line each, and Grammar is what holds
	// the reply to them, "" where it cannot be held to anything.
	Forms   func(ctx context.Context, tools []prompt.Tool) []string
	Grammar func(ctx context.Context, tools []prompt.Tool) string
}

// Turn composes the requests of one turn. What they have in common is found once, so that they
// all begin with the same bytes.
type Turn struct {
	// Record is the turn as the journal has it.
	Record journal.Turn
	// Skill is the hash of the skill that answers.
	Skill string
	// Exchange is what the turn has come to so far.
	Exchange Exchange

	composer *Composer
	program  Program
	facts    func() prompt.Facts
	systems  map[systemKey]system
	recalled *Recalled      // nil before it was looked for
	past     *history.Shown // nil before it was looked for
	factor   float64        // how many tokens of the model an estimated one is; 0 before it is known
	window   llm.Window
	shorter  bool // a model found a request too long, and the next is made shorter
}

// Turn returns what composes the requests of a turn.
func (c *Composer) Turn(ctx context.Context, record journal.Turn, program Program) *Turn {
	t := &Turn{Record: record, composer: c, program: program, systems: map[systemKey]system{}}
	t.Exchange.sent = program.Sent
	t.facts = sync.OnceValue(func() prompt.Facts {
		facts := c.factsOf(ctx, record)
		if program.Change != nil {
			program.Change(&facts)
		}
		return facts
	})
	return t
}

// Model is the name of the model that is asked.
func (t *Turn) Model() string { return cmp.Or(t.Record.Wanted, t.composer.Model) }

// stamp is the time that is told with the message.
func (t *Turn) stamp(ask skill.Ask) time.Time {
	if ask.NoStream { // it is no message of the person's
		return time.Time{}
	}
	return t.Record.Stamp
}
