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
	"org-agent/kernel/settings"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// Sources are the parts of requests that are the same for all turns, in their present state.
type Sources struct {
	Skills *skill.Registry
	// Library returns the sections of a prompt.
	Library func() *prompt.Library
	// DisplayPath returns a path in the form for people.
	DisplayPath func(path string) string
	// Runtime has facts about this machine that are not secret and do not change.
	Runtime [][2]string
	// Sandbox returns the kind of the sandbox that commands run in; nil for none.
	Sandbox func() string
	// Emacs returns the version of the person's Emacs, "" if it is unknown. It may be nil.
	Emacs func() string
	// Dialect is the dialect of the provider that is asked first. Lengths of requests are estimated in
	// it, and requests are journalled and shown in it.
	Dialect llm.Dialect
	// WithoutSafety leaves the rules of safety out of every prompt.
	WithoutSafety bool
	// Tools and Prompts are offered in chat turns. Either may be nil.
	Tools   *tool.Registry
	Prompts *skillmd.Registry
	Logger  *slog.Logger
}

// Branches reads branches of conversations.
type Branches interface {
	// Branch returns the turns above the heading with the id parent, the oldest first.
	Branch(ctx context.Context, session, parent string) ([]*journal.Exchange, error)
}

// Corrections has the ratios between counted and estimated tokens.
type Corrections interface {
	// Correction returns the number of tokens that a model counts for an estimated one.
	Correction(ctx context.Context, model string) (float64, error)
}

// Recaller finds records and notes that may matter to a message.
type Recaller interface {
	Recall(ctx context.Context, message string, scopes []string, limit int) ([]memory.Found, error)
}

// Composer composes requests. Its fields do not change while it is used.
type Composer struct {
	Sources     Sources
	Branches    Branches
	Corrections Corrections
	Past        history.Past
	// Index finds the reminders of a turn; nil if turns get none.
	Index Recaller
	// Home is the directory of the person's files.
	Home string
	// Model returns the name of the model of turns that choose none.
	Model func() string
	// HistoryTurns returns the largest number of earlier turns that are shown; 0 is as many as fit.
	HistoryTurns func() int

	prompts      cache
	refusedSizes sizeLimits
}

// Program has everything in which the composing of turns differs. Live turns, dry runs and the turns of
// subagents are different values of it. Any of its functions may be nil.
type Program struct {
	// Settings are those of the turn. Persona returns the content of the home's files with the turn's
	// profile. It reads the files at its first call only.
	Settings settings.Turn
	Persona  func() (memory.Persona, error)
	// Kind is the kind of turn that system prompts are for; "" is a chat.
	Kind prompt.Kind
	// Mode is the length of the system prompt for the ask whose reply becomes the answer. ForcedMode,
	// if it is set, is the mode of every ask.
	Mode, ForcedMode prompt.Mode
	// Restricted is set for a turn whose actions are restricted from outside. Its system prompt has their
	// forms in every mode.
	Restricted bool
	// ChangeFacts changes the facts to those of this turn.
	ChangeFacts func(*prompt.Facts)
	// FirstRequest is the row of the first request of a turn that goes on after a restart of the
	// kernel; 0 for any other turn. Requests are its recorded requests.
	FirstRequest int64
	Requests     []journal.RequestSent
	// Items returns the items that the person sent along with the question, whole.
	Items func(ctx context.Context) ([]protocol.ContextItem, error)
	// Reminders returns the reminders of an earlier attempt at the turn; nil if there was none.
	Reminders func(ctx context.Context) (*Reminders, error)
	// System returns the system prompt of an earlier attempt for the purpose, if it is to be used
	// again.
	System func(ctx context.Context, purpose string) (text string, found bool, err error)
	// Window returns the context window of the model.
	Window func(ctx context.Context) llm.Window
	// Forms returns the forms of the actions that a reply may have, a line each. Grammar returns a
	// grammar that constrains the reply to them, "" if the model takes none.
	Forms func(ctx context.Context, tools []prompt.Tool) []string
	// Plain reports whether text in no form is the answer. nil: it is not.
	Plain func(ctx context.Context, tools []prompt.Tool) bool
	// Functions returns what a model may call: the tools, and the other actions that are no text for a
	// conversation.
	Functions func(ctx context.Context, tools []tool.Tool) []llm.Tool
	Grammar   func(ctx context.Context, tools []tool.Tool) string
}

// Turn composes the requests of one turn. It finds the parts that they share once, so that all of them
// begin with the same bytes.
type Turn struct {
	// Record is the journal's record of the turn.
	Record journal.Turn
	// Skill is the hash of the skill that answers.
	Skill string
	// Exchange has the steps of the turn so far.
	Exchange Exchange

	composer       *Composer
	program        Program
	availableTools func() []tool.Tool // the tools for any turn
	facts          func() prompt.Facts
	systems        map[systemKey]system
	reminders      *Reminders       // nil before the search
	past           *history.Excerpt // nil before the search
	factor         float64          // the model's tokens for an estimated one; 0 before it is known
	window         llm.Window
	shortened      bool // the model refused a request as too long, and the next one is shorter
}

// Turn returns a [Turn], which composes the requests of a turn.
func (c *Composer) Turn(ctx context.Context, record journal.Turn, program Program) *Turn {
	t := &Turn{Record: record, composer: c, program: program, systems: map[systemKey]system{}}
	t.Exchange.requests = program.Requests
	t.availableTools = sync.OnceValue(c.Sources.Tools.Offered)
	t.facts = sync.OnceValue(func() prompt.Facts {
		facts := t.factsOf(ctx)
		if program.ChangeFacts != nil {
			program.ChangeFacts(&facts)
		}
		return facts
	})
	return t
}

// Model returns the name of the model that is asked.
func (t *Turn) Model() string { return cmp.Or(t.program.Settings.Model, t.composer.Model()) }

// stamp returns the time that stands before the message; the zero time for none.
func (t *Turn) stamp(ask skill.Ask) time.Time {
	if ask.NoStream { // the person did not write the message
		return time.Time{}
	}
	return t.Record.Stamp
}
