package protocol

// SessionListResult has every session of the journal, the latest first, and those that
// have only a file. Left is how many of the oldest are not listed.
type SessionListResult struct {
	Sessions []SessionInfo `json:"sessions,omitempty"`
	Left     int           `json:"left,omitempty"`
}

// SessionInfo is one session in a list. Updated is RFC 3339. State is the state of the turn
// that is being answered or is next, else of the last one. Words are the first words of the
// conversation.
type SessionInfo struct {
	Name    string    `json:"name"`
	Turns   int       `json:"turns"`
	Updated string    `json:"updated,omitempty"`
	State   TurnState `json:"state,omitempty"`
	File    string    `json:"file,omitempty"`
	Words   string    `json:"words,omitempty"`
	// Parent is the session that it was forked from, or that started it as a subagent.
	Parent string `json:"parent,omitempty"`
	// Subagent reports that a turn of Parent started it as a subagent.
	Subagent bool `json:"subagent,omitempty"`
}

// SessionSearchParams searches the questions and answers of a session, or of all. A text
// matches if it has all words of Query. "Words in quotes" match next to one another, and
// word* matches a beginning. Since and Until bound the time, as RFC 3339 or a day; Until is
// not included. Limit is at most 300, 20 if missing. Before continues an earlier search.
type SessionSearchParams struct {
	Query   string `json:"query"`
	Session string `json:"session,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	Before  int64  `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// SessionSearchResult has the hits, the best first. If More is true, there are others in
// the texts that were searched. A search begins with the latest texts and stops after a
// short time. It then sets Before: texts older than Reached, RFC 3339, were not searched,
// and a search with Before as its parameter continues there.
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

// SearchMatch is the place of a match in a snippet, in code points.
type SearchMatch struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Role is the author of a text.
type Role string

const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// PlistKeyword marks the type as an enum.
func (Role) PlistKeyword() {}

// SessionRenameParams gives a session and its file another name.
type SessionRenameParams struct {
	Session string `json:"session"`
	To      string `json:"to"`
}

// SessionRenameResult is the session under its new name.
type SessionRenameResult struct {
	Session string `json:"session"`
	File    string `json:"file,omitempty"`
}

// SessionRenamed notifies the clients of a session of its new name and file. In later
// requests of theirs Session means To.
type SessionRenamed struct {
	Session string `json:"session"`
	To      string `json:"to"`
	File    string `json:"file,omitempty"`
}

// SessionForkParams makes a new session from the conversation up to the answer or the
// question with the :ID:. An answer is the last text in the new session. A question is not
// in it, but its text becomes the draft. To is the new name; the default is made from the
// old one.
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
