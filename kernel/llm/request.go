package llm

import "strings"

// Request is one question to a model, as values. A [Dialect] renders it for a server. Requests
// share the elements of their slices, so nothing changes an element of a request.
type Request struct {
	// Model overrides the model that the provider is configured with.
	Model string
	// Sections are the system prompt. Without sections there is none.
	Sections []Section
	// Messages is the conversation, the oldest message first. Messages without content are not
	// sent.
	Messages []Message
	// Tools are the tools that the model may call.
	Tools []Tool
	// Temperature is sent as it is, also if it points to 0. nil leaves it to the model. Models that
	// accept none do not get it.
	Temperature *float64
	// MaxTokens bounds the reply in tokens. 0 leaves it to the model.
	MaxTokens int
	// Stop has texts before any of which the reply ends.
	Stop []string
	// Grammar restricts the reply to a GBNF grammar. Providers that are not configured for grammars
	// ignore it.
	Grammar string
	// FirstOnly asks only the first provider of a cascade. It is set for requests that nobody waits
	// for: they do not justify sending the conversation to another host.
	FirstOnly bool
}

// Section is a part of a system prompt.
type Section struct {
	Name string
	Text string
	// Stable is set if later requests of the conversation have the same section, as long as the
	// person changes nothing. Servers cache such beginnings.
	Stable bool
}

// System returns a system prompt of one text.
func System(text string) []Section { return []Section{{Text: text, Stable: true}} }

// System returns the text of the system prompt: the sections, separated by empty lines.
func (r Request) System() string {
	if len(r.Sections) == 1 {
		return r.Sections[0].Text
	}
	size := 0
	for _, s := range r.Sections {
		size += len(s.Text) + 2
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range r.Sections {
		if b.Len() > 0 && s.Text != "" {
			b.WriteString("\n\n")
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// Message is one message of the conversation that a model is shown. Images come before the text.
type Message struct {
	Role   Role
	Text   string
	Images []Image
	// Calls are the actions that the model proposed in this message. Only messages of the model
	// have any.
	Calls []Call
	// Outcome is what became of calls, nil without any. Only messages of the kernel have one.
	Outcome *Outcome
	// Within is set if the person wrote this while the turn was running. Any other message of
	// the person begins a turn.
	Within bool
}

// Begins reports whether the message begins a turn.
func (m Message) Begins() bool { return m.Role == RoleUser && !m.Within }

// Blank reports whether the message has no content.
func (m Message) Blank() bool {
	return len(m.Images)+len(m.Calls) == 0 && m.Outcome == nil && strings.TrimSpace(m.Text) == ""
}

// NeedsDialect reports whether the message has what plain messages of servers do not have: the
// kernel's role, calls, results or additions. A provider that cannot send these refuses a request
// with such a message, which no dialect has rendered for it.
func (m Message) NeedsDialect() bool {
	return m.Role == RoleKernel || len(m.Calls) > 0 || m.Outcome != nil
}

// Results returns the results of calls in the message.
func (m Message) Results() []Result {
	if m.Outcome == nil {
		return nil
	}
	return m.Outcome.Results
}

// Outcome has the results of calls, and the texts of hooks that belong to no result. It has at least
// one of either. Most messages have none, and a request has many messages.
type Outcome struct {
	Results []Result
	Added   []Addition
}

// Call is an action that a model proposed and that the kernel judged.
type Call struct {
	// ID is unique within the conversation.
	ID string
	// Action is the action as a canonical property list.
	Action string
}

// Result is the outcome of a call.
type Result struct {
	Call    Call
	Verdict string // performed, failed, refused or denied
	Text    string
	Failure *Failure // nil if the call was performed
	Parts   []Part   // the outcomes of the calls of a batch, in its order
	Added   []Addition
	// Note is a remark of the kernel about the result. If Last is set, the note asks for an answer,
	// because the kernel performs nothing more in this turn.
	Note string
	Last bool
}

// Part is the outcome of one call of a batch.
type Part struct {
	ID      string
	Tool    string
	Verdict string
	Text    string
	Failure *Failure
}

// Failure is the kind of an error, and whether the same call may succeed later.
type Failure struct {
	Code      string
	Retryable bool
}

// Addition is a text that a hook of the person's notes adds. From is the hook's name.
type Addition struct{ From, Text string }

// Tool is a tool that a model may call.
type Tool struct {
	Name        string
	Description string
	// Schema returns the JSON Schema of the arguments, nil if it is unknown.
	Schema func() any
}

// Role is who wrote a message.
type Role string

// The roles of messages. RoleKernel is this program, which writes results, the texts of hooks, and
// remarks. Servers do not know that role: a dialect renders it as one that they know.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleKernel    Role = "kernel"
	RoleSystem    Role = "system" // the servers' name for the system prompt, which is in Sections
)
