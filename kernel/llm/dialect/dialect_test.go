package dialect_test

import (
	"testing"

	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
)

func TestDialects(t *testing.T) {
	names := map[string]bool{}
	for _, d := range dialect.All() {
		if names[d.Name()] {
			t.Errorf("two dialects are called %s", d.Name())
		}
		names[d.Name()] = true
		t.Run(d.Name(), func(t *testing.T) { llmtest.DialectSuite(t, d) })
	}
}
