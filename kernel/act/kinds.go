// Package act is the kinds of actions that are built in, a file for each or for those that are
// much alike. [Kinds] is the list of them.
package act

import (
	"context"
	"log/slog"

	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
)

// Deps is what the built-in kinds are performed with, beside what an order has. Judging and
// describing needs none of it.
type Deps struct {
	Conversations Conversations
	Editors       Editors
	// Catalog knows what tools there are; nil knows none.
	Catalog Catalog
	// Commands: command lines are run.
	Commands bool
	// Noted keeps what calls of tools change in files in their receipts; nil keeps nothing.
	Noted  func(kind.Performer) kind.Performer
	Logger *slog.Logger
}

// Conversations is where text for people goes: the sessions.
type Conversations interface {
	// Insert puts the text into the conversation of the order's turn, for good:
	// when it returns nil the journal has the text and every attached client is
	// being sent it.
	Insert(ctx context.Context, order kind.Order, text string) error
	// Post puts the text at the end of another conversation, once for each order.
	Post(ctx context.Context, order kind.Order, session, text string) error
}

// Editors finds the client that performs an action which is no conversation's:
// the event's sender, else the one a person used last.
type Editors interface {
	// Perform sends the act to one client and waits for its receipt. The error
	// wraps [kind.ErrNoPerformer] when no attached client performs such an action and
	// [kind.ErrOutcomeUnknown] when the connection was lost before the receipt.
	Perform(ctx context.Context, act protocol.Act) (client string, receipt protocol.Receipt, err error)
	// Check asks the client that would perform the act what is in the way: nil when nothing
	// is or nobody says. The error wraps [kind.ErrNoPerformer] where there is none.
	Check(ctx context.Context, act protocol.Act) error
	// Settle asks a client that is there again whether the act was done whose receipt never
	// came. The error is as that of Perform; one without [kind.ErrOutcomeUnknown] means that
	// nothing was changed, but [kind.ErrNoPerformer] that no client came.
	Settle(ctx context.Context, act protocol.Act) (client string, receipt protocol.Receipt, err error)
}

// Catalog knows what tools there are.
type Catalog interface {
	// Find returns the name of a tool as it is written, and what calling it takes.
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	// Own reports whether the tool tells only what the person or the kernel wrote.
	Own(name string) bool
}

// Kinds are those that are built in, in the order in which they are documented. Those of drivers
// come behind them.
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
		Chat("telegram", "chat-id"),
		Chat("signal", "chat-id"),
		Chat("matrix", "room-id"),
		peer(),
		spawn(d),
		response(d),
		log(d),
	}
}
