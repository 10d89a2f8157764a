package act

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Conversations is where text for people goes: the sessions.
type Conversations interface {
	// Insert puts the text into the conversation of the order's turn, for good:
	// when it returns nil the journal has the text and every attached client is
	// being sent it.
	Insert(ctx context.Context, order Order, text string) error
	// Post puts the text at the end of another conversation, once for each order.
	Post(ctx context.Context, order Order, session, text string) error
}

// Editors finds the Emacs that performs an action which is no conversation's:
// the event's sender, else the one a person used last.
type Editors interface {
	// Perform sends the act to one client and waits for its receipt. The error
	// wraps [ErrNoActuator] when no attached Emacs performs such an action and
	// [ErrOutcomeUnknown] when the connection was lost before the receipt.
	Perform(ctx context.Context, act protocol.Act) (client string, receipt protocol.Receipt, err error)
	// Check asks the client that would perform the act what is in the way: "" when nothing
	// is or nobody says.
	Check(ctx context.Context, act protocol.Act) (inTheWay string)
}

// Response puts a :response's text into its own conversation.
func Response(conversations Conversations) Actuator {
	return Actuator{Target: string(protocol.TypeResponse), Perform: func(ctx context.Context, o Order) (Result, error) {
		return Result{}, conversations.Insert(ctx, o, o.Action.Text())
	}}
}

// Insertion performs :insert-at-end: into the turn's own conversation, or into
// the conversation whose buffer is named.
func Insertion(conversations Conversations) Actuator {
	return Actuator{Target: "emacs", Actions: []string{"insert-at-end"}, Perform: func(ctx context.Context, o Order) (Result, error) {
		if o.Action.IntoConversation(o.Session) {
			return Result{}, conversations.Insert(ctx, o, o.Action.Text())
		}
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		session, ok := protocol.BufferSession(payload.Text("buffer"))
		if !ok {
			return Result{}, fmt.Errorf("%q: %w", payload.Text("buffer"), ErrNoActuator)
		}
		if err := conversations.Post(ctx, o, session, o.Action.Text()); err != nil {
			return Result{}, err
		}
		return Result{Text: "the text stands in the conversation " + session}, nil
	}}
}

// Emacs performs every other :emacs action in one attached Emacs.
func Emacs(editors Editors) Actuator {
	return Actuator{Target: "emacs", Perform: func(ctx context.Context, o Order) (Result, error) {
		payload, err := o.Action.Payload()
		if err != nil {
			return Result{}, err
		}
		client, receipt, err := editors.Perform(ctx, protocol.Act{
			ID: o.ID, Session: o.Session, Turn: o.Turn, Event: o.Event,
			Type: o.Action.Type(), Target: protocol.Keyword(o.Action.Target()), Payload: payload, Veiled: true,
		})
		return Result{Text: "done in Emacs", Client: client, Receipt: receipt}, err
	}, Check: func(ctx context.Context, o Order, action sexp.List) error {
		payload, err := policy.Payload(action)
		if err != nil {
			return err
		}
		inTheWay := editors.Check(ctx, protocol.Act{
			ID: o.ID, Session: o.Session, Turn: o.Turn, Event: o.Event,
			Type: protocol.TypeRequest, Target: "emacs", Payload: payload, Check: true, Veiled: true,
		})
		if inTheWay != "" {
			return protocol.ToolErrorf(protocol.ToolRefused, "%s", inTheWay)
		}
		return nil
	}}
}

// Log writes a :log's text to the log, and nowhere else.
func Log(logger *slog.Logger) Actuator {
	return Actuator{Target: string(protocol.TypeLog), Perform: func(ctx context.Context, o Order) (Result, error) {
		logger.InfoContext(ctx, "skill log", "session", o.Session, "turn", o.Turn, "text", o.Action.Text())
		return Result{Text: "written to the log"}, nil
	}}
}
