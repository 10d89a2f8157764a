package protocol

// TurnChangesParams asks for the changes of texts that a turn made, from the change with the
// number From on. ID is as in [TraceGetParams].
type TurnChangesParams struct {
	ID   string `json:"id"`
	From int    `json:"from,omitempty"`
}

// TurnChangesResult has the changes, in the order in which the turn made them. Next is the
// number of the change that comes next, 0 if there is none. Stays are the effects of the turn
// that cannot be undone, a line each.
type TurnChangesResult struct {
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	State   TurnState `json:"state"`
	Changes []Change  `json:"changes,omitempty"`
	Next    int       `json:"next,omitempty"`
	Stays   []string  `json:"stays,omitempty"`
}

// Change is one change of a text: Properties of the Entry were set, or else New replaced Old. Act is
// the id of the act that made it. The fields of the same names come from its [Receipt].
type Change struct {
	Act        string           `json:"act"`
	Entry      string           `json:"entry,omitempty"`
	File       string           `json:"file,omitempty"`
	Old        string           `json:"old,omitempty"`
	New        string           `json:"new,omitempty"`
	Before     string           `json:"before,omitempty"`
	After      string           `json:"after,omitempty"`
	Properties []Setting        `json:"properties,omitempty"`
	Former     []FormerProperty `json:"former,omitempty"`
	// Created: the change made the file, so that undoing it removes the file.
	Created bool `json:"created,omitempty"`
	// Unsure: the change has no receipt, and perhaps was not made.
	Unsure bool `json:"unsure,omitempty"`
	// Undone is when the change was undone, RFC 3339. A person may have redone it since, so
	// clients look at the text.
	Undone string `json:"undone,omitempty"`
}

// Setting is a property and its new value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// TurnUndoneParams reports that a person undid these acts of a turn.
type TurnUndoneParams struct {
	Turn string   `json:"turn"`
	Acts []string `json:"acts"`
}

// FileChanged names files that a tool has just changed on the disk. An editor rereads those that
// it shows without unsaved changes.
type FileChanged struct {
	Turn  string   `json:"turn"`
	Files []string `json:"files"`
}
