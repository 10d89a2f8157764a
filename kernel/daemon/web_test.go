package daemon_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"org-agent/kernel/daemon"
	"org-agent/kernel/fetch"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/prompt/prompttest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestPagesAreData: a page is fetched when the person says so, and whatever of the corpus stands in
// it comes to the model as one result that cannot be left, and to the screen as the answer alone.
func TestPagesAreData(t *testing.T) {
	texts := prompttest.Injections(t)
	const each = 15
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<title>", html.EscapeString(texts[n]), "</title>")
		for _, text := range texts[n:min(n+each, len(texts))] {
			fmt.Fprintf(w, "<p>Roses, %s</p><pre>%[1]s</pre>", html.EscapeString(strings.ReplaceAll(text, "\x00", "")))
		}
	}))
	defer pages.Close()
	script := []llmtest.Exchange{{Match: `^--- [0-9a-f]{8} result`, Reply: insertion("* Read"), Times: -1}}
	for n := 0; n < len(texts); n += each {
		script = append(script, llmtest.Exchange{Match: fmt.Sprintf("page %d$", n), Reply: fmt.Sprintf(`(:type :request :target :tool :action :call :tool "web_fetch" :args (:url "%s/%d"))`, pages.URL, n)})
	}
	in, model := newInstanceAndModel(t, script...)
	k, err := in.tryStart(daemon.Config{Addresses: func(a netip.Addr) error {
		if a == netip.MustParseAddr("127.0.0.1") {
			return nil
		}
		return fetch.Public(a)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = k.end() }()
	e := in.editor(t, rpctest.Config{})
	for n := 0; n < len(texts); n += each {
		before, id := len(model.Requests()), fmt.Sprintf("q%d", n)
		var sent protocol.EventResult
		if err := e.Call(within(t), protocol.MethodEvent, message(id, fmt.Sprintf("page %d", n)), &sent); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
		approval := e.Approvals()[0]
		if !strings.Contains(fmt.Sprint(approval), fmt.Sprintf("%s/%d", pages.URL, n)) {
			t.Errorf("the person is asked for %+v", approval)
		}
		if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
		if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
			t.Fatalf("the turn ended %+v, %v", finished, err)
		}
		see(t, e, "the approval's end", func() bool { return len(e.Approvals()) == 0 })
		requests := model.Requests()[before:]
		if len(requests) != 2 {
			t.Fatalf("%d requests were sent", len(requests))
		}
		messages := requests[1].Messages()
		last := messages[len(messages)-1]
		parts, _, err := parsed(last)
		if err != nil || parts != "result" || last.Role != "user" {
			t.Errorf("the page %d is sent as %q of %s, %v:\n%s", n, parts, last.Role, err, last.Content)
		}
		if !strings.Contains(last.Content, "Roses, ") {
			t.Errorf("the page is not in\n%s", last.Content)
		}
	}
	// The trace of the calls has the page in lines that are nothing but text; the answer has not.
	got := in.conversation(t, "main")
	if strings.Count(got, "\n** Read") != (len(texts)+each-1)/each {
		t.Errorf("the conversation is\n%s", got)
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, "Roses") && !strings.HasPrefix(line, ": ") {
			t.Errorf("in the conversation stands %q", line)
		}
	}
}
