// Package act performs verified actions. [Registry.Perform] is the one function
// in the kernel that does so: it refuses whatever the policy did not make, and
// finds the actuator for the rest in one explicit list.
//
// An actuator is called once for an order and blocks until the outcome is
// known or ctx ends. It may be called from many goroutines. An error that
// wraps [ErrOutcomeUnknown] means that the action may have happened: it is
// shown to the user and never tried again.
package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// ErrUnverified: the order holds an action that no policy let through.
var ErrUnverified = errors.New("the action was not verified")

// ErrNoActuator: nothing here performs such an action.
var ErrNoActuator = errors.New("nothing here performs it")

// ErrOutcomeUnknown: the connection ended after the action was sent and before
// its receipt came.
var ErrOutcomeUnknown = errors.New("it is not known whether it happened")

// Order is one action to perform. ID names it for good: whoever performs it
// does so once for each ID.
type Order struct {
	ID      string
	Session string
	Turn    string
	Event   string // the question's id
	Action  policy.Verified
}

// Result is what became of a performed action: Text for the model and the log,
// and the receipt of the client that performed it, if it was one.
type Result struct {
	Text    string
	Calls   []Call // of a batch of tools
	Client  string // its connection
	Receipt protocol.Receipt
}

// Actuator performs the requests to one target.
type Actuator struct {
	Target string
	// Actions are the :action names it performs; nil means every one.
	Actions []string
	Perform func(ctx context.Context, order Order) (Result, error)
	// Check says what would be in the way of an action that nobody has allowed yet, nil when
	// nothing is or nobody knows. It changes nothing. Without it there never is anything.
	Check func(ctx context.Context, order Order, action sexp.List) error
}

// Registry is the list of actuators. Its zero value performs nothing.
type Registry struct {
	actuators []Actuator
}

// NewRegistry returns a registry of these actuators; of two for the same
// action the first is used.
func NewRegistry(actuators ...Actuator) *Registry {
	return &Registry{actuators: slices.Clone(actuators)}
}

// Available reports whether there is an actuator for such an action: nil, or an
// error that wraps [ErrNoActuator] and says what is missing.
func (r *Registry) Available(target, action string) error {
	_, err := r.find(target, action)
	return err
}

// Check says what would be in the way of the action now, which is in the kernel's view and
// not verified: nil when nothing is, or nobody knows.
func (r *Registry) Check(ctx context.Context, order Order, action sexp.List) error {
	actuator, err := r.find(policy.Target(action))
	if err != nil || actuator.Check == nil {
		return err
	}
	return actuator.Check(ctx, order, action)
}

// Perform performs the order and returns when its outcome is known.
func (r *Registry) Perform(ctx context.Context, order Order) (Result, error) {
	if !order.Action.Valid() {
		return Result{}, ErrUnverified
	}
	actuator, err := r.find(target(order.Action), order.Action.Action())
	if err != nil {
		return Result{}, err
	}
	result, err := actuator.Perform(ctx, order)
	if err != nil {
		return result, fmt.Errorf("perform %s: %w", name(actuator.Target, order.Action.Action()), err)
	}
	return result, nil
}

func (r *Registry) find(target, action string) (Actuator, error) {
	for _, a := range r.actuators {
		if a.Target == target && (a.Actions == nil || slices.Contains(a.Actions, action)) {
			return a, nil
		}
	}
	return Actuator{}, fmt.Errorf("%s: %w", name(target, action), ErrNoActuator)
}

// target is the :target of a request; the targets of a response and a log
// entry are named by their type.
func target(action policy.Verified) string {
	if t := action.Target(); t != "" {
		return t
	}
	return string(action.Type())
}

// name is how an action is called in errors: ":emacs :open", ":shell".
func name(target, action string) string {
	if action == "" {
		return ":" + target
	}
	return ":" + target + " :" + action
}
