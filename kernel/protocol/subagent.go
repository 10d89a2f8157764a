package protocol

// MethodSubagentChanged tells the clients of a conversation how a subagent of it is doing; its
// data is a [Subagent]. MethodSubagentList lists them.
const (
	MethodSubagentChanged = "subagent/changed"
	MethodSubagentList    = "subagent/list"
)

// SubagentState says how a subagent is doing.
type SubagentState string

const (
	SubagentQueued    SubagentState = "queued"    // others are at work, and it waits for its place
	SubagentRunning   SubagentState = "running"   // it is at work
	SubagentWaiting   SubagentState = "waiting"   // it waits for a person's decision
	SubagentDone      SubagentState = "done"      // it has answered
	SubagentError     SubagentState = "error"     // it failed, or what it may take was used up before it answered
	SubagentTimeout   SubagentState = "timeout"   // its time was used up before it answered
	SubagentCancelled SubagentState = "cancelled" // a person, or the end of whoever wanted it, stopped it
	SubagentUnknown   SubagentState = "unknown"   // the kernel ended meanwhile: what it had done by then is not known
)

// PlistKeyword marks the state as an enum.
func (SubagentState) PlistKeyword() {}

// Final reports whether nothing more comes of it.
func (s SubagentState) Final() bool {
	return s != SubagentQueued && s != SubagentRunning && s != SubagentWaiting
}

// Subagent is a part of the work that a turn handed on.
type Subagent struct {
	ID      string        `json:"id"`      // the :ID: of its task, for good
	Session string        `json:"session"` // the conversation that handed it on
	Turn    string        `json:"turn"`    // the turn of it
	Event   string        `json:"event"`   // that turn's question
	Child   string        `json:"child"`   // the subagent's own conversation
	Label   string        `json:"label"`
	State   SubagentState `json:"state"`
	Waits   bool          `json:"waits,omitempty"`   // the turn waits for it
	Asked   string        `json:"asked"`             // RFC 3339: when it was wanted
	Started string        `json:"started,omitempty"` // RFC 3339; missing while it is queued
	Seconds float64       `json:"seconds,omitempty"` // since it was started, until it ended
	Round   int           `json:"round,omitempty"`   // at which it is
	Tokens  int           `json:"tokens,omitempty"`  // that models read and wrote for it
	Cost    *float64      `json:"cost,omitempty"`    // US dollars, when anybody knows
	Notice  string        `json:"notice,omitempty"`  // why it has no answer, on a line
}

// SubagentListParams asks for the subagents of a conversation; all that have not ended without
// one.
type SubagentListParams struct {
	Session string `json:"session,omitempty"`
}

// SubagentListResult has the latest first, 200 at most.
type SubagentListResult struct {
	Subagents []Subagent `json:"subagents"`
}
