package protocol

// SessionCompactParams asks for a summary of the beginning of a conversation, which models
// are shown in its place from then on; with Undo the last one is taken back, with Stop the
// one that is being made is not. What was said stays as it is, for people and in the journal.
type SessionCompactParams struct {
	Session string `json:"session,omitempty"` // "" for main
	Undo    bool   `json:"undo,omitempty"`
	Stop    bool   `json:"stop,omitempty"`
}

// SessionCompacted is what came of it. Clients of the session are also told when it begins.
type SessionCompacted struct {
	Session string         `json:"session"`
	State   CompactedState `json:"state"`
	// Turns is how many of the first turns are shown as notes; Notes is what stands for them.
	Turns int    `json:"turns,omitempty"`
	Notes string `json:"notes,omitempty"`
	// Before and After are what the earlier turns took and take, in tokens, and Room how many
	// the model's window has.
	Before int    `json:"before,omitempty"`
	After  int    `json:"after,omitempty"`
	Room   int    `json:"room,omitempty"`
	Text   string `json:"text,omitempty"` // a line for a person
}

// CompactedState is where a summary stands.
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
