package route

import (
	"iter"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
)

// schemaDialect is a dialect that is another one for servers that take a JSON Schema in place of a grammar.
type schemaDialect interface{ UnderSchema() llm.Dialect }

// takesSchema reports whether replies of a server are held to a JSON Schema: where its heading says so, and where the
// dialect is constrained and the protocol itself has a field for one.
func takesSchema(choice config.Choice, driver llm.Driver) bool {
	if choice.Grammar != "" {
		return choice.Grammar == llm.GrammarFieldSchema && slices.Contains([]string{"", dialectAuto, dialectConstrained}, choice.Dialect)
	}
	return driver.TakesSchema && choice.Dialect == dialectConstrained
}

// held is the dialect of a server whose models are held to a JSON Schema. A provider bounds what it compiles of
// one, and says so only when it is asked: Anthropic has 16 unions, 24 optional fields and a size that it does not
// tell. A model for which the schema is too much is asked from then on as if no dialect were set.
type held struct {
	schema    llm.Dialect
	otherwise *auto
	refused   refusals // the models that take no schema
}

// of returns the dialect for a model, "" for that of the settings.
func (h *held) of(model string) llm.Dialect {
	if _, refused := h.refused.of(model); refused {
		return h.otherwise
	}
	return h.schema
}

// Name implements [llm.Dialect].
func (h *held) Name() string { return h.schema.Name() }

// Text implements [llm.Dialect].
func (h *held) Text(m llm.Message) string { return h.of("").Text(m) }

// Render implements [llm.Dialect].
func (h *held) Render(request llm.Request) llm.Request { return h.of(request.Model).Render(request) }

// Read implements [llm.ReplyReader].
func (h *held) Read(rendered llm.Request, tools []llm.Tool, reply iter.Seq2[llm.Delta, error]) iter.Seq2[llm.Delta, error] {
	if reader, ok := h.schema.(llm.ReplyReader); ok && rendered.Schema != nil {
		return reader.Read(rendered, tools, reply)
	}
	return reply
}

// learn implements [learner].
func (h *held) learn(err error, request llm.Request) bool {
	if h.of(request.Model) == llm.Dialect(h.otherwise) {
		return h.otherwise.learn(err, request)
	}
	if h.schema.Render(request).Schema == nil || !refusesSchema(err) {
		return false
	}
	h.refused.add(request.Model, err)
	return true
}

// refusesSchema reports whether a server says that it does not take a schema, or not this one. Servers have no code
// for it.
func refusesSchema(err error) bool {
	failure, is := badRequest(err)
	if !is {
		return false
	}
	message := strings.ToLower(failure.Message)
	return slices.ContainsFunc([]string{"schema", "grammar", "response_format", "output_config", "output_format", "text.format", "structured output"}, func(word string) bool {
		return strings.Contains(message, word)
	})
}
