package route_test

import (
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/route"
)

// TestTry: the model that is tried answers, whatever model the environment names, and has its key from
// its own variable.
func TestTry(t *testing.T) {
	doors := llm.Driver{Name: "doors", Open: func(c llm.ServerConfig) (llm.Provider, error) {
		if c.Key.Reveal() == "good" {
			return parrot{c}, nil
		}
		return &llmtest.Script{Turns: []llmtest.Turn{{llmtest.FailAs(llm.ClassAuth)}}}, nil
	}}
	c := route.Config{Drivers: llm.Drivers{doors}, Dialects: dialect.All(), Env: func(name string) string {
		return map[string]string{"ORG_AGENT_LLM": "another", "GOOD": "good", "BAD": "bad"}[name]
	}}
	model := config.Model{Name: "mine", BaseURL: "http://localhost:1/v1", Model: "m1", Key: config.KeySource{Env: "GOOD"}}
	request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hello"}}}
	reply, err := route.Try(t.Context(), c, model, request)
	if err != nil || reply.Text != "mine m1" {
		t.Errorf("the model says %q, %v", reply.Text, err)
	}
	model.Key.Env = "BAD"
	if _, err := route.Try(t.Context(), c, model, request); llm.ClassOf(err) != llm.ClassAuth {
		t.Errorf("with a bad key: %v", err)
	}
}
