package policy

import "org-agent/kernel/action"

// Verified is an action that the policy let through. Only this package can
// make one that is [Verified.Valid]; a zero value, or one made by hand, is
// refused by the one function that performs.
type Verified struct {
	by     *Policy
	action action.Action // as it was judged
}

// Valid reports whether a policy made this value.
func (v Verified) Valid() bool { return v.by != nil }

// Action is what was let through: as it was judged, with paths resolved.
func (v Verified) Action() action.Action { return v.action }
