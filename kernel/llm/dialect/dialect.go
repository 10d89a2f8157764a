// Package dialect contains the dialects in which models are shown calls, results and tools. Each is
// a file with a type that implements [llm.Dialect], and a line in [All].
//
// A dialect renders values into what a server is sent. It asks nothing, and caches only what it
// rendered recently. The dialects are safe for use by several goroutines.
package dialect

import (
	"slices"

	"org-agent/kernel/llm"
)

// All returns the dialects. The first is for models whose settings name none.
func All() llm.Dialects {
	return llm.Dialects{
		NewPlist(),
		Constrained{NewPlist(), NewStructured()},
		NewNative(true),
	}
}

// alternating returns messages as every server takes them: none is blank, the first is the user's,
// and messages of the user and of the model alternate. Consecutive messages of one of them are
// joined. It does not change its argument.
func alternating(messages []llm.Message) []llm.Message {
	fit := 0
	for fit < len(messages) && fits(messages, fit) {
		fit++
	}
	if fit == len(messages) {
		return messages
	}
	joined := append(make([]llm.Message, 0, len(messages)), messages[:fit]...)
	for _, m := range messages[fit:] {
		last := len(joined) - 1
		switch {
		case m.Blank():
		case last < 0 && m.Role == llm.RoleAssistant:
		case len(m.Calls) > 0 || m.Outcome != nil: // a call and its results belong together
			joined = append(joined, m)
		case last >= 0 && joined[last].Role == m.Role && len(joined[last].Calls) == 0:
			joined[last].Text += "\n\n" + m.Text
			joined[last].Images = append(slices.Clip(joined[last].Images), m.Images...)
		default:
			joined = append(joined, m)
		}
	}
	return joined
}

// fits reports whether a message can stay at its place, if all before it can.
func fits(messages []llm.Message, at int) bool {
	m := &messages[at]
	switch {
	case m.Blank():
		return false
	case len(m.Calls) > 0, m.Outcome != nil:
		return at > 0
	case at == 0:
		return m.Role != llm.RoleAssistant
	}
	return m.Role != messages[at-1].Role
}
