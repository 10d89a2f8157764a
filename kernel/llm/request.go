package llm

import (
	"encoding/json"
	"slices"
	"strings"
)

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
	// TextCalls is set if the model is to write its calls as text, because a note teaches it to.
	// Dialects whose servers are sent functions then render the request as text.
	TextCalls bool
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
	// GrammarField is the field in which the server takes a grammar, as was found out. "" leaves it to the
	// provider's configuration.
	GrammarField string
	// Schema returns a JSON Schema that the reply keeps to, in which at most that many values may be of two types; a
	// negative number is no bound. A dialect sets it. nil is a reply as the model writes it.
	Schema func(unions int) json.RawMessage `json:"-"`
	// FirstOnly asks only the first provider of a cascade. It is set for requests that nobody waits
	// for: they do not justify sending the conversation to another host.
	FirstOnly bool
	// OnWait is told when a server is asked, and when the request waits to be sent again. It is called on
	// the goroutine that ranges over the reply, before the first delta. nil is nobody.
	OnWait func(Wait) `json:"-"`
}

// Section is a part of a system prompt.
type Section struct {
	Name string
	Text string
	// Stable is set if later requests of the conversation have the same section, as long as the
	// person changes nothing. Servers cache such beginnings.
	Stable bool
	// Notation is set for a section that only models with that notation of calls are to read.
	Notation Notation
}

// Notation is how a model writes calls of tools.
type Notation string

// The notations. A section without one is for every model.
const (
	NotationText      Notation = "text"      // as property lists in the reply
	NotationFunctions Notation = "functions" // as calls of the server's functions
)

// SectionsFor returns the sections for models with a notation.
func (r Request) SectionsFor(notation Notation) []Section {
	all := func(s Section) bool { return s.Notation == "" || s.Notation == notation }
	if !slices.ContainsFunc(r.Sections, func(s Section) bool { return !all(s) }) {
		return r.Sections
	}
	var sections []Section
	for _, s := range r.Sections {
		if all(s) {
			sections = append(sections, s)
		}
	}
	return sections
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
	// Original is the message as the model's server sent it, nil if nothing of it must go back so. Only
	// messages with calls have one.
	Original *Original
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

// Functions returns the calls of the message, and the results, as calls of functions and their
// results. ok is false if a dialect has still to render the message: it has what is neither, or a call
// that is no call of a function. Of a result, Text is all that is sent.
func (m Message) Functions() (calls []FunctionCall, results []Result, ok bool) {
	for _, c := range m.Calls {
		if c.Function == nil {
			return nil, nil, false
		}
		calls = append(calls, *c.Function)
	}
	if m.Outcome == nil {
		return calls, nil, m.Role != RoleKernel
	}
	for _, r := range m.Outcome.Results {
		if r.Call.Function == nil {
			return nil, nil, false
		}
	}
	return calls, m.Outcome.Results, len(m.Outcome.Added) == 0
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
	// Action is the action as a canonical property list. It is "" for a call that is no action: its
	// function is unknown, or its arguments are unreadable.
	Action string
	// Function is the call as one of a server's functions. It is nil for a call that the model did not
	// write so, until a dialect renders it.
	Function *FunctionCall
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
	// Reads is set if a call changes nothing. Several such calls of one reply are made together.
	Reads bool
	// Propose returns the action of a call with these arguments, a JSON object, as a canonical property
	// list. The error is for the model.
	Propose func(arguments []byte) (action string, err error)
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
