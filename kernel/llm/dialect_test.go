package llm_test

import (
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// marked is a dialect in which calls and results stand after a mark.
type marked struct{ name, mark string }

func (d marked) Name() string { return d.name }

func (d marked) Text(m llm.Message) string {
	var b strings.Builder
	b.WriteString(m.Text)
	for _, c := range m.Calls {
		b.WriteString(d.mark + c.ID + d.mark + c.Action)
	}
	for _, r := range m.Results() {
		b.WriteString(d.mark + r.Call.ID + d.mark + r.Text)
	}
	return b.String()
}

func (d marked) Render(request llm.Request) llm.Request {
	var rendered []llm.Message
	for _, m := range request.Messages {
		if m.Role == llm.RoleKernel {
			m.Role = llm.RoleUser
		}
		rendered = append(rendered, llm.Message{Role: m.Role, Text: d.Text(m)})
	}
	request.Messages = rendered
	return request
}

// TestCascadeOfDialects checks that each provider of a cascade gets the same request in its own
// dialect.
func TestCascadeOfDialects(t *testing.T) {
	asked := func() llm.Request {
		return llm.Request{Sections: llm.System("be kind"), Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "where is it?"},
			{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "7", Action: "(look)"}}},
			{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: llm.Call{ID: "7", Action: "(look)"}, Verdict: "performed", Text: "here"}}}},
		}}
	}
	request := asked()
	first, second := script(fails(llm.ClassServer)), script(llmtest.Say("ok"))
	cascade := llm.Cascade{Steps: []llm.Step{
		{Name: "first", Provider: llm.Rendered{Next: first, Dialect: marked{"angle", "<>"}}},
		{Name: "second", Provider: llm.Rendered{Next: second, Dialect: marked{"square", "[]"}}},
	}}
	reply, err := llm.Collect(cascade.Stream(t.Context(), request))
	if err != nil || reply.Text != "ok" {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	for _, c := range []struct {
		requests []llm.Request
		mark     string
	}{{first.Requests(), "<>"}, {second.Requests(), "[]"}} {
		want := []llm.Message{
			{Role: llm.RoleUser, Text: "where is it?"},
			{Role: llm.RoleAssistant, Text: c.mark + "7" + c.mark + "(look)"},
			{Role: llm.RoleUser, Text: c.mark + "7" + c.mark + "here"},
		}
		if len(c.requests) != 1 || !reflect.DeepEqual(c.requests[0].Messages, want) {
			t.Errorf("the provider with %s was asked %+v", c.mark, c.requests)
		}
	}
	if !reflect.DeepEqual(request, asked()) {
		t.Errorf("the request itself was changed: %+v", request)
	}
}

func TestDialectsAreNamed(t *testing.T) {
	list := llm.Dialects{marked{"angle", "<>"}, marked{"square", "[]"}}
	for name, want := range map[string]string{"": "angle", "angle": "angle", "square": "square"} {
		if d, err := list.Named(name); err != nil || d.Name() != want {
			t.Errorf("%q is %v, %v", name, d, err)
		}
	}
	if _, err := list.Named("round"); err == nil || !strings.Contains(err.Error(), "angle, square") {
		t.Errorf("round: %v", err)
	}
}

// TestRendered tests Rendered against the contract of providers.
func TestRendered(t *testing.T) {
	provider := &llmtest.Script{Name: "script", Reply: func(llm.Request) llmtest.Turn { return llmtest.Say("Hello, and welcome to all that there is.") }}
	llmtest.Suite(t, llm.Rendered{Next: provider, Dialect: marked{"angle", "<>"}}, hello)
}
