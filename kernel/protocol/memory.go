package protocol

// The methods for memory. [MethodMemoryChanged] and [MethodMemoryProposed] are notifications of
// the kernel; the others are requests of a client.
const (
	MethodMemorySearch    = "memory/search"
	MethodMemoryChanges   = "memory/changes"
	MethodMemoryUndo      = "memory/undo"
	MethodMemoryIndex     = "memory/index"
	MethodMemoryChanged   = "memory/changed"
	MethodMemoryProposals = "memory/proposals"
	MethodMemoryAccept    = "memory/accept"
	MethodMemoryDrop      = "memory/drop"
	MethodMemoryProposed  = "memory/proposed"
)

// MemorySearchParams searches the agent's memory and the person's own notes. Query has the syntax
// of [SessionSearchParams]. It may be empty if another field is set. If no field is set, the result
// is the latest records of the memory.
type MemorySearchParams struct {
	Query      string   `json:"query,omitempty"`
	Tags       []string `json:"tags,omitempty"`  // all of them
	Since      string   `json:"since,omitempty"` // a day, 2026-11-22
	Until      string   `json:"until,omitempty"` // a day, included
	Files      []string `json:"files,omitempty"` // only in these files or directories
	MemoryOnly bool     `json:"kept,omitempty"`  // only in the memory, not in the person's notes elsewhere
	Limit      int      `json:"limit,omitempty"` // 20 if missing, at most 200
}

// MemorySearchResult has the hits, the best first. If Indexing is true, the index is not complete
// yet and there may be more. If More is true, there are more, and a greater limit returns them. If
// Offer is true, config.org neither allows nor forbids a search in the person's own notes.
type MemorySearchResult struct {
	Hits     []MemoryHit `json:"hits,omitempty"`
	More     bool        `json:"more,omitempty"`
	Indexing bool        `json:"indexing,omitempty"`
	Offer    bool        `json:"offer,omitempty"`
}

// MemoryHit is a heading, or the beginning of a file.
type MemoryHit struct {
	ID      string        `json:"id,omitempty"`
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Title   string        `json:"title"`
	Day     string        `json:"day,omitempty"`
	Tags    []string      `json:"tags,omitempty"`
	Scope   string        `json:"scope,omitempty"` // the only conversation that it is for
	Own     bool          `json:"own,omitempty"`   // the agent wrote it, and nobody changed it since
	Snippet string        `json:"snippet,omitempty"`
	Matches []SearchMatch `json:"matches,omitempty"`
}

// MemoryOperation is the kind of a change of a record.
type MemoryOperation string

const (
	MemorySaved     MemoryOperation = "saved"
	MemoryUpdated   MemoryOperation = "updated"
	MemoryForgotten MemoryOperation = "forgotten"
)

// PlistKeyword marks the type as an enum.
func (MemoryOperation) PlistKeyword() {}

// MemoryChange is one change of one record of the agent. Before and After are the record's Org
// text; Before is "" for a new record, and After for a forgotten one. Undoes is the change that
// this one undid. Undone reports that this one was undone.
type MemoryChange struct {
	ID        string          `json:"id"`
	Operation MemoryOperation `json:"operation"`
	File      string          `json:"file"`
	Record    string          `json:"record"`
	Title     string          `json:"title"`
	Before    string          `json:"before,omitempty"`
	After     string          `json:"after,omitempty"`
	Undoes    string          `json:"undoes,omitempty"`
	Undone    bool            `json:"undone,omitempty"`
	Time      string          `json:"time"` // RFC 3339
}

// MemoryChangesParams asks for the latest changes. The default limit is 100, the greatest 1,000.
type MemoryChangesParams struct {
	Limit int `json:"limit,omitempty"`
}

// MemoryChangesResult has the changes, the latest first.
type MemoryChangesResult struct {
	Changes []MemoryChange `json:"changes,omitempty"`
}

// MemoryUndoParams undoes a change; without an ID the latest one that was not undone.
type MemoryUndoParams struct {
	ID string `json:"id,omitempty"`
}

// MemoryIndexParams brings the index up to date with the files. With Anew it is built from
// nothing.
type MemoryIndexParams struct {
	Anew bool `json:"anew,omitempty"`
}

// MemoryIndexResult has the number of indexed files, and how many of them were read for it.
type MemoryIndexResult struct {
	Files   int     `json:"files"`
	Read    int     `json:"read"`
	Seconds float64 `json:"seconds"`
}

// MemoryProposal is a change of the memory that waits for a person's decision: a new record, the
// new content of a record, or a record to forget. Event is the question in whose turn it was
// proposed.
type MemoryProposal struct {
	Proposal  string          `json:"proposal"` // its id
	Operation MemoryOperation `json:"operation"`
	Title     string          `json:"title"`
	Text      string          `json:"text,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	Scope     string          `json:"scope,omitempty"`
	Lasting   bool            `json:"lasting,omitempty"`
	ID        string          `json:"id,omitempty"`     // of the record that would change
	File      string          `json:"file,omitempty"`   // of that record
	Before    string          `json:"before,omitempty"` // the Org text of that record
	Session   string          `json:"session"`
	Event     string          `json:"event,omitempty"`
	Time      string          `json:"time"` // RFC 3339
}

// MemoryProposalsResult has the proposals that wait, the oldest first.
type MemoryProposalsResult struct {
	Proposals []MemoryProposal `json:"proposals,omitempty"`
}

// MemoryAcceptParams accepts the proposals with these ids. If Edited is true, there is one id, and
// Title, Text and Tags replace those of the proposal.
type MemoryAcceptParams struct {
	IDs    []string `json:"ids"`
	Edited bool     `json:"edited,omitempty"`
	Title  string   `json:"title,omitempty"`
	Text   string   `json:"text,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// MemoryDropParams drops the proposals with these ids.
type MemoryDropParams struct {
	IDs []string `json:"ids"`
}

// MemoryDecideResult has the changes that were made and the proposals that were dropped. A refused
// proposal still waits.
type MemoryDecideResult struct {
	Changes []MemoryChange  `json:"changes,omitempty"`
	Dropped []string        `json:"dropped,omitempty"`
	Refused []MemoryRefusal `json:"refused,omitempty"`
}

// MemoryRefusal is a proposal that could not be accepted or dropped, with the reason.
type MemoryRefusal struct {
	Proposal string `json:"proposal"`
	Message  string `json:"message"`
}

// MemoryProposed notifies clients of new proposals. Waiting is how many wait in all.
type MemoryProposed struct {
	Session string `json:"session"`
	Waiting int    `json:"waiting"`
}
