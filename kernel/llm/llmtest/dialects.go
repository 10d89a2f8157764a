package llmtest

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/llm"
)

// conversation has a message of every sort, in the order in which turns make them. Each of its
// texts has a word of its own that begins with "word-".
func conversation() []llm.Message {
	look := llm.Call{ID: "7", Action: `(:type :request :target :tool :payload (:action :call :tool "read" :args (:path "word-path")))`}
	batch := llm.Call{ID: "8", Action: `(:type :request :target :tool :payload (:action :batch :calls ((:tool "word-batch"))))`}
	return []llm.Message{
		{Role: llm.RoleUser, Text: "word-question", Images: []llm.Image{{Name: "map.png", Media: "image/png", Data: []byte("bytes")}}},
		{Role: llm.RoleAssistant, Calls: []llm.Call{look}},
		{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: look, Verdict: "performed", Text: "word-result"}}}},
		{Role: llm.RoleAssistant, Calls: []llm.Call{batch}},
		{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: batch, Verdict: "failed", Text: "word-failed",
			Failure: &llm.Failure{Code: "word-code", Retryable: true}, Note: "word-note",
			Parts: []llm.Part{{ID: "8.1", Tool: "word-tool", Verdict: "failed", Text: "word-part", Failure: &llm.Failure{Code: "not-found"}}},
			Added: []llm.Addition{{From: "word-hook", Text: "word-addition"}}}}}},
		{Role: llm.RoleUser, Text: "word-meanwhile", Within: true},
		{Role: llm.RoleAssistant, Text: "word-answer"},
		{Role: llm.RoleUser, Text: "word-next"},
		{Role: llm.RoleKernel, Outcome: &llm.Outcome{Added: []llm.Addition{{From: "word-late", Text: "word-kept"}}}},
		{Role: llm.RoleAssistant, Text: "word-last"},
		{Role: llm.RoleUser, Text: "word-final"},
	}
}

// DialectSuite tests a dialect against the contract of [llm.Dialect].
func DialectSuite(t *testing.T, dialect llm.Dialect) {
	t.Helper()
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(dialect.Name()) {
		t.Errorf("the name %q cannot stand in the settings", dialect.Name())
	}
	request := llm.Request{Model: "test-model", Sections: llm.System("word-system"), Messages: conversation(), Stop: []string{"end"}}
	t.Run("the request stays", func(t *testing.T) { suiteUnchanged(t, dialect, request) })
	t.Run("nothing is lost", func(t *testing.T) { suiteComplete(t, dialect, request) })
	t.Run("roles", func(t *testing.T) { suiteRoles(t, dialect, request) })
	t.Run("a longer conversation", func(t *testing.T) { suitePrefix(t, dialect, request) })
	t.Run("several at once", func(t *testing.T) { suiteRenderedAtOnce(t, dialect, request) })
}

// suiteUnchanged checks that rendering does not change the request.
func suiteUnchanged(t *testing.T, dialect llm.Dialect, request llm.Request) {
	rendered := dialect.Render(request)
	if !reflect.DeepEqual(request.Messages, conversation()) {
		t.Errorf("the request itself was changed: %+v", request.Messages)
	}
	if rendered.Model != request.Model || rendered.System() != request.System() || !reflect.DeepEqual(rendered.Stop, request.Stop) {
		t.Errorf("the model, the system prompt or what ends a reply is another: %+v", rendered)
	}
}

// suiteComplete checks that every word of the conversation is rendered, as text or still as a
// value, and that the text by which lengths are estimated contains it too.
func suiteComplete(t *testing.T, dialect llm.Dialect, request llm.Request) {
	words := regexp.MustCompile(`word-[a-z]+`)
	var rendered string
	for _, m := range dialect.Render(request).Messages {
		rendered += everything(m)
	}
	for _, m := range request.Messages {
		text := dialect.Text(m)
		plain := len(m.Calls) == 0 && m.Outcome == nil
		if plain && text != m.Text {
			t.Errorf("the text of a message without calls and results is %q, not %q", text, m.Text)
		}
		for _, word := range words.FindAllString(everything(m), -1) {
			if !strings.Contains(rendered, word) && !strings.Contains(text, word) {
				t.Errorf("%s is not rendered", word)
			}
			if !strings.Contains(text, word) {
				t.Errorf("estimates of length leave %s out", word)
			}
		}
	}
	images := 0
	for _, m := range dialect.Render(request).Messages {
		images += len(m.Images)
	}
	if images != 1 {
		t.Errorf("of one image %d are rendered", images)
	}
}

// everything returns the texts that a message adds to the conversation. Of a call and its result,
// only the message of the call has the action.
func everything(m llm.Message) string {
	var b strings.Builder
	for _, r := range m.Results() {
		if r.Call.Function != nil {
			fmt.Fprintf(&b, "%+v", *r.Call.Function)
		}
		r.Call.Action = ""
		if r.Failure != nil {
			fmt.Fprintf(&b, "%+v", *r.Failure)
		}
		fmt.Fprintf(&b, "%+v", r)
	}
	if m.Outcome != nil {
		fmt.Fprintf(&b, "%+v", m.Outcome.Added)
	}
	for _, c := range m.Calls {
		if c.Function != nil {
			fmt.Fprintf(&b, "%+v", *c.Function)
		}
	}
	m.Outcome = nil
	fmt.Fprintf(&b, "%+v", m)
	return b.String()
}

// suiteRoles checks that servers take the messages: none is empty, none is the kernel's unless it
// still has values, and the first is the user's.
func suiteRoles(t *testing.T, dialect llm.Dialect, request llm.Request) {
	messages := dialect.Render(request).Messages
	if len(messages) == 0 || messages[0].Role != llm.RoleUser {
		t.Fatalf("the first message is not the user's: %+v", messages)
	}
	for i, m := range messages {
		if m.Blank() {
			t.Errorf("message %d says nothing", i)
		}
		if m.Role == llm.RoleKernel && m.Outcome == nil {
			t.Errorf("message %d has a role that no server knows: %+v", i, m)
		}
	}
}

// suitePrefix checks that a longer conversation begins as the shorter one did, byte for byte,
// because servers cache beginnings. A model is asked where the kernel or the user spoke last and
// the model speaks next.
func suitePrefix(t *testing.T, dialect llm.Dialect, request llm.Request) {
	all := dialect.Render(request).Messages
	for n := 1; n < len(request.Messages); n++ {
		if request.Messages[n].Role != llm.RoleAssistant {
			continue
		}
		shorter := request
		shorter.Messages = request.Messages[:n]
		begun := dialect.Render(shorter).Messages
		if len(begun) > len(all) || !reflect.DeepEqual(begun, all[:len(begun)]) {
			t.Errorf("the first %d messages are rendered as\n%+v\nand within all as\n%+v", n, begun, all[:min(len(begun), len(all))])
		}
	}
}

// suiteRenderedAtOnce checks that requests do not disturb one another.
func suiteRenderedAtOnce(t *testing.T, dialect llm.Dialect, request llm.Request) {
	want := dialect.Render(request).Messages
	var rendering sync.WaitGroup
	for i := range 4 {
		rendering.Go(func() {
			again := request
			again.Messages = conversation()
			if got := dialect.Render(again).Messages; !reflect.DeepEqual(got, want) {
				t.Errorf("rendering %d is %+v, not %+v", i, got, want)
			}
		})
	}
	rendering.Wait()
}
