package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Set is all kinds of actions that there are. It implements [policy.Kinds].
type Set struct {
	kinds []Kind
	specs action.Specs
}

// New returns the set of these kinds, in the order in which they are documented. Of two for the
// same actions the first counts.
func New(kinds ...Kind) *Set { return (&Set{}).With(kinds...) }

// With returns a set that has more kinds, behind those that are there.
func (s *Set) With(more ...Kind) *Set {
	all := &Set{kinds: slices.Concat(s.kinds, more)}
	for _, k := range all.kinds {
		all.specs = append(all.specs, k.Spec)
	}
	return all
}

// Specs implements [policy.Kinds].
func (s *Set) Specs() action.Specs { return s.specs }

// find is the kind of an action, the zero Kind where there is none.
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
	case k.Off != "":
		return policy.Refused("%s", k.Off)
	case k.Judge == nil:
		return policy.Verdict{Kind: policy.Ask, Reason: "it does " + k.Key().String() + ", which is always asked about"}
	}
	return k.Judge(ctx, turn, a)
}

// Ends implements [policy.Kinds].
func (s *Set) Ends(a action.Action, where policy.Where) bool {
	k := s.find(a.Key())
	return k.Ends != nil && k.Ends(a, where)
}

// IsReply reports whether the :text of a proposal is words for a conversation.
func (s *Set) IsReply(proposal sexp.List) bool {
	return s.find(action.Propose(proposal).Action().Key()).Reply
}

// Available reports whether there is anything that performs such an action: nil, or an error
// that wraps [ErrNoPerformer] and says what is missing.
func (s *Set) Available(key action.Key) error {
	if s.find(key).Perform == nil {
		return fmt.Errorf("%s: %w", key, ErrNoPerformer)
	}
	return nil
}

// Check says what would be in the way of the action as things are, which is judged and not
// verified: nil when nothing is, or nobody knows.
func (s *Set) Check(ctx context.Context, order Order, a action.Action) error {
	if k := s.find(a.Key()); k.Check != nil {
		return k.Check(ctx, order, a)
	}
	return nil
}

// CheckClient is Check for what a client performs. Of anything else nobody says what is in the way
// outside of the turn that wants it.
func (s *Set) CheckClient(ctx context.Context, order Order, a action.Action) error {
	if !s.find(a.Key()).ByClient {
		return nil
	}
	return s.Check(ctx, order, a)
}

// ByClient are the names of the kinds that clients perform.
func (s *Set) ByClient() []string {
	var names []string
	for _, k := range s.kinds {
		if k.ByClient {
			names = append(names, k.Name)
		}
	}
	return names
}

// Perform performs the order and returns when its outcome is known. It is the one function in the
// kernel that does so, and refuses what the policy did not make. An error that wraps
// [ErrOutcomeUnknown] means that the action may have happened.
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
	if k.Settle != nil && errors.Is(err, ErrOutcomeUnknown) {
		result, err = k.Settle(ctx, order, err)
	}
	if err != nil {
		return result, fmt.Errorf("perform %s: %w", key, err)
	}
	return result, nil
}

// Describe says what a person is shown of the action.
func (s *Set) Describe(a action.Action, w describe.World) describe.Description {
	if k := s.find(a.Key()); k.Describe != nil {
		return k.Describe(a, w).Finished(w)
	}
	return describe.Description{
		Summary: "Do " + a.Key().String(), Language: "lisp", Text: a.Canonical(), Effects: []string{"what it does is not known here"},
	}.Finished(w)
}

// Calls are the calls of tools that hooks before a tool take the action for.
func (s *Set) Calls(a action.Action) []action.Call {
	if k := s.find(a.Key()); k.Calls != nil {
		return k.Calls(a)
	}
	key := a.Key()
	return []action.Call{{Tool: key.Target + "-" + key.Name, Args: plist.Without(a.WithEntry(), "action")}}
}

// Sends says to whom the action sends its text; false where it sends nothing.
func (s *Set) Sends(a action.Action) (to string, sends bool) {
	k := s.find(a.Key())
	if k.Sends == nil {
		return "", false
	}
	return k.Sends(a), true
}

// Reads reports whether the action changes nothing, so that it may be done twice.
func (s *Set) Reads(a action.Action) bool {
	k := s.find(a.Key())
	return k.Reads != nil && k.Reads(a)
}

// Outside names what comes of the action where others may have written that, "" for nothing of
// the kind.
func (s *Set) Outside(a action.Action) string {
	if k := s.find(a.Key()); k.Outside != nil {
		return k.Outside(a)
	}
	return ""
}

// Subagent says which tools a subagent must have been handed to do the action, or why none does
// it.
func (s *Set) Subagent(a action.Action) (needs []string, refused string) {
	if k := s.find(a.Key()); k.Subagent != nil {
		return k.Subagent(a)
	}
	return nil, "a subagent writes to nobody: its answer is its report"
}

// ActsOnID reports whether the :id of such an action is what is acted on, and no name that a model
// gave it.
func (s *Set) ActsOnID(a action.Action) bool { return s.find(a.Key()).HasField("id") }

// Undo says how what was done is taken back: as changes of texts, and in lines what stays.
func (s *Set) Undo(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string) {
	switch k := s.find(a.Key()); {
	case k.Undo != nil:
		return k.Undo(a, receipt)
	case len(receipt.Files) > 0:
		return Files(receipt)
	}
	return nil, []string{s.Describe(a, describe.World{}).Summary}
}

// Files are the changes that tools made in files.
func Files(receipt protocol.Receipt) (changes []protocol.Change, stays []string) {
	for _, f := range receipt.Files {
		if f.Opaque {
			stays = append(stays, "The change of "+f.File+", which is no text or too long to be kept")
			continue
		}
		changes = append(changes, protocol.Change{
			Action: "edit", File: f.File, Old: f.Old, New: f.New, Before: f.Before, After: f.After, Created: f.Created,
		})
	}
	return changes, stays
}
