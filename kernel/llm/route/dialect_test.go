package route_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/route"
)

// tagged is a dialect that is added to the list: calls and results stand between tags.
type tagged struct{}

// Name implements [llm.Dialect].
func (tagged) Name() string { return "tagged" }

// Text implements [llm.Dialect].
func (tagged) Text(m llm.Message) string {
	parts := []string{m.Text}
	for _, c := range m.Calls {
		parts = append(parts, fmt.Sprintf("<call id=%q>%s</call>", c.ID, c.Action))
	}
	if m.Outcome == nil {
		return strings.TrimSpace(strings.Join(parts, "\n"))
	}
	for _, r := range m.Outcome.Results {
		parts = append(parts, fmt.Sprintf("<result id=%q %s%s>%s</result>%s", r.Call.ID, r.Verdict, code(r.Failure), r.Text, r.Note))
		for _, p := range r.Parts {
			parts = append(parts, fmt.Sprintf("<part tool=%q %s%s>%s</part>", p.Tool, p.Verdict, code(p.Failure), p.Text))
		}
		parts = append(parts, additions(r.Added)...)
	}
	return strings.TrimSpace(strings.Join(append(parts, additions(m.Outcome.Added)...), "\n"))
}

// Render implements [llm.Dialect].
func (d tagged) Render(request llm.Request) llm.Request {
	messages := make([]llm.Message, len(request.Messages))
	for i, m := range request.Messages {
		messages[i] = llm.Message{Role: m.Role, Text: d.Text(m), Images: m.Images}
		if m.Role == llm.RoleKernel {
			messages[i].Role = llm.RoleUser
		}
	}
	request.Messages = messages
	return request
}

func code(f *llm.Failure) string {
	if f == nil {
		return ""
	}
	return " code=" + f.Code
}

func additions(all []llm.Addition) (parts []string) {
	for _, a := range all {
		parts = append(parts, fmt.Sprintf("<hook from=%q>%s</hook>", a.From, a.Text))
	}
	return parts
}

// TestAnotherDialect adds a dialect to the list. A model whose heading names it is asked in it, and the
// model that is asked in its place is asked in the first of the list.
func TestAnotherDialect(t *testing.T) {
	llmtest.DialectSuite(t, tagged{})
	dialects := append(dialect.All(), tagged{})
	down, up := llmtest.Start(t, llmtest.Exchange{Status: 401}), llmtest.Start(t, llmtest.Exchange{Reply: "yes"})
	settings := parsed(t, "* Models\n"+heading("down", down.URL(), ":DIALECT: tagged\n:MODEL: test-model\n")+heading("up", up.URL(), ":MODEL: test-model\n"))
	r, err := route.New(t.Context(), route.Config{Drivers: drivers(), Dialects: dialects, Settings: settings, Env: none})
	if err != nil {
		t.Fatal(err)
	}
	call := llm.Call{ID: "7", Action: "(:look)"}
	reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{Messages: []llm.Message{
		{Role: llm.RoleUser, Text: "where is it?"},
		{Role: llm.RoleAssistant, Calls: []llm.Call{call}},
		{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: call, Verdict: "performed", Text: "here"}}}},
	}}))
	if err != nil || reply.Text != "yes" {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	for server, want := range map[*llmtest.Server][2]string{
		down: {`<call id="7">(:look)</call>`, `<result id="7" performed>here</result>`},
		up:   {`(:look)`, `(:result (:action "(:look)" :verdict :performed :text "here"))`},
	} {
		requests := server.Requests()
		if len(requests) != 1 {
			t.Fatalf("a server was asked %d times", len(requests))
		}
		messages := requests[0].Messages()
		if len(messages) != 3 || messages[1].Content != want[0] || !strings.HasPrefix(messages[2].Content, want[1]) {
			t.Errorf("a server was sent %+v, not %q", messages, want)
		}
	}
	if got := r.Dialect().Name(); got != "tagged" {
		t.Errorf("the first model is asked in %q", got)
	}
}

func TestUnknownDialect(t *testing.T) {
	settings := parsed(t, "* Models\n"+heading("bird", "http://localhost:1/v1", ":DIALECT: quiet\n"))
	_, err := route.New(t.Context(), route.Config{Drivers: drivers(), Dialects: llm.Dialects{dialect.NewPlist(), tagged{}}, Settings: settings, Env: none})
	if err == nil || !strings.Contains(err.Error(), `config.org:2: there is no dialect "quiet": there is plist, tagged`) {
		t.Error(err)
	}
}
