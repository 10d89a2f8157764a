package protocol

// Form is how a text that was said is wanted.
type Form string

const (
	// FormSubtree is the Org subtree of the conversation. The default.
	FormSubtree Form = "subtree"
	// FormPlain is Org alone, without a made-up heading.
	FormPlain Form = "plain"
	// FormRaw is the text as it was before it was made Org: of an answer that of the
	// verified action.
	FormRaw Form = "raw"
)

// PlistKeyword marks the type as an enum.
func (Form) PlistKeyword() {}

// TurnFindParams asks what is known of the turn that ID belongs to: the :ID: of its
// question or of one of its answers, or the turn's own. Whoever asks about one that has
// not ended gets its turn/finished, also without having loaded the session.
type TurnFindParams struct {
	ID   string `json:"id"`
	Form Form   `json:"form,omitempty"`
}

// TurnFindResult is a turn as the journal has it, whatever became of it in the
// conversation's file. Answer is the one that ID names or else the latest, AnswerID its
// :ID:; without one so far both are missing. Notice: the kernel's own words stand in
// the answer's place.
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
