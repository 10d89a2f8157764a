package llm

import "cmp"

// The fields in which servers take a GBNF grammar: that of llama.cpp, that of vLLM, and the one that vLLM had
// before its version 0.12.
const (
	GrammarFieldPlain      = "grammar"
	GrammarFieldStructured = "structured_outputs"
	GrammarFieldGuided     = "guided_grammar"
)

// GrammarFieldSchema stands where the name of such a field may for a server that takes a JSON Schema in place of a
// grammar.
const GrammarFieldSchema = "json_schema"

// SchemaName is the name of the schema of replies where a protocol wants one.
const SchemaName = "reply"

// GrammarFieldNames returns the fields in which servers take a grammar.
func GrammarFieldNames() []string {
	return []string{GrammarFieldPlain, GrammarFieldStructured, GrammarFieldGuided}
}

// GrammarFields returns what a request's body has for its grammar, or its schema. configured is the server's field by the
// settings; if it is "" the one that was found out counts. Without a grammar or a field there is nothing.
func (r Request) GrammarFields(configured string) map[string]any {
	field := cmp.Or(configured, r.GrammarField)
	switch {
	case field == GrammarFieldSchema && r.Schema != nil:
		schema := map[string]any{"name": SchemaName, "strict": true, "schema": r.Schema(-1)}
		return map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": schema}}
	case field == GrammarFieldSchema:
		return nil
	case r.Grammar == "" || field == "":
		return nil
	case field == GrammarFieldStructured:
		return map[string]any{field: map[string]any{"grammar": r.Grammar}}
	}
	return map[string]any{field: r.Grammar}
}
