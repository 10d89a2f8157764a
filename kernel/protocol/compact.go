package protocol

// SessionCompactParams asks for a summary of the beginning of a conversation. Models see the
// summary in its place from then on. Undo takes the last summary back; Stop stops the one that is
// being made. The conversation itself does not change, for people and in the journal.
type SessionCompactParams struct {
	Session string `json:"session,omitempty"` // "" for main
	Undo    bool   `json:"undo,omitempty"`
	Stop    bool   `json:"stop,omitempty"`
}

// SessionCompacted is the state of a summary. Clients of the session also get it as a
// notification, when the summary begins and when it ends.
type SessionCompacted struct {
	Session string         `json:"session"`
	State   CompactedState `json:"state"`
	// Turns is how many of the first turns the summary replaces; Notes is its text.
	Turns int    `json:"turns,omitempty"`
	Notes string `json:"notes,omitempty"`
	// Before and After are the tokens of the earlier turns without and with the summary. Room is
	// the model's window in tokens.
	Before int    `json:"before,omitempty"`
	After  int    `json:"after,omitempty"`
	Room   int    `json:"room,omitempty"`
	Text   string `json:"text,omitempty"` // a line for a person
}

// CompactedState is the state of a summary.
type CompactedState string

const (
	CompactingRunning CompactedState = "running"
	CompactingDone    CompactedState = "done"
	CompactingFailed  CompactedState = "failed"  // nothing has changed
	CompactingStopped CompactedState = "stopped" // nothing has changed
	CompactingUndone  CompactedState = "undone"
)

// PlistKeyword makes it a keyword in plists.
func (CompactedState) PlistKeyword() {}
