package protocol

// FieldKind says what a person answers a field of a form with.
type FieldKind string

const (
	FieldText    FieldKind = "text"
	FieldChoice  FieldKind = "choice"  // one of the options
	FieldChoices FieldKind = "choices" // any of them
	FieldNumber  FieldKind = "number"
	FieldYesNo   FieldKind = "yes-no"
	FieldSecret  FieldKind = "secret" // kept nowhere: not in a buffer, the journal or the log
)

// PlistKeyword marks the type as an enum.
func (FieldKind) PlistKeyword() {}

// FieldKinds are all of them, as they are named in errors.
func FieldKinds() []FieldKind {
	return []FieldKind{FieldText, FieldChoice, FieldChoices, FieldNumber, FieldYesNo, FieldSecret}
}

// QuestionForm is what a turn asks a person. All its texts are one line each.
type QuestionForm struct {
	Title  string      `json:"title"`
	Fields []FormField `json:"fields,omitempty"`
}

// FormField is one thing that is asked. Options belong to choices; Own allows an answer
// that is none of them. Default, Min and Max are missing where there is none.
type FormField struct {
	Name     string    `json:"name"` // what the answer is called
	Kind     FieldKind `json:"kind"`
	Question string    `json:"question"`
	Options  []string  `json:"options,omitempty"`
	Own      bool      `json:"own,omitempty"`
	Optional bool      `json:"optional,omitempty"`
	Default  string    `json:"default,omitempty"`
	Min      *float64  `json:"min,omitempty"`
	Max      *float64  `json:"max,omitempty"`
}

// FieldAnswer is a person's answer to the field of that name: a text, the options that
// were chosen, a number in decimals, "yes" or "no". A journalled one of a secret has no
// values.
type FieldAnswer struct {
	Name   string   `json:"name"`
	Values []string `json:"values,omitempty"`
}

// Question is a form that waits for a person. Nothing but a person's answer closes it, or
// the end of its turn.
type Question struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Turn    string       `json:"turn"`
	Event   string       `json:"event"`
	Skill   string       `json:"skill,omitempty"` // that asks, or whose model does
	Asked   string       `json:"asked,omitempty"` // RFC 3339
	Form    QuestionForm `json:"form"`
	// Subtree is how it stands in its conversation, when it is told to a client of that.
	Subtree string `json:"subtree,omitempty"`
}

// QuestionListResult is every question that waits, oldest first.
type QuestionListResult struct {
	Questions []Question `json:"questions,omitempty"`
}

// QuestionAnswerParams answers a question, or declines to with a Reason for whoever asked.
// A field without an answer is left out.
type QuestionAnswerParams struct {
	ID       string        `json:"id"`
	Answers  []FieldAnswer `json:"answers,omitempty"`
	Declined bool          `json:"declined,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// QuestionAnswerResult says that the answer was taken.
type QuestionAnswerResult struct {
	ID       string `json:"id"`
	Declined bool   `json:"declined,omitempty"`
}

// QuestionState says how a question was closed.
type QuestionState string

const (
	QuestionAnswered  QuestionState = "answered"
	QuestionDeclined  QuestionState = "declined"
	QuestionWithdrawn QuestionState = "withdrawn" // its turn ended first
)

// PlistKeyword marks the type as an enum.
func (QuestionState) PlistKeyword() {}

// QuestionClosed: the question needs no answer any more. In a conversation its subtree,
// which was Waiting, becomes Subtree; in one that a person changed, what they wrote below
// the heading stays, unless it was the answer.
type QuestionClosed struct {
	ID      string        `json:"id"`
	Session string        `json:"session"`
	Turn    string        `json:"turn,omitempty"`
	State   QuestionState `json:"state"`
	Client  string        `json:"client,omitempty"` // that a person answered with: "emacs", "cli"
	Waiting string        `json:"waiting,omitempty"`
	Subtree string        `json:"subtree,omitempty"`
}
