package history

import "org-agent/kernel/llm"

// Recorded is the content of a row of the kind model-request: a request.
type Recorded struct {
	Model, System string
	Messages      []RecordedMessage
	Temperature   *float64
	MaxTokens     int
	Stop          []string
	Grammar       string
	FirstOnly     bool `json:",omitempty"`
}

// RecordedMessage is a message of a recorded request.
type RecordedMessage struct {
	Role    llm.Role
	Content string
	Images  []llm.Image `json:",omitempty"`
}

// Record returns a rendered request in the form that the journal keeps.
func Record(rendered llm.Request) Recorded {
	r := Recorded{Model: rendered.Model, System: rendered.System(), Temperature: rendered.Temperature, MaxTokens: rendered.MaxTokens,
		Stop: rendered.Stop, Grammar: rendered.Grammar, FirstOnly: rendered.FirstOnly}
	r.Messages = make([]RecordedMessage, len(rendered.Messages))
	for i, m := range rendered.Messages {
		r.Messages[i] = RecordedMessage{Role: m.Role, Content: m.Text, Images: m.Images}
	}
	return r
}
