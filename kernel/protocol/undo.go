package protocol

// TurnChangesParams asks what a turn changed in texts: the turn that ID belongs to, as in
// [TraceGetParams], from its change number From on.
type TurnChangesParams struct {
	ID   string `json:"id"`
	From int    `json:"from,omitempty"`
}

// TurnChangesResult is what it changed, in the order in which it did. Next is the number of
// the change that comes next, 0 when there is none. Stays is what cannot be taken back of
// what the turn did, a line each.
type TurnChangesResult struct {
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	State   TurnState `json:"state"`
	Changes []Change  `json:"changes,omitempty"`
	Next    int       `json:"next,omitempty"`
	Stays   []string  `json:"stays,omitempty"`
}

// Change is one change of a text, with what its receipt said. Act is the id of the act that
// made it; of [Receipt] are the fields from File on.
type Change struct {
	Act        string           `json:"act"`
	Action     Keyword          `json:"action"` // edit or set-properties
	Entry      string           `json:"entry,omitempty"`
	File       string           `json:"file,omitempty"`
	Old        string           `json:"old,omitempty"`
	New        string           `json:"new,omitempty"`
	Before     string           `json:"before,omitempty"`
	After      string           `json:"after,omitempty"`
	Properties []Setting        `json:"properties,omitempty"`
	Former     []FormerProperty `json:"former,omitempty"`
	// Created: the file was not there before, so that taking this back removes it.
	Created bool `json:"created,omitempty"`
	// Unsure: no receipt says that it was made.
	Unsure bool `json:"unsure,omitempty"`
	// Undone is when it was taken back, RFC 3339. Undo may have made it again since: what
	// counts is the text.
	Undone string `json:"undone,omitempty"`
}

// Setting is a property and what it was set to.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// TurnUndoneParams reports that a person took these acts of a turn back.
type TurnUndoneParams struct {
	Turn string   `json:"turn"`
	Acts []string `json:"acts"`
}

// FileChanged names files that a tool has just changed on the disk: an editor that shows one,
// without changes of its own, shows what is there now.
type FileChanged struct {
	Turn  string   `json:"turn"`
	Files []string `json:"files"`
}
