package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"org-agent/kernel/llm"
)

// An original goes to the model that wrote it. It is left out where it has a secret, because a changed one is
// refused.
func TestOriginal(t *testing.T) {
	original := &llm.Original{Writer: llm.Writer("mine", "one"), Data: json.RawMessage(`"secret"`)}
	if string(original.By("mine/one")) != `"secret"` || original.By("mine/two") != nil || (*llm.Original)(nil).By("mine/one") != nil {
		t.Error("it goes to another model than that which wrote it")
	}
	request := llm.Request{Messages: []llm.Message{{Original: original}}}
	if got := request.Map(func(s string) string { return strings.ReplaceAll(s, "secret", "x") }); got.Messages[0].Original != nil {
		t.Errorf("a secret is left in %s", got.Messages[0].Original.Data)
	}
	if got := request.Map(strings.Clone); got.Messages[0].Original != original || request.Messages[0].Original == nil {
		t.Error("it is left out without a secret")
	}
}

// What the model wrote is sent back to the byte as long as it means what was done.
func TestArgumentsOf(t *testing.T) {
	for _, c := range []struct{ written, now, want string }{
		{`{ "b":1, "a":"x" }`, `{"a":"x","b":1}`, `{ "b":1, "a":"x" }`},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, `{"a":12345678901234567891}`},
		{`{"a":"x"}`, `{"a":"edited"}`, `{"a":"edited"}`},
		{`{"a":`, `{}`, `{}`},
		{``, `{}`, `{}`},
	} {
		if got := llm.ArgumentsOf(c.written, c.now); got != c.want {
			t.Errorf("%s of %s", got, c.written)
		}
	}
	called := llm.Message{Calls: []llm.Call{{Function: &llm.FunctionCall{Name: "mcp_odd"}}}}
	if !called.Matches([]string{"mcp_odd"}) || called.Matches([]string{"read"}) || called.Matches(nil) || (llm.Message{Calls: []llm.Call{{}}}).Matches([]string{""}) {
		t.Error("calls of other functions match")
	}
}
