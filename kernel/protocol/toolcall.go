package protocol

// ToolInfo is a tool that another program can have used.
type ToolInfo struct {
	Name   string     `json:"name"`
	Does   string     `json:"does"`
	Effect ToolEffect `json:"effect,omitempty"` // missing: it takes a person's approval
	Schema Object     `json:"schema"`           // the JSON Schema of its arguments
}

// ToolListResult is the kernel's own tools that have something to do.
type ToolListResult struct {
	Tools []ToolInfo `json:"tools,omitempty"`
}

// ToolCallParams is a call of a tool by a program that is no model. Program is what it calls
// itself: its calls are one conversation.
type ToolCallParams struct {
	Tool    string `json:"tool"`
	Args    Object `json:"args,omitempty"`
	Program string `json:"program,omitempty"`
}

// ToolCallResult is what became of a call. Verdict is performed, refused, denied or failed; of all
// but the first Text is the reason, and Code and Retryable are those of the error.
type ToolCallResult struct {
	Turn      string        `json:"turn"`
	Verdict   Keyword       `json:"verdict"`
	Text      string        `json:"text,omitempty"`
	Code      ToolErrorCode `json:"code,omitempty"`
	Retryable bool          `json:"retryable,omitempty"`
}
