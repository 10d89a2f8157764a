package policy

import "org-agent/kernel/action"

// Verified is an action that the policy let through. Only this package can make a [Verified.Valid]
// one. The function that performs actions refuses every other value.
type Verified struct {
	by     *Policy
	action action.Action // the action as it was judged
}

// Valid reports whether a policy made this value.
func (v Verified) Valid() bool { return v.by != nil }

// Action returns the action as it was judged, with its paths resolved.
func (v Verified) Action() action.Action { return v.action }
