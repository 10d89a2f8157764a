// Package kind is what one kind of action is: a [Kind] holds all that is known of it, what a
// proposal must have, who judges it, what a person is shown, how it is performed and taken back.
// A [Set] has all kinds that there are. What asks something of an action asks its Set, and no
// place but the kind's own file knows it by name.
//
// A Set does not change, so that a turn that has begun with one ends with it. Its functions may
// be called from many goroutines.
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

// ErrUnverified: the order holds an action that no policy let through.
var ErrUnverified = errors.New("the action was not verified")

// ErrNoPerformer: nothing here performs such an action.
var ErrNoPerformer = errors.New("nothing here performs it")

// ErrOutcomeUnknown: the connection ended after the action was sent and before its receipt came.
// The action may have happened: it is shown to the user and never tried again.
var ErrOutcomeUnknown = errors.New("it is not known whether it happened")

// Order is one action to perform. ID names it for good: whoever performs it
// does so once for each ID.
type Order struct {
	ID      string
	Session string
	Turn    string
	Event   string // the question's id
	Route   protocol.Route
	Action  policy.Verified
	// Tools are the tools as the turn calls them. They are there when an order is checked or
	// performed; an order of something done before has none.
	Tools Tools
}

// Tools makes calls of tools.
type Tools interface {
	// Call performs one call and returns what the model is given.
	Call(ctx context.Context, name string, arguments protocol.Object) (string, error)
	// Check says what is in the way of a call, nil when nothing is or nobody knows.
	Check(ctx context.Context, name string, arguments protocol.Object) error
	// Digest stands for what somebody else's program says of its tool; "" for a tool of ours.
	Digest(name string) string
}

// Act is the order for a client, with the payload of an action as it was judged.
func (o Order) Act(a action.Action) (protocol.Act, error) {
	payload, err := a.Object()
	return protocol.Act{
		ID: o.ID, Session: o.Session, Turn: o.Turn, Event: o.Event,
		Type: a.Type(), Target: protocol.Keyword(a.Target()), Payload: payload, Veiled: true,
	}, err
}

// Result is what became of a performed action: Text for the model and the log,
// and the receipt of the client that performed it, if it was one.
type Result struct {
	Text    string
	Calls   []Call // of a batch of tools
	Client  string // its connection
	Receipt protocol.Receipt
}

// Call is what became of one call of a batch.
type Call struct {
	Tool   string
	Text   string // the result, or why it failed
	Failed bool
	// Code and Retryable are those of the error.
	Code      protocol.ToolErrorCode
	Retryable bool
	Took      time.Duration
}

// Performer performs an order, which its Set has checked. It is called once for an order and
// blocks until the outcome is known or ctx ends.
type Performer func(ctx context.Context, order Order) (Result, error)

// Kind is one kind of action. Only the Spec is required: of a kind with nothing else a person is
// always asked, and nothing performs it.
type Kind struct {
	action.Spec
	// Judge says what a turn may do with it. Default: a person is asked.
	Judge policy.Judge
	// Ends reports whether the action ends a turn: it puts its text where the turn came from, or
	// is the end of it in another way. Default: never.
	Ends func(a action.Action, where policy.Where) bool
	// Describe says what a person is shown of it. Default: all of it as it is written.
	Describe func(a action.Action, w describe.World) describe.Description
	// Calls are the calls of tools that it is taken for by hooks before a tool. Default: one of
	// TARGET-NAME, with the payload as its arguments. Sends says instead to whom it sends its
	// text, which is told to hooks before a message.
	Calls func(a action.Action) []action.Call
	Sends func(a action.Action) (to string)
	// Reads reports whether it changes nothing, so that it may be done twice. Default: never.
	Reads func(a action.Action) bool
	// Outside names what comes of it where others may have written that, "" for nothing of the
	// kind. Default: nothing.
	Outside func(a action.Action) string
	// Subagent says which tools a subagent must have been handed to do this, or why none does
	// it. Default: none does it.
	Subagent func(a action.Action) (needs []string, refused string)
	// ByClient: a client performs it that announces the kind's name.
	ByClient bool
	// Perform performs it; nil where nothing does.
	Perform Performer
	// Check says what would be in the way of an action as things are, which nobody has allowed
	// yet: nil when nothing is or nobody knows, and an error that wraps [ErrNoPerformer] when it
	// waits for somebody who performs it. It changes nothing. Default: nothing ever is.
	Check func(ctx context.Context, order Order, a action.Action) error
	// Settle finds out whether it was done when its receipt never came, which is what lost says.
	// It is not done again. Default: nobody knows.
	Settle func(ctx context.Context, order Order, lost error) (Result, error)
	// Undo says how what was done is taken back: as changes of texts, and in lines what stays.
	// Default: what the receipt says of files is a change, and everything else stays.
	Undo func(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string)
}
