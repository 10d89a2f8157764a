package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"org-agent/kernel/llm"
)

// TestGrammarField: what a server is, it says in the list of its models and beside the protocol. Recorded answers
// of llama.cpp itself are in [TestRecordedWire].
func TestGrammarField(t *testing.T) {
	llama := map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp"}]}`, "/props": `{"chat_template":"{{ messages }}"}`}
	with := func(answers map[string]string, path, answer string) map[string]string {
		changed := map[string]string{path: answer}
		for p, a := range answers {
			if p != path {
				changed[p] = a
			}
		}
		return changed
	}
	vllm := map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"vllm"}]}`, "/version": `{"version":"0.12.0"}`}
	for name, c := range map[string]struct {
		answers map[string]string
		model   string
		want    string
		class   llm.Class
	}{
		"llama.cpp":                      {llama, "", "grammar", ""},
		"llama.cpp, named":               {llama, "m", "grammar", ""},
		"llama.cpp, under another name":  {llama, "gpt-4", "grammar", ""},
		"llama.cpp that thinks":          {with(llama, "/props", `{"chat_template":"{{ '<think>' }}"}`), "", "", ""},
		"llama.cpp that may think":       {with(llama, "/props", `{"chat_template":"{% if enable_thinking %}"}`), "", "", ""},
		"llama.cpp without its about":    {with(llama, "/props", ""), "", "", llm.ClassBadRequest},
		"llama.cpp, odd about":           {with(llama, "/props", "<html>"), "", "", llm.ClassProtocol},
		"vLLM":                           {vllm, "", "structured_outputs", ""},
		"vLLM 1":                         {with(vllm, "/version", `{"version":"1.0.3.dev4"}`), "", "structured_outputs", ""},
		"vLLM before 0.12":               {with(vllm, "/version", `{"version":"0.9.2"}`), "", "guided_grammar", ""},
		"another":                        {with(vllm, "/v1/models", `{"data":[{"id":"m","owned_by":"library"}]}`), "", "", ""},
		"several, and none is named":     {with(vllm, "/v1/models", `{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"vllm"}]}`), "", "", ""},
		"several, of which one is meant": {with(vllm, "/v1/models", `{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"x"}]}`), "a", "structured_outputs", ""},
		"no list":                        {map[string]string{}, "", "", llm.ClassBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := c.answers[r.URL.Path]
				if r.URL.Query().Get("key") != "k" || r.Header.Get("Authorization") != "Bearer s" {
					t.Errorf("%s has no key", r.URL)
				}
				if answer == "" {
					w.WriteHeader(http.StatusNotFound)
				}
				io.WriteString(w, answer)
			}))
			defer server.Close()
			got, err := provider(t, nil, llm.ServerConfig{BaseURL: server.URL + "/v1?key=k", Key: "s"}).GrammarField(t.Context(), c.model)
			if got != c.want || llm.ClassOf(err) != c.class {
				t.Errorf("it is %q, %v", got, err)
			}
		})
	}
}
