package protocol

// Form is the form of a text of a conversation.
type Form string

const (
	// FormSubtree is the Org subtree of the conversation. The default.
	FormSubtree Form = "subtree"
	// FormPlain is Org alone, without a made-up heading.
	FormPlain Form = "plain"
	// FormRaw is the text before its conversion to Org; of an answer, that of the verified
	// action.
	FormRaw Form = "raw"
)

// PlistKeyword marks the type as an enum.
func (Form) PlistKeyword() {}

// TurnFindParams asks for a turn. ID is the :ID: of its question or of one of its answers, or
// the id of the turn. If the turn has not ended, the client gets its turn/finished later, even
// if it has not loaded the session.
type TurnFindParams struct {
	ID   string `json:"id"`
	Form Form   `json:"form,omitempty"`
}

// TurnFindResult is a turn from the journal, whatever the conversation's file has. Answer is
// the answer that ID names, or else the latest, and AnswerID is its :ID:. Both are missing
// while there is none. If Notice is true, Answer is a notice of the kernel.
type TurnFindResult struct {
	Session  string    `json:"session"`
	Turn     string    `json:"turn"`
	Event    string    `json:"event"`
	State    TurnState `json:"state"`
	Question string    `json:"question,omitempty"`
	AnswerID string    `json:"answer-id,omitempty"`
	Answer   string    `json:"answer,omitempty"`
	Notice   bool      `json:"notice,omitempty"`
}
