package protocol

// What a client asks about memory, and what it is told of it.
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

// MemorySearchParams asks what is kept, and what stands in the person's own notes. Query is
// as of [SessionSearchParams]; it may be empty when something else is given. With nothing
// given at all, the latest of what is kept is found.
type MemorySearchParams struct {
	Query string   `json:"query,omitempty"`
	Tags  []string `json:"tags,omitempty"`  // all of them
	Since string   `json:"since,omitempty"` // a day, 2026-11-22
	Until string   `json:"until,omitempty"` // a day, which is still in it
	Files []string `json:"files,omitempty"` // files or directories, of which one must hold it
	Kept  bool     `json:"kept,omitempty"`  // nothing of the person's notes elsewhere
	Limit int      `json:"limit,omitempty"` // 20 if missing, at most 200
}

// MemorySearchResult is what was found, the best first. Indexing: the index is being made,
// so that there may be more. More: there is, and a greater limit shows it. Offer: config.org
// does not say whether the person's own notes may be looked through.
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
	Scope   string        `json:"scope,omitempty"` // the one conversation it is for
	Own     bool          `json:"own,omitempty"`   // the agent wrote it and nobody changed it
	Snippet string        `json:"snippet,omitempty"`
	Matches []SearchMatch `json:"matches,omitempty"`
}

// MemoryOperation is what a change of what is kept did.
type MemoryOperation string

const (
	MemorySaved     MemoryOperation = "saved"
	MemoryUpdated   MemoryOperation = "updated"
	MemoryForgotten MemoryOperation = "forgotten"
)

// PlistKeyword marks the type as an enum.
func (MemoryOperation) PlistKeyword() {}

// MemoryChange is one change of one heading of the agent's: Before and After are its Org
// text, one of them empty when it came or went. Undoes is the change that it took back,
// Undone that this one was taken back.
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

// MemoryChangesParams asks for the latest changes: 100 if no limit is given, at most 1,000.
type MemoryChangesParams struct {
	Limit int `json:"limit,omitempty"`
}

// MemoryChangesResult has the latest first.
type MemoryChangesResult struct {
	Changes []MemoryChange `json:"changes,omitempty"`
}

// MemoryUndoParams takes a change back; without an ID the latest that was not.
type MemoryUndoParams struct {
	ID string `json:"id,omitempty"`
}

// MemoryIndexParams has the index made what the files are; Anew makes it from nothing.
type MemoryIndexParams struct {
	Anew bool `json:"anew,omitempty"`
}

// MemoryIndexResult says how many files are indexed, and how many of them were read.
type MemoryIndexResult struct {
	Files   int     `json:"files"`
	Read    int     `json:"read"`
	Seconds float64 `json:"seconds"`
}

// MemoryProposal is a change of what is kept that waits for a person: what would be kept, or
// what the record would become, or what would be forgotten. Event is the question it is from.
type MemoryProposal struct {
	Proposal  string          `json:"proposal"` // its id
	Operation MemoryOperation `json:"operation"`
	Title     string          `json:"title"`
	Text      string          `json:"text,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	Scope     string          `json:"scope,omitempty"`
	Lasting   bool            `json:"lasting,omitempty"`
	ID        string          `json:"id,omitempty"`     // of the record that would change
	File      string          `json:"file,omitempty"`   // where it stands
	Before    string          `json:"before,omitempty"` // its Org text
	Session   string          `json:"session"`
	Event     string          `json:"event,omitempty"`
	Time      string          `json:"time"` // RFC 3339
}

// MemoryProposalsResult has the oldest first.
type MemoryProposalsResult struct {
	Proposals []MemoryProposal `json:"proposals,omitempty"`
}

// MemoryAcceptParams has the changes made that are proposed under these ids; Edited says that
// of the one id Title, Text and Tags are what the person wants instead.
type MemoryAcceptParams struct {
	IDs    []string `json:"ids"`
	Edited bool     `json:"edited,omitempty"`
	Title  string   `json:"title,omitempty"`
	Text   string   `json:"text,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// MemoryDropParams drops the proposals.
type MemoryDropParams struct {
	IDs []string `json:"ids"`
}

// MemoryDecideResult says what was done and, of what could not be, why; that still waits.
type MemoryDecideResult struct {
	Changes []MemoryChange  `json:"changes,omitempty"`
	Dropped []string        `json:"dropped,omitempty"`
	Refused []MemoryRefused `json:"refused,omitempty"`
}

// MemoryRefused is a proposal that could not be accepted or dropped.
type MemoryRefused struct {
	Proposal string `json:"proposal"`
	Message  string `json:"message"`
}

// MemoryProposed tells that there are new proposals: how many wait now.
type MemoryProposed struct {
	Session string `json:"session"`
	Waiting int    `json:"waiting"`
}
