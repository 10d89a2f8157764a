package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Set holds all kinds of actions. It implements [policy.Kinds].
type Set struct {
	kinds []Kind
	specs action.Specs
}

// New returns the set of these kinds, in the order in which they are documented. If two kinds are
// for the same actions, the first one counts.
func New(kinds ...Kind) *Set { return (&Set{}).With(kinds...) }

// With returns a set with more kinds after the existing ones.
func (s *Set) With(more ...Kind) *Set {
	if len(more) == 0 {
		return s
	}
	all := &Set{kinds: slices.Concat(s.kinds, more)}
	for _, k := range all.kinds {
		all.specs = append(all.specs, k.Spec)
	}
	return all
}

// Specs implements [policy.Kinds].
func (s *Set) Specs() action.Specs { return s.specs }

// find returns the kind of an action, or the zero Kind if there is none.
func (s *Set) find(key action.Key) Kind {
	if i := s.specs.Find(key); i >= 0 {
		return s.kinds[i]
	}
	return Kind{}
}

// Judge implements [policy.Kinds].
func (s *Set) Judge(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
	k := s.find(a.Key())
	switch {
	case k.Spec.Off != "":
		return policy.Refused("%s", k.Spec.Off)
	case k.Judge == nil:
		return policy.Verdict{Kind: policy.Ask, Reason: "it does " + k.Spec.Key().String() + ", which is always asked about", ByName: true}
	}
	return k.Judge(ctx, turn, a)
}

// Ends implements [policy.Kinds].
func (s *Set) Ends(a action.Action, where policy.Where) bool {
	k := s.find(a.Key())
	return k.Ends != nil && k.Ends(a, where)
}

// IsReply reports whether the :text of a proposal is text for a conversation.
func (s *Set) IsReply(proposal sexp.List) bool {
	return s.find(action.Propose(proposal).Action().Key()).Spec.Reply
}

// Available returns nil if something performs such an action. Otherwise the error wraps
// [ErrNoPerformer] and says what is missing.
func (s *Set) Available(key action.Key) error {
	if k := s.find(key); k.Perform == nil || k.Offered != nil && !k.Offered() {
		return fmt.Errorf("%s: %w", key, ErrNoPerformer)
	}
	return nil
}

// Check returns an error if something prevents a judged action now. It returns nil if nothing does,
// or if that is not known. The action need not be verified.
func (s *Set) Check(ctx context.Context, order Order, a action.Action) error {
	if k := s.find(a.Key()); k.Check != nil {
		return k.Check(ctx, order, a)
	}
	return nil
}

// CheckClient is Check for actions that a client performs. It returns nil for all others, because
// they can only be checked within their turn.
func (s *Set) CheckClient(ctx context.Context, order Order, a action.Action) error {
	if !s.find(a.Key()).ByClient {
		return nil
	}
	return s.Check(ctx, order, a)
}

// ByClient returns the names of the kinds that clients perform, as clients announce them.
func (s *Set) ByClient() []string {
	var names []string
	for _, k := range s.kinds {
		if k.ByClient {
			names = append(names, cmp.Or(k.Spec.Name, k.Spec.Target))
		}
	}
	return names
}

// Perform performs the order and returns when its outcome is known. It is the only function in the
// kernel that performs actions, and it refuses an action that no policy verified. An error that
// wraps [ErrOutcomeUnknown] means that the action may have happened.
func (s *Set) Perform(ctx context.Context, order Order) (Result, error) {
	if !order.Action.Valid() {
		return Result{}, ErrUnverified
	}
	key := order.Action.Action().Key()
	if err := s.Available(key); err != nil {
		return Result{}, err
	}
	k := s.find(key)
	result, err := k.Perform(ctx, order)
	if k.Reconcile != nil && errors.Is(err, ErrOutcomeUnknown) {
		result, err = k.Reconcile(ctx, order, err)
	}
	if err != nil {
		return result, fmt.Errorf("perform %s: %w", key, err)
	}
	return result, nil
}

// Describe returns what a person is shown of the action.
func (s *Set) Describe(a action.Action, deps describe.Deps) describe.Description {
	if k := s.find(a.Key()); k.Describe != nil {
		return k.Describe(a, deps).Finished(deps)
	}
	return describe.Description{
		Summary: "Do " + a.Key().String(), Language: "lisp", Text: a.Canonical(), Effects: []string{"what it does is not known here"},
	}.Finished(deps)
}

// Calls returns the calls that hooks before a tool see for this action.
func (s *Set) Calls(a action.Action) []action.Call {
	if k := s.find(a.Key()); k.Calls != nil {
		return k.Calls(a)
	}
	return []action.Call{a.AsCall(CallName(a.Key()))}
}

// CallName returns the name by which hooks know an action that calls no tool.
func CallName(key action.Key) string {
	if key.Name == "" {
		return key.Target
	}
	return key.Target + "-" + key.Name
}

// CallNames returns the names by which hooks know the actions that call no tool and send no text.
func (s *Set) CallNames() (names []string) {
	for _, k := range s.kinds {
		if k.Spec.Type != "" || k.Spec.Off != "" || k.Sends != nil {
			continue
		}
		own := CallName(k.Spec.Key())
		if slices.ContainsFunc(s.Calls(k.Spec.Form().Proposed().Action()), func(c action.Call) bool { return c.Tool == own }) {
			names = append(names, own)
		}
	}
	return names
}

// Sends returns the recipient of the action's text. It returns false if the action sends no text.
func (s *Set) Sends(a action.Action) (to string, sends bool) {
	k := s.find(a.Key())
	if k.Sends == nil {
		return "", false
	}
	return k.Sends(a), true
}

// Reads reports whether the action changes nothing, so that it may be repeated.
func (s *Set) Reads(a action.Action) bool {
	k := s.find(a.Key())
	return k.Reads != nil && k.Reads(a)
}

// Silent reports whether nobody is shown what the action does.
func (s *Set) Silent(a action.Action) bool { return s.find(a.Key()).Silent }

// Outside names the result of the action if others may have written it, or if that is not known
// because there is no such kind any more. It returns "" if they have not.
func (s *Set) Outside(a action.Action) string {
	i := s.specs.Find(a.Key())
	if i < 0 {
		return fmt.Sprintf("what %s returned", a.Key())
	}
	if k := s.kinds[i]; k.Outside != nil {
		return k.Outside(a)
	}
	return ""
}

// Subagent returns the tools that a subagent needs for the action, or why no subagent may perform
// it.
func (s *Set) Subagent(a action.Action) (needs []string, refused string) {
	if k := s.find(a.Key()); k.Subagent != nil {
		return k.Subagent(a)
	}
	return nil, "a subagent writes to nobody: its answer is its report"
}

// ActsOnID reports whether the :id of such an action names the object of the action. Otherwise the
// :id is a label by the model.
func (s *Set) ActsOnID(a action.Action) bool { return s.find(a.Key()).Spec.HasField("id") }

// Undo returns how to undo the action: changes of texts, and one line for each effect that stays.
func (s *Set) Undo(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string) {
	switch k := s.find(a.Key()); {
	case k.Undo != nil:
		return k.Undo(a, receipt)
	case len(receipt.Files) > 0:
		return Files(receipt)
	}
	return nil, []string{s.Describe(a, describe.Deps{}).Summary}
}

// Files returns the changes that tools made in files, and one line for each effect that stays.
func Files(receipt protocol.Receipt) (changes []protocol.Change, stays []string) {
	for _, f := range receipt.Files {
		if f.Opaque {
			stays = append(stays, "The change of "+f.File+", which is no text or too long to be kept")
			continue
		}
		changes = append(changes, protocol.Change{
			File: f.File, Old: f.Old, New: f.New, Before: f.Before, After: f.After, Created: f.Created,
		})
	}
	return changes, stays
}
