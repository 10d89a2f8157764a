package protocol

// MethodSubagentChanged notifies the clients of a conversation that a subagent of it has changed;
// its parameters are a [Subagent]. MethodSubagentList lists them.
const (
	MethodSubagentChanged = "subagent/changed"
	MethodSubagentList    = "subagent/list"
)

// SubagentState is the state of a subagent.
type SubagentState string

const (
	SubagentQueued    SubagentState = "queued"    // it waits until fewer others run
	SubagentRunning   SubagentState = "running"   // it works
	SubagentWaiting   SubagentState = "waiting"   // it waits for a person's decision
	SubagentDone      SubagentState = "done"      // it has answered
	SubagentError     SubagentState = "error"     // it failed, or used up its budget before it answered
	SubagentTimeout   SubagentState = "timeout"   // it used up its time before it answered
	SubagentCancelled SubagentState = "cancelled" // a person, or the end of its parent's turn, stopped it
	SubagentUnknown   SubagentState = "unknown"   // the kernel ended meanwhile, and how far it came is unknown
)

// PlistKeyword marks the state as an enum.
func (SubagentState) PlistKeyword() {}

// Final reports whether a subagent in this state will not change any more.
func (s SubagentState) Final() bool {
	return s != SubagentQueued && s != SubagentRunning && s != SubagentWaiting
}

// Subagent is a part of the work of a turn, which a subagent does.
type Subagent struct {
	ID        string        `json:"id"`      // the :ID: of its task, which never changes
	Session   string        `json:"session"` // the conversation that started it
	Turn      string        `json:"turn"`    // the turn that started it
	Event     string        `json:"event"`   // the question of that turn
	Child     string        `json:"child"`   // the subagent's own conversation
	Label     string        `json:"label"`
	State     SubagentState `json:"state"`
	Waits     bool          `json:"waits,omitempty"`   // the turn waits for it
	Requested string        `json:"asked"`             // RFC 3339: when the turn asked for it
	Started   string        `json:"started,omitempty"` // RFC 3339; missing while it is queued
	Seconds   float64       `json:"seconds,omitempty"` // from its start to now or to its end
	Round     int           `json:"round,omitempty"`   // the number of its present request
	Tokens    int           `json:"tokens,omitempty"`  // that models read and wrote for it
	Cost      *float64      `json:"cost,omitempty"`    // US dollars; missing if unknown
	Notice    string        `json:"notice,omitempty"`  // why it has no answer, on one line
}

// SubagentListParams asks for the subagents of a conversation, or with "" for all that have not
// ended.
type SubagentListParams struct {
	Session string `json:"session,omitempty"`
}

// SubagentListResult has at most 200 subagents, the latest first.
type SubagentListResult struct {
	Subagents []Subagent `json:"subagents"`
}
