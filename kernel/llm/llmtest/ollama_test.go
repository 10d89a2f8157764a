package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
)

// TestOllamaRefuses: it refuses what Ollama refuses, and another server has neither address.
func TestOllamaRefuses(t *testing.T) {
	ollama, other := llmtest.StartOllama(t, llmtest.Ollama{Parameters: "num_ctx 7", Loaded: []string{"a:b"}, Context: 9}), llmtest.Start(t)
	for _, c := range []struct {
		of           *llmtest.Server
		method, path string
		body         string
		status       int
		want         string
	}{
		{ollama, "GET", "/api/ps", "", 200, `"context_length":9`},
		{ollama, "POST", "/api/ps", "{}", 405, "not allowed"},
		{ollama, "POST", "/api/show", `{"model":"test-model:8b"}`, 200, `"parameters":"num_ctx 7"`},
		{ollama, "GET", "/api/show", "", 405, "not allowed"},
		{ollama, "POST", "/api/show", "", 400, "missing request body"},
		{ollama, "POST", "/api/show", "{", 400, "unexpected EOF"},
		{ollama, "POST", "/api/show", "{}", 400, "model is required"},
		{ollama, "POST", "/api/show", `{"model":"test-model"}`, 404, "model 'test-model' not found"},
		{ollama, "GET", "/v1/api/ps", "", 404, "nothing is served"},
		{other, "GET", "/api/ps", "", 404, "nothing is served"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, strings.TrimSuffix(c.of.URL(), "/v1")+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s %s: %d %s, %v", c.method, c.path, c.body, response.StatusCode, body, err)
		}
	}
}
