package openai_test

import (
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider returns a provider for a test server.
func provider(t *testing.T, server *llmtest.Server, config llm.ServerConfig) *openai.Provider {
	t.Helper()
	return llmtest.Open(t, server, openai.New, config)
}
