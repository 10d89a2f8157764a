// Package kind defines the kinds of actions. A [Kind] holds everything about one kind: what a
// proposal must contain, who judges it, what a person is shown, how it is performed and how it is
// undone. A [Set] holds all kinds. Other packages ask the Set; only the file that defines a kind
// knows it by name.
//
// A Set does not change, so a turn uses the same kinds from its beginning to its end. Its functions
// are safe for many goroutines.
package kind

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// ErrUnverified means that the order holds an action that no policy let through.
var ErrUnverified = errors.New("the action was not verified")

// ErrNoPerformer means that nothing here performs such an action.
var ErrNoPerformer = errors.New("nothing here performs it")

// ErrOutcomeUnknown means that the connection ended after the action was sent and before its
// receipt came. The action may have happened. It is shown to the user and never tried again.
var ErrOutcomeUnknown = errors.New("it is not known whether it happened")

// Order is one action to perform. The ID is permanent: a performer performs the action once for
// each ID.
type Order struct {
	ID      string
	Session string
	Turn    string
	Event   string // the id of the message that began the turn
	Route   protocol.Route
	Action  policy.Verified
	// Tools are the tools of the turn. They are set when an order is checked or performed, and nil
	// in an order for an action that was performed before.
	Tools Tools
}

// Tools calls tools.
type Tools interface {
	// Call performs one call. It returns the text for the model, and what the call changed in files.
	Call(ctx context.Context, name string, arguments protocol.Object) (text string, changed []protocol.FileChange, err error)
	// Check returns an error if something prevents a call. It returns nil if nothing does, or if
	// that is not known.
	Check(ctx context.Context, name string, arguments protocol.Object) error
	// Digest identifies a tool of another program or of a note. It is "" for a tool of the kernel.
	Digest(name string) string
}

// Act returns the order for a client, with the payload of an action as it was judged.
func (o Order) Act(a action.Action) (protocol.Act, error) {
	payload, err := a.Object()
	return protocol.Act{
		ID: o.ID, Session: o.Session, Turn: o.Turn, Event: o.Event,
		Type: a.Type(), Target: protocol.Keyword(a.Target()), Payload: payload, Veiled: true,
	}, err
}

// Result is the outcome of a performed action. Text is for the model and the log. The receipt is
// there if a client performed it.
type Result struct {
	Text    string
	Calls   []Call // of a batch of tools
	Client  string // its connection
	Receipt protocol.Receipt
}

// Call is the outcome of one call of a batch.
type Call struct {
	Tool   string
	Text   string // the result or the error
	Failed bool
	// Code and Retryable describe the error.
	Code      protocol.ToolErrorCode
	Retryable bool
	Took      time.Duration
}

// Performer performs an order that its Set has checked. It is called once for each order, and
// blocks until the outcome is known or ctx ends.
type Performer func(ctx context.Context, order Order) (Result, error)

// Kind is one kind of action. Only the Spec is required. Without Judge a person is always asked,
// and without Perform nothing performs it.
type Kind struct {
	Spec action.Spec
	// Judge decides what a turn may do with the action. Default: a person is asked.
	Judge policy.Judge
	// Ends reports whether the action ends a turn, for example because it puts its text into the
	// conversation of the turn. Default: never.
	Ends func(a action.Action, where policy.Where) bool
	// Describe returns what a person is shown. Default: the whole action as it is written.
	Describe func(a action.Action, deps describe.Deps) describe.Description
	// Calls returns the calls that hooks before a tool see for this action. Default: one call of
	// TARGET-NAME, with the payload as its arguments. If Sends is set, hooks before a message see
	// the recipient that it returns instead.
	Calls func(a action.Action) []action.Call
	Sends func(a action.Action) (to string)
	// Reads reports whether the action changes nothing, so that it may be repeated. Default: never.
	Reads func(a action.Action) bool
	// Silent is true if nobody is shown what the action does. A turn that owes an answer and does
	// nothing else has failed.
	Silent bool
	// Outside names the result of the action if others may have written it, for example a page. It
	// returns "" if they have not. Default: "".
	Outside func(a action.Action) string
	// Subagent returns the tools that a subagent needs for this action, or why no subagent may
	// perform it. Default: no subagent may.
	Subagent func(a action.Action) (needs []string, refused string)
	// ByClient is true if a client performs the action. The client announces the name of the kind, or
	// its target if it has no name.
	ByClient bool
	// Perform performs the action. nil: nothing performs it.
	Perform Performer
	// Offered reports whether such actions can be performed now. Those that cannot are not offered to models, and nobody is
	// asked about them. Default: always.
	Offered func() bool
	// Check returns an error if something prevents the action now. It may be called before the
	// action is allowed, and changes nothing. It returns nil if nothing prevents it or if that is
	// not known. The error wraps [ErrNoPerformer] if nobody who performs it is connected. Default:
	// always nil.
	Check func(ctx context.Context, order Order, a action.Action) error
	// Reconcile finds out whether the action was performed although its receipt never came. The
	// argument lost is the error. Reconcile does not perform the action again. Default: it is not
	// known.
	Reconcile func(ctx context.Context, order Order, lost error) (Result, error)
	// Undo returns how to undo the action: changes of texts, and one line for each effect that
	// stays. Default: the file changes in the receipt are undone, and all else stays.
	Undo func(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string)
}
