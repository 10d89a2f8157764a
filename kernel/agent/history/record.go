package history

import "org-agent/kernel/llm"

// RequestRow is the data of a row of the kind model-request.
type RequestRow struct {
	Model, System string
	Messages      []MessageRow
	Temperature   *float64
	MaxTokens     int
	Stop          []string
	Grammar       string
	FirstOnly     bool `json:",omitempty"`
}

// MessageRow is a message of a recorded request.
type MessageRow struct {
	Role    llm.Role
	Content string
	Images  []llm.Image `json:",omitempty"`
}

// RowOf returns the row of a rendered request.
func RowOf(rendered llm.Request) RequestRow {
	r := RequestRow{Model: rendered.Model, System: rendered.System(), Temperature: rendered.Temperature, MaxTokens: rendered.MaxTokens,
		Stop: rendered.Stop, Grammar: rendered.Grammar, FirstOnly: rendered.FirstOnly}
	r.Messages = make([]MessageRow, len(rendered.Messages))
	for i, m := range rendered.Messages {
		r.Messages[i] = MessageRow{Role: m.Role, Content: m.Text, Images: m.Images}
	}
	return r
}
