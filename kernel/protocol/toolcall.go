package protocol

// ToolInfo is a tool that another program can call.
type ToolInfo struct {
	Name   string     `json:"name"`
	Does   string     `json:"does"`
	Effect ToolEffect `json:"effect,omitempty"` // missing: it needs a person's approval
	Schema Object     `json:"schema"`           // the JSON Schema of its arguments
}

// ToolListResult has the kernel's own tools, without those that are not configured.
type ToolListResult struct {
	Tools []ToolInfo `json:"tools,omitempty"`
}

// ToolCallParams is a call of a tool by another program. Program is the name that it has by its own
// account. All calls of one connection are in one conversation.
type ToolCallParams struct {
	Tool    string `json:"tool"`
	Args    Object `json:"args,omitempty"`
	Program string `json:"program,omitempty"`
}

// ToolCallResult is the outcome of a call. Verdict is performed, refused, denied or failed. Text is
// the result of a performed call and the reason for any other verdict. Then Code and Retryable are
// those of the error.
type ToolCallResult struct {
	Turn      string        `json:"turn"`
	Verdict   Keyword       `json:"verdict"`
	Text      string        `json:"text,omitempty"`
	Code      ToolErrorCode `json:"code,omitempty"`
	Retryable bool          `json:"retryable,omitempty"`
}
