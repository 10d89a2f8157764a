package protocol

import (
	"slices"
	"time"

	"org-agent/kernel/text"
)

// AskSort is the kind of an ask.
type AskSort string

const (
	AskApproval AskSort = "approval" // whether an action may be done
	AskQuestion AskSort = "question" // to fill in a form
)

// PlistKeyword marks the type as an enum.
func (AskSort) PlistKeyword() {}

// Ask is a request for a decision of a person, an approval or a question. It is open until the
// person decides or its turn ends.
type Ask struct {
	ID      string  `json:"id"`
	Sort    AskSort `json:"sort"`
	Session string  `json:"session"`
	Turn    string  `json:"turn"`
	Event   string  `json:"event"`
	Opened  string  `json:"asked,omitempty"`  // RFC 3339: when it was opened
	Closed  string  `json:"closed,omitempty"` // RFC 3339: when it was closed
	// PendingAction is the action that an approval is about. A question has only its Action, which
	// is not sent to clients.
	PendingAction
	Form  *QuestionForm `json:"form,omitempty"`  // what a question asks
	Skill string        `json:"skill,omitempty"` // the skill that asks a question, or whose model does
	Act   string        `json:"act,omitempty"`   // the id of the action that asks a question; not sent to clients
	// Subagent is the label of the subagent that asks, and Parent the conversation that started
	// it. Both are "" if no subagent asks.
	Subagent string `json:"subagent,omitempty"`
	Parent   string `json:"parent,omitempty"`
	// Subtree is the text in the conversation, for clients that show the conversation.
	Subtree string `json:"subtree,omitempty"`
	AskOutcome
}

// PendingAction is an action that waits for a person. Action is canonical text; an approval is bound
// to its Hash. The kernel makes the texts for a person, from the action alone. If Cut is not 0,
// ask/get returns the whole.
type PendingAction struct {
	Action string `json:"action,omitempty"`
	Hash   string `json:"hash,omitempty"`
	Reason string `json:"reason,omitempty"` // why a person is asked
	// Summary names the action in one line of at most 72 characters.
	Summary string `json:"summary,omitempty"`
	// Text is what the action would do, with all characters visible, in Language: a diff, a
	// command or a message as text, or a call as lisp.
	Text     string  `json:"text,omitempty"`
	Language Keyword `json:"language,omitempty"`
	// Effects are the foreseen effects of the action, a line each.
	Effects []string `json:"effects,omitempty"`
	// Once: a person can allow the action only once.
	Once bool `json:"once,omitempty"`
	// Always: a person can allow an equal action always, which writes a rule into policy.org.
	Always bool `json:"always,omitempty"`
	// Reading is a read-only set of rules that is offered with the action; nil if none is. A person
	// can allow the action and have the rules written into policy.org.
	Reading *ReadingOffer `json:"reading,omitempty"`
	// Cut is how many bytes of Action and Text are left out here.
	Cut int `json:"cut,omitempty"`
}

// ReadingOffer is a read-only set: rows of policy.org that allow every conversation to read in a project.
// It is offered once for each project.
type ReadingOffer struct {
	Directory string       `json:"directory"`
	Rows      []OfferedRow `json:"rows"`
}

// OfferedRow is a row that allows something, as a person reads it in policy.org.
type OfferedRow struct {
	Rule    string `json:"rule"`
	Matches string `json:"matches"`
}

// AskOutcome is the decision about an ask, with the kind of client that sent it. It is zero while
// the ask waits, and if its turn ended before a decision.
type AskOutcome struct {
	Decision Decision      `json:"decision,omitempty"`
	Comment  string        `json:"comment,omitempty"` // the person's reason
	Edited   string        `json:"edited,omitempty"`  // of an approval: the action to run instead
	Answers  []FieldAnswer `json:"answers,omitempty"` // of a question; a secret has no values
	Client   string        `json:"client,omitempty"`  // the channel of its events: "emacs" or "cli"
}

// Waits reports whether the ask waits for a person.
func (a Ask) Waits() bool { return a.Closed == "" }

// ClosedAt returns when the ask was closed, or the zero time while it waits.
func (a Ask) ClosedAt() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, a.Closed)
	return at
}

// CheckWaits returns nil while the ask waits, and otherwise a CodeConflict error that names its
// outcome.
func (a Ask) CheckWaits() error {
	switch {
	case a.Waits():
		return nil
	case a.Decision == "":
		return Errorf(CodeConflict, "the %s %s is closed: its turn has ended", a.Sort, a.ID)
	case a.Sort == AskQuestion:
		return Errorf(CodeConflict, "the question %s is %s already: the first answer counts", a.ID, a.Decision)
	}
	return Errorf(CodeConflict, "the approval %s is decided already: %s", a.ID, a.Decision)
}

// CheckOutcome returns a CodeInvalidParams error if an ask of this sort cannot have the outcome.
func (a Ask) CheckOutcome(o AskOutcome) error {
	if a.Sort == AskQuestion {
		switch {
		case o.Decision != Answered && o.Decision != Declined:
			return Errorf(CodeInvalidParams, "%q is not a decision on a question: use answered or declined", o.Decision)
		case o.Edited != "":
			return Errorf(CodeInvalidParams, "a question has no action to edit: leave :edited out")
		case o.Decision == Declined && len(o.Answers) > 0:
			return Errorf(CodeInvalidParams, "a question is answered or declined, not both")
		case o.Decision == Answered && o.Comment != "":
			return Errorf(CodeInvalidParams, "a :reason is for declining: say :decision :declined, or leave it out")
		}
		return nil
	}
	switch {
	case a.Once && slices.Contains([]Decision{AllowTurn, AllowSession, AllowAlways}, o.Decision):
		return Errorf(CodeInvalidParams, "this is asked each time: it can be allowed once only")
	case a.Reading == nil && o.Decision == AllowReading:
		return Errorf(CodeInvalidParams, "no rules for reading are offered with this: allow it once, in this turn or in this session")
	case !a.Always && o.Decision == AllowAlways:
		return Errorf(CodeInvalidParams, "this cannot be allowed always, because an equal action does not come again: allow it once, in this turn or in this session")
	}
	switch o.Decision {
	case AllowOnce, Deny:
	case AllowTurn, AllowSession, AllowAlways, AllowReading:
		if o.Edited != "" {
			return Errorf(CodeInvalidParams, "an edited action is a new one: it can be allowed once only")
		}
	default:
		return Errorf(CodeInvalidParams, "%q is not a decision: use allow-once, allow-turn, allow-session, allow-always, allow-reading or deny", o.Decision)
	}
	if len(o.Answers) > 0 {
		return Errorf(CodeInvalidParams, "an approval has no form: leave :answers out")
	}
	return nil
}

// AskTextLimit is how many bytes an [Ask] on the wire has of its action, and of its text.
const AskTextLimit = 64 << 10

// Shortened returns the ask as clients receive it, with long texts cut.
func (a Ask) Shortened() Ask {
	if a.Sort == AskQuestion {
		a.Action, a.Act = "", ""
	}
	for _, part := range []*string{&a.Action, &a.Text} {
		shown := text.Prefix(*part, AskTextLimit)
		a.Cut += len(*part) - len(shown)
		*part = shown
	}
	return a
}

// AskListResult has every ask that waits, the oldest first.
type AskListResult struct {
	Asks []Ask `json:"asks,omitempty"`
}

// Of returns the asks of one sort.
func (r AskListResult) Of(sort AskSort) []Ask {
	var asks []Ask
	for _, a := range r.Asks {
		if a.Sort == sort {
			asks = append(asks, a)
		}
	}
	return asks
}

// AskGetParams asks for a part of an approval's action, or if Action is false of its text, from a
// byte on.
type AskGetParams struct {
	ID     string `json:"id"`
	Action bool   `json:"action,omitempty"`
	From   int    `json:"from,omitempty"`
}

// AskGetResult is the part. Text begins at byte From of Total. Next is the first byte of the rest,
// 0 if there is none.
type AskGetResult struct {
	Text  string `json:"text"`
	Next  int    `json:"next,omitempty"`
	Total int    `json:"total"`
}

// AskCheckParams asks whether the action of an approval could be performed now.
type AskCheckParams struct {
	ID string `json:"id"`
}

// AskCheckResult says what prevents the action, "" if nothing does or it is unknown. If the text of
// a change is not there any more, it has a diff.
type AskCheckResult struct {
	Stale string `json:"stale,omitempty"`
}

// AskDecideParams closes one ask. Edited is a whole action to perform instead of that of an
// approval. It is verified anew, and can be allowed only once. Answers are those to the form of a
// question, without fields that have no answer.
type AskDecideParams struct {
	ID       string        `json:"id"`
	Decision Decision      `json:"decision"`
	Reason   string        `json:"reason,omitempty"`
	Edited   string        `json:"edited,omitempty"`
	Answers  []FieldAnswer `json:"answers,omitempty"`
}

// Outcome returns the decision of the parameters, with that kind of client.
func (p AskDecideParams) Outcome(client string) AskOutcome {
	return AskOutcome{Decision: p.Decision, Comment: p.Reason, Edited: p.Edited, Answers: p.Answers, Client: client}
}

// AskDecideResult confirms a decision. If the rule for the decision "always" could not be written, the
// Decision is to allow it in this session; if the rules for reading could not, to allow it once. Note
// says why.
type AskDecideResult struct {
	ID       string   `json:"id"`
	Decision Decision `json:"decision"`
	Note     string   `json:"note,omitempty"`
}

// AskClosed notifies clients that an ask no longer waits. In a conversation its subtree changes
// from Waiting to Subtree. If a person changed the subtree, their text below the heading stays,
// unless it was the answer.
type AskClosed struct {
	ID       string   `json:"id"`
	Sort     AskSort  `json:"sort"`
	Session  string   `json:"session"`
	Turn     string   `json:"turn,omitempty"`
	Decision Decision `json:"decision,omitempty"` // missing: its turn ended
	Client   string   `json:"client,omitempty"`
	Waiting  string   `json:"waiting,omitempty"`
	Subtree  string   `json:"subtree,omitempty"`
}

// How much of the text of an approval a conversation shows. A command that is longer is not asked about,
// because nobody would see all of what they allow.
const (
	AskLines = 100
	AskBytes = 8 << 10
)
