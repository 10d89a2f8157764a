package protocol

import (
	"slices"
	"strings"
)

// ClientInfo introduces a client. Name and Version are told to people and written to the log;
// nothing is decided by them. Emacs is the version of the Emacs that the client lives in, ""
// for any other program.
type ClientInfo struct {
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Emacs        string       `json:"emacs,omitempty"`
	Capabilities Capabilities `json:"capabilities,omitzero"`
}

// Capabilities are what a client can do. A client announces them once, in initialize, and the
// kernel decides by them alone whom it asks for what. The zero value is a client that sends
// requests and is sent what concerns the conversations that it shows.
type Capabilities struct {
	// KeepsFile: it can visit a conversation's file and add turns to it.
	KeepsFile bool `json:"keeps-file,omitempty"`
	// Streams: it shows an answer while the answer is written. Any other client is sent the
	// verified whole.
	Streams bool `json:"streams,omitempty"`
	// Notices: it stays connected and shows a person what concerns no conversation of its own:
	// faults that last, and approvals that wait where nobody looks.
	Notices bool `json:"notices,omitempty"`
	// Performs names the actions that it performs, beside insertions into its conversations.
	Performs []string `json:"performs,omitempty"`
	// Answers names the requests of the kernel that it answers, beside act.
	Answers []string `json:"answers,omitempty"`
}

// CanPerform reports whether the client performs the action of that name.
func (c Capabilities) CanPerform(action string) bool {
	return slices.ContainsFunc(c.Performs, func(name string) bool {
		return strings.EqualFold(strings.TrimPrefix(name, ":"), action)
	})
}

// CanAnswer reports whether the client answers requests of that method.
func (c Capabilities) CanAnswer(method string) bool { return slices.Contains(c.Answers, method) }

// Channel is where the events of such a client come from unless they say otherwise: a client
// that keeps files or performs actions is an editor, any other a command line.
func (c Capabilities) Channel() Channel {
	if c.KeepsFile || len(c.Performs) > 0 {
		return ChannelEmacs
	}
	return ChannelCLI
}
