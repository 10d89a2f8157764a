package protocol

// UsageBy says what the rows of a table of usage are.
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

// UsageGetParams asks what models took: in a session, or in all if it names
// none, since an instant (RFC 3339), if any. East is how many seconds the
// person's clock is before UTC, which says when a day begins.
type UsageGetParams struct {
	Session string  `json:"session,omitempty"`
	By      UsageBy `json:"by,omitempty"` // by turn if missing
	Since   string  `json:"since,omitempty"`
	East    int     `json:"east,omitempty"`
}

// UsageGetResult has at most 1,000 rows, the latest (of models and tools the largest) first.
// Tools are the rows by tool.
type UsageGetResult struct {
	Rows  []Usage     `json:"rows,omitempty"`
	Tools []ToolUsage `json:"tools,omitempty"`
}

// ToolUsage is what the results of a tool's calls were that a model was told. A call that
// was refused or denied is none. Without a Tool it is of those that are beyond the 1,000.
type ToolUsage struct {
	Tool   string `json:"tool,omitempty"`
	Calls  int    `json:"calls"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"` // an estimate
}

// Usage is what some replies of models took. What names the row beside Session,
// Event and Model: a turn's first words, or a day. Cost is missing when it is
// known of no reply; of Unpriced of the Replies it is not known.
type Usage struct {
	Session  string   `json:"session,omitempty"`
	Event    string   `json:"event,omitempty"`
	What     string   `json:"what,omitempty"`
	Model    string   `json:"model,omitempty"`
	Replies  int      `json:"replies"`
	Unpriced int      `json:"unpriced,omitempty"`
	Input    int      `json:"input"`          // tokens
	Output   int      `json:"output"`         // tokens
	Cost     *float64 `json:"cost,omitempty"` // US dollars
}
