// Package act defines the built-in kinds of actions. Each file holds one kind or a few similar
// ones. [Kinds] lists them.
package act

import (
	"context"
	"log/slog"

	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
)

// Deps are the dependencies with which the built-in kinds perform actions. Judging and describing
// do not need them.
type Deps struct {
	Conversations Conversations
	Editors       Editors
	// Catalog lists the tools. nil: there are none.
	Catalog Catalog
	// Commands is true if command lines can be run.
	Commands bool
	// Changed is called once for each order whose tools changed files. It may be nil.
	Changed func(protocol.FileChanged)
	Logger  *slog.Logger
}

// Conversations puts text into conversations. The sessions implement it.
type Conversations interface {
	// Insert puts the text into the conversation of a running turn. action is the action that does
	// so, in its canonical form. When it returns nil, the journal holds the text durably and it is being sent to every
	// attached client.
	Insert(ctx context.Context, session, turn, action, text string) error
	// Post puts the text at the end of another conversation. id is that of the event; a second call
	// with the same id does nothing.
	Post(ctx context.Context, id, session, text string) error
}

// Editors finds the client that performs an action which belongs to no conversation: the client
// that sent the message, or else the one that a person used last.
type Editors interface {
	// Perform sends the act to one client and waits for its receipt. The error wraps
	// [kind.ErrNoPerformer] if no attached client performs such an action, and
	// [kind.ErrOutcomeUnknown] if the connection ended before the receipt came.
	Perform(ctx context.Context, act protocol.Act) (client string, receipt protocol.Receipt, err error)
	// Check asks the client that would perform the act whether something prevents it. It returns
	// nil if nothing does, or if the client does not say. The error wraps [kind.ErrNoPerformer] if
	// there is no such client.
	Check(ctx context.Context, act protocol.Act) error
	// Reconcile asks a client that has reconnected whether it performed the act. The errors are those
	// of Perform. An error that does not wrap [kind.ErrOutcomeUnknown] means that nothing was
	// changed, except [kind.ErrNoPerformer], which means that no client came.
	Reconcile(ctx context.Context, act protocol.Act) (client string, receipt protocol.Receipt, err error)
}

// Catalog lists the tools.
type Catalog interface {
	// Find returns the current name of a tool and the effect of a call.
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	// Own reports whether the tool returns only text that the person or the kernel wrote.
	Own(name string) bool
}

// Kinds returns the built-in kinds, in the order in which they are documented. The kinds of
// channels are made with [Chat] in other packages.
func Kinds(d Deps) []kind.Kind {
	return []kind.Kind{
		insertion(d),
		edit(d),
		setProperties(d),
		open(d),
		message(d),
		eval(),
		call(d),
		batch(d),
		shell(d),
		peer(),
		spawn(d),
		response(d),
		log(d),
	}
}
