package protocol

import (
	"slices"
	"strings"
)

// ClientInfo introduces a client. Name and Version are for people and for the log; no decision
// depends on them. Emacs is the version of the Emacs that the client runs in, "" for any other
// program.
type ClientInfo struct {
	Name         string       `json:"name"`
	Version      string       `json:"version,omitempty"`
	Emacs        string       `json:"emacs,omitempty"`
	Capabilities Capabilities `json:"capabilities,omitzero"`
}

// Capabilities are what a client can do. A client announces them once, in initialize. They alone
// decide which requests the kernel sends to which client. A client with the zero value sends
// requests, and gets the notifications of the conversations that it shows.
type Capabilities struct {
	// KeepsFile: the client can visit a conversation's file and add turns to it.
	KeepsFile bool `json:"keeps-file,omitempty"`
	// Streams: the client shows an answer while the model writes it. Any other client gets only
	// the whole verified answer.
	Streams bool `json:"streams,omitempty"`
	// Notices: the client stays connected, and shows a person notices that belong to none of its
	// conversations: lasting faults, and approvals that wait where nobody looks.
	Notices bool `json:"notices,omitempty"`
	// Performs names the actions that the client performs. An action without a name is named by its
	// target. Insertions into the conversations that the client shows need not be among them.
	Performs []string `json:"performs,omitempty"`
	// Answers names the requests of the kernel that the client answers, beside act.
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

// Channel returns the channel of the client's events if an event names none. A client that keeps
// files or performs actions is an editor, any other a command line.
func (c Capabilities) Channel() Channel {
	if c.KeepsFile || len(c.Performs) > 0 {
		return ChannelEmacs
	}
	return ChannelCLI
}
