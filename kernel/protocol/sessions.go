package protocol

// SessionListResult is every session the journal knows, latest first, and those that
// have only a file. Left is how many are not listed, being the oldest of very many.
type SessionListResult struct {
	Sessions []SessionInfo `json:"sessions,omitempty"`
	Left     int           `json:"left,omitempty"`
}

// SessionInfo is one session's line in a list. Updated is RFC 3339, State that of the
// turn being answered or next to be, else of the last one. Words are the first of the
// conversation, Parent is the session it was forked from.
type SessionInfo struct {
	Name    string    `json:"name"`
	Turns   int       `json:"turns"`
	Updated string    `json:"updated,omitempty"`
	State   TurnState `json:"state,omitempty"`
	File    string    `json:"file,omitempty"`
	Words   string    `json:"words,omitempty"`
	// Parent is the conversation that it was forked from, or that handed it its work.
	Parent string `json:"parent,omitempty"`
	// Subagent: the work in it was handed on by a turn of Parent.
	Subagent bool `json:"subagent,omitempty"`
}

// SessionSearchParams looks for words in the questions and answers of a session, or of
// all. "Words in quotes" stand next to one another, word* is the beginning of one; all
// have to be there. Since and Until bound when it was said, RFC 3339 or a day; Until is
// not included. Limit is at most 300, 20 if missing. Before goes on where an earlier
// search left off.
type SessionSearchParams struct {
	Query   string `json:"query"`
	Session string `json:"session,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	Before  int64  `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// SessionSearchResult is what was found, best first. More: what was looked at has others.
// The latest is looked at first, and nobody waits long: Before, when there is one, says
// that what is older than Reached, RFC 3339, was not looked at, and goes on there as a
// parameter.
type SessionSearchResult struct {
	Hits    []SearchHit `json:"hits,omitempty"`
	More    bool        `json:"more,omitempty"`
	Before  int64       `json:"before,omitempty"`
	Reached string      `json:"reached,omitempty"`
}

// SearchHit is a question or an answer that was found: ID is its heading's :ID:, Event
// that of its question. Snippet is a line of its text.
type SearchHit struct {
	Session string        `json:"session"`
	Turn    string        `json:"turn"`
	Event   string        `json:"event"`
	ID      string        `json:"id"`
	Role    Role          `json:"role"`
	Time    string        `json:"time"` // RFC 3339
	Snippet string        `json:"snippet"`
	Matches []SearchMatch `json:"matches,omitempty"`
}

// SearchMatch is where a match stands in a snippet, in code points.
type SearchMatch struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Role says who said something.
type Role string

const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// PlistKeyword marks the type as an enum.
func (Role) PlistKeyword() {}

// SessionRenameParams gives a session another name, and its file, too.
type SessionRenameParams struct {
	Session string `json:"session"`
	To      string `json:"to"`
}

// SessionRenameResult is the session under its new name.
type SessionRenameResult struct {
	Session string `json:"session"`
	File    string `json:"file,omitempty"`
}

// SessionRenamed tells the clients of a session that it has another name, and where its
// file is from now on. From then on what they send of Session means To.
type SessionRenamed struct {
	Session string `json:"session"`
	To      string `json:"to"`
	File    string `json:"file,omitempty"`
}

// SessionForkParams makes a new session of the conversation up to the heading with the
// :ID:, that of an answer or of a question. An answer is the last in it; of a question
// the conversation before it, and its text is the new session's draft. To is the new
// name; without one it is made of the old one.
type SessionForkParams struct {
	Session string `json:"session,omitempty"`
	ID      string `json:"id"`
	To      string `json:"to,omitempty"`
}

// SessionForkResult is the new session. Draft is the text of its draft.
type SessionForkResult struct {
	Session string `json:"session"`
	File    string `json:"file,omitempty"`
	Turns   int    `json:"turns"`
	Draft   string `json:"draft,omitempty"`
}
