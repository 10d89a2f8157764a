package protocol

// UsageBy is what the rows of a table of usage are grouped by.
type UsageBy string

const (
	UsageByTurn    UsageBy = "turn"
	UsageBySession UsageBy = "session"
	UsageByModel   UsageBy = "model"
	UsageByDay     UsageBy = "day"
	UsageByTool    UsageBy = "tool"
	UsageTotal     UsageBy = "total"
)

// PlistKeyword marks the type as an enum.
func (UsageBy) PlistKeyword() {}

// UsageGetParams asks for the usage of models, in one session or in all, since a time (RFC 3339) or
// from the beginning. East is the offset of the person's time zone from UTC in seconds; it decides
// when a day begins.
type UsageGetParams struct {
	Session string  `json:"session,omitempty"`
	By      UsageBy `json:"by,omitempty"` // by turn if missing
	Since   string  `json:"since,omitempty"`
	East    int     `json:"east,omitempty"`
}

// UsageGetResult has at most 1,000 rows, the latest first; of models and tools the largest
// first. Tools are the rows by tool.
type UsageGetResult struct {
	Rows  []Usage     `json:"rows,omitempty"`
	Tools []ToolUsage `json:"tools,omitempty"`
}

// ToolUsage is the size of the results of a tool's calls that models got. Refused and denied
// calls do not count. The row without a Tool sums the tools beyond the 1,000.
type ToolUsage struct {
	Tool   string `json:"tool,omitempty"`
	Calls  int    `json:"calls"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"` // an estimate
}

// Usage is the usage of some replies of models. What names the row beside Session, Event and Model:
// a turn's first words, or a day. Unpriced is how many of the Replies have no known cost. Cost is
// missing if none has.
type Usage struct {
	Session  string   `json:"session,omitempty"`
	Event    string   `json:"event,omitempty"`
	What     string   `json:"what,omitempty"`
	Model    string   `json:"model,omitempty"`
	Replies  int      `json:"replies"`
	Unpriced int      `json:"unpriced,omitempty"`
	Input    int      `json:"input"`            // tokens
	Cached   int      `json:"cached,omitempty"` // tokens of Input that came from the server's cache
	Output   int      `json:"output"`           // tokens
	Cost     *float64 `json:"cost,omitempty"`   // US dollars
	// First is the mean time from a request to the first piece of its reply, in seconds. Rate is the
	// tokens per second from there on. Both are missing if they are not known.
	First float64 `json:"first,omitempty"`
	Rate  float64 `json:"rate,omitempty"`
}
