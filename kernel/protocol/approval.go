package protocol

import "org-agent/kernel/text"

// Approval is an action that waits for a person. Action is canonical text; Hash is what an
// approval is bound to. What is shown of it is made by the kernel, from the action alone:
// the whole is had by approval/get where Cut says that something is missing.
type Approval struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	Action  string `json:"action"`
	Hash    string `json:"hash"`
	Reason  string `json:"reason"`          // why it asks
	Asked   string `json:"asked,omitempty"` // RFC 3339
	// Summary is what it is, in one line of at most 72 characters.
	Summary string `json:"summary,omitempty"`
	// Text is what it would do, all characters visible, in Language: a diff, a command or
	// a message as text, or a call as lisp.
	Text     string  `json:"text,omitempty"`
	Language Keyword `json:"language,omitempty"`
	// Effects are what is foreseen of it, a line each.
	Effects []string `json:"effects,omitempty"`
	// Subagent is the label of the subagent that asks, Parent the conversation that handed it
	// its work; "" where a turn asks for itself.
	Subagent string `json:"subagent,omitempty"`
	Parent   string `json:"parent,omitempty"`
	// Once: it can be allowed once only.
	Once bool `json:"once,omitempty"`
	// Cut: how many bytes of Action and Text are left out here.
	Cut int `json:"cut,omitempty"`
	// Subtree is how it stands in its conversation, when it is told to a client of that.
	Subtree string `json:"subtree,omitempty"`
}

// ApprovalShownLimit is how many bytes an [Approval] has on the wire of its action, and of
// its text.
const ApprovalShownLimit = 64 << 10

// Shown is the approval as it is sent, with long texts cut.
func (a Approval) Shown() Approval {
	for _, part := range []*string{&a.Action, &a.Text} {
		kept := text.Prefix(*part, ApprovalShownLimit)
		a.Cut += len(*part) - len(kept)
		*part = kept
	}
	return a
}

// ApprovalListResult is every approval that waits, oldest first.
type ApprovalListResult struct {
	Approvals []Approval `json:"approvals,omitempty"`
}

// ApprovalGetParams asks for a part of an approval's action, or with Action false of its
// text, from a byte on.
type ApprovalGetParams struct {
	ID     string `json:"id"`
	Action bool   `json:"action,omitempty"`
	From   int    `json:"from,omitempty"`
}

// ApprovalGetResult is the part: Text begins at byte From of Total; Next is where the rest
// begins, 0 when there is none.
type ApprovalGetResult struct {
	Text  string `json:"text"`
	Next  int    `json:"next,omitempty"`
	Total int    `json:"total"`
}

// ApprovalCheckParams asks whether what waits could be done as things are now.
type ApprovalCheckParams struct {
	ID string `json:"id"`
}

// ApprovalCheckResult says what is in the way, "" when nothing is, or nobody knows: of a
// change of text that its text is not there any more, with a diff of that.
type ApprovalCheckResult struct {
	Stale string `json:"stale,omitempty"`
}

// ApprovalDecideParams decides one approval. Edited is a whole action to run
// instead; it is verified anew and may only be allowed once.
type ApprovalDecideParams struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason,omitempty"`
	Edited   string   `json:"edited,omitempty"`
}

// ApprovalDecideResult says what became of it.
type ApprovalDecideResult struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
}

// ApprovalClosed: the approval needs no decision any more. In a conversation its subtree,
// which was Waiting, becomes Subtree; one that a person changed keeps what they wrote below
// the heading.
type ApprovalClosed struct {
	ID       string   `json:"id"`
	Session  string   `json:"session"`
	Turn     string   `json:"turn,omitempty"`
	Decision Decision `json:"decision,omitempty"` // missing: its turn ended
	Client   string   `json:"client,omitempty"`   // that a person decided with: "emacs", "cli"
	Waiting  string   `json:"waiting,omitempty"`
	Subtree  string   `json:"subtree,omitempty"`
}
