package history

import (
	"strings"

	"org-agent/kernel/llm"
)

// RequestRow is the data of a row of the kind model-request.
type RequestRow struct {
	Model, System string
	Messages      []MessageRow
	Temperature   *float64
	MaxTokens     int
	Stop          []string
	Grammar       string
	FirstOnly     bool     `json:",omitempty"`
	Functions     []string `json:",omitempty"` // the names of those that were offered
	Structured    bool     `json:",omitempty"` // the reply is held to a JSON Schema of the kinds and tools
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
		Stop: rendered.Stop, Grammar: rendered.Grammar, FirstOnly: rendered.FirstOnly, Structured: rendered.Schema != nil}
	for _, t := range rendered.Tools {
		r.Functions = append(r.Functions, t.Name)
	}
	r.Messages = make([]MessageRow, 0, len(rendered.Messages))
	for _, m := range rendered.Messages {
		for _, result := range m.Results() {
			r.Messages = append(r.Messages, MessageRow{Role: roleTool, Content: result.Text})
		}
		if len(m.Results()) > 0 {
			continue
		}
		row := MessageRow{Role: m.Role, Content: m.Text, Images: m.Images}
		for _, c := range m.Calls {
			if c.Function != nil {
				row.Content = strings.TrimPrefix(row.Content+"\n"+c.Function.Name+" "+c.Function.Arguments, "\n")
			}
		}
		r.Messages = append(r.Messages, row)
	}
	return r
}

// roleTool is the role of the result of a function in rows.
const roleTool llm.Role = "tool"
