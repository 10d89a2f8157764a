package dialect

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/text"
)

// Structured is the dialect of models that are held to a JSON Schema: a reply is one object with a text and with
// calls of functions, such as
//
//	{"text": "I look.", "calls": [{"read": {"path": "notes.org"}}]}
//
// The system prompt teaches that form, the history shows the replies of the model in it, and results stand in
// messages of the user, as in [Plist]. The object is the same for all wires. A call is an object with the name of
// its function as only key, because OpenAI refuses alternatives whose first keys are the same.
//
// A request whose note teaches the model to write calls as text is rendered as that.
type Structured struct{ native *Native }

// NewStructured returns the dialect.
func NewStructured() Structured { return Structured{NewNative(true)} }

// Name implements [llm.Dialect]. It is how a person sets the dialect constrained for a server that takes a schema.
func (Structured) Name() string { return "constrained" }

// Render implements [llm.Dialect]. Without functions there is nothing to hold the reply to, and it is text.
func (s Structured) Render(request llm.Request) llm.Request {
	if request.TextCalls {
		return s.native.text.Render(request)
	}
	tools := request.Tools
	request.Tools, request.Grammar = nil, ""
	request.Sections = request.SectionsFor(llm.NotationFunctions)
	if len(tools) > 0 {
		request.Sections = withSection(request.Sections, llm.Section{Name: "calls", Text: callsSection(tools), Stable: true})
		request.Schema = func(unions int) json.RawMessage { return replySchema(tools, unions) }
	}
	messages := make([]llm.Message, len(request.Messages))
	for i := range request.Messages {
		m, rendered := &request.Messages[i], &messages[i]
		rendered.Role, rendered.Text, rendered.Images = m.Role, s.Text(*m), m.Images
		switch {
		case m.Role == llm.RoleKernel:
			rendered.Role = llm.RoleUser
		case m.Role == llm.RoleAssistant && len(m.Calls) == 0 && !m.Blank():
			rendered.Text = written(m.Text, nil)
		}
	}
	request.Messages = alternating(messages)
	return request
}

// Text implements [llm.Dialect].
func (s Structured) Text(m llm.Message) string {
	if len(m.Calls) == 0 {
		return s.native.text.Text(m)
	}
	var calls []llm.FunctionCall
	for _, c := range m.Calls {
		calls = append(calls, s.native.functionsOf(c)...)
	}
	return written(m.Text, calls)
}

// Read implements [llm.ReplyReader].
func (Structured) Read(rendered llm.Request, tools []llm.Tool, reply iter.Seq2[llm.Delta, error]) iter.Seq2[llm.Delta, error] {
	if rendered.Schema == nil {
		return reply
	}
	return readStructured(tools, reply)
}

// written returns a reply as the model is taught to write it.
func written(said string, calls []llm.FunctionCall) string {
	var b strings.Builder
	b.WriteString(`{"text": ` + quoted(said) + `, "calls": [`)
	for i, c := range calls {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("{" + quoted(c.Name) + ": " + c.Arguments + "}")
	}
	b.WriteString("]}")
	return b.String()
}

// quoted returns a text as a JSON string, as models write it.
func quoted(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // of a string, into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// withSection adds a section behind those that stay the same, so that servers can keep all of them. A prompt that
// was recorded has it already.
func withSection(sections []llm.Section, added llm.Section) []llm.Section {
	if slices.ContainsFunc(sections, func(s llm.Section) bool { return strings.Contains(s.Text, added.Text) }) {
		return sections
	}
	at := slices.IndexFunc(sections, func(s llm.Section) bool { return !s.Stable })
	if at < 0 {
		at = len(sections)
	}
	return slices.Insert(slices.Clone(sections), at, added)
}

// callsSection tells the model the form of a reply, and which functions there are. The schema repeats neither what a
// function does nor what its arguments are.
func callsSection(tools []llm.Tool) string {
	var b strings.Builder
	b.WriteString(`* How a reply is written :kernel:
A reply is one JSON object: {"text": "…", "calls": []}. An answer stands in "text", with no calls. A function is called by an object with its name in "calls", as in {"text": "", "calls": [{"NAME": {"ARGUMENT": "…"}}]}. An argument that is not needed is null. Where only a string can be written in place of other arguments, it is their JSON. The functions:`)
	for _, t := range tools {
		b.WriteString("\n- " + llm.FunctionName(t.Name) + ": " + strings.TrimSuffix(text.Line(t.Description), "."))
		for i, a := range argumentsOf(t) {
			b.WriteString([]string{". Arguments: ", "; "}[min(i, 1)] + a.name + " (" + a.words() + ")")
			if a.about != "" {
				b.WriteString(" " + text.Line(a.about))
			}
		}
	}
	return b.String()
}
