package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// gate lets those keys in to a model that are not refused.
type gate struct {
	*httptest.Server
	mu      sync.Mutex
	refused map[string]int // statuses, by key
	came    []string       // keys, of requests for a reply
}

// guard begins a gate before the model.
func guard(t *testing.T, model *llmtest.Server, refused map[string]int) *gate {
	g := &gate{refused: refused}
	target, err := url.Parse(strings.TrimSuffix(model.URL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(target)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.mu.Lock()
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			g.came = append(g.came, key)
		}
		status := g.refused[key]
		g.mu.Unlock()
		if status != 0 {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"not with %s"}}`, key)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// keys are those that asked for a reply, in order.
func (g *gate) keys() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.came, " ")
}

// A key that is refused costs nothing but a request: the next one has the same question
// answered, which stands once in the conversation, in the journal and in what later turns
// are told.
func TestNextKeyOneQuestion(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusPaymentRequired} {
		model := llmtest.Start(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
		g := guard(t, model, map[string]int{canary + "1": status})
		in := &instance{variables: map[string]string{"KEY_1": canary + "1", "KEY_2": canary + "2"}}
		in.settle(t)
		in.write(t, "config.org", "* Models\n** remote\n:PROPERTIES:\n:BASE_URL: "+g.URL+"/v1\n:MODEL: test-model\n:API_KEY: env:KEY_1\n:API_KEY+: env:KEY_2\n:END:\n")
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		for i, id := range []string{"q1", "q2"} {
			if got := ask(t, e, id, fmt.Sprint("question ", i+1)); got.state != "answered" || got.notice != "" {
				t.Errorf("%d: the turn ended %+v", status, got)
			}
		}
		wantBare(t, e, "* question 1\n** Hello\n* question 2\n** Hello\n* ")
		if got, want := g.keys(), strings.ReplaceAll("k1 k2 k2", "k", canary); got != want {
			t.Errorf("%d: asked with %s, want %s", status, got, want)
		}
		if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}}); len(rows) != 2 {
			t.Errorf("%d: the journal has %d questions", status, len(rows))
		}
		requests := model.Requests()
		if last := fmt.Sprint(requests[len(requests)-1].Messages()); strings.Count(last, "question 1") != 1 || strings.Count(last, "question 2") != 1 {
			t.Errorf("%d: the model was told %s", status, last)
		}
		if strings.Contains(e.Text(), canary) {
			t.Error("a key stands in the conversation")
		}
	}
}

// When no key is let in the turn says what each was told, without the keys.
func TestNoKeyIsLetIn(t *testing.T) {
	model := llmtest.Start(t)
	g := guard(t, model, map[string]int{canary + "1": http.StatusPaymentRequired, canary + "2": http.StatusUnauthorized})
	in := &instance{variables: map[string]string{"KEY_1": canary + "1", "KEY_2": canary + "2"}}
	in.settle(t)
	in.write(t, "config.org", "* Models\n** remote\n:PROPERTIES:\n:BASE_URL: "+g.URL+"/v1\n:MODEL: test-model\n:API_KEY: env:KEY_1\n:API_KEY+: env:KEY_2\n:API_KEY+: env:KEY_3\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "hi")
	for _, want := range []string{"key 1 (env:KEY_1): the account has no credit left", "key 2 (env:KEY_2): the key was not accepted", "key 3 (env:KEY_3)", "KEY_3, which is not set"} {
		if got.state != "failed" || !strings.Contains(got.notice, want) {
			t.Errorf("the turn ended %+v, want %q in it", got, want)
		}
	}
	if strings.Contains(e.Text()+got.notice, canary) {
		t.Errorf("a key stands in the conversation:\n%s", e.Text())
	}
}
