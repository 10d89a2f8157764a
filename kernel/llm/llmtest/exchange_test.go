package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes a file in the test's own directory.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadScript(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "reply.txt", "from a file\n")
	path := write(t, dir, "script.json", `{"models":["a","b"],"exchanges":[
		{"match":"^hi","times":-1,"reply_file":"reply.txt","delay":"150ms","until":"go"},
		{"status":429,"headers":{"Retry-After":"1"},"error":{"message":"x"}}]}`)
	script, err := llmtest.LoadScript(path)
	if err != nil {
		t.Fatal(err)
	}
	first := script.Exchanges[0]
	if len(script.Models) != 2 || first.Reply != "from a file\n" || first.Until != filepath.Join(dir, "go") || time.Duration(first.Delay) != 150*time.Millisecond || script.Exchanges[1].Status != 429 {
		t.Errorf("got %+v", script)
	}
	encoded, err := json.Marshal(first.Delay)
	if err != nil || string(encoded) != `"150ms"` {
		t.Errorf("the delay is written %s, %v", encoded, err)
	}
}

func TestLoadScriptFaults(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, says string }{
		"unknown key":  {`{"exchanges":[{"rely":"x"}]}`, `"rely"`},
		"no duration":  {`{"exchanges":[{"delay":5}]}`, "such as"},
		"bad duration": {`{"exchanges":[{"delay":"5 parsecs"}]}`, "parsecs"},
		"no file":      {`{"exchanges":[{"reply_file":"absent"}]}`, "exchange 1"},
		"no JSON":      {`exchanges`, "invalid"},
	} {
		if _, err := llmtest.LoadScript(write(t, dir, "script.json", c.content)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := llmtest.LoadScript(filepath.Join(dir, "absent.json")); err == nil {
		t.Error("an absent script is no error")
	}
	if _, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Exchanges: []llmtest.Exchange{{Match: "("}}}, nil); err == nil {
		t.Error("a match that is no expression is no error")
	}
}

// post asks a server and returns the status and the body.
func post(t *testing.T, server *llmtest.Server, message string) (int, string) {
	t.Helper()
	request, err := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user", "content": message}}})
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post(server.URL()+"/chat/completions", "application/json", bytes.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestServerChoosesTheExchange checks that the message selects the exchange, and that each is used
// as often as it may be.
func TestServerChoosesTheExchange(t *testing.T) {
	var trace bytes.Buffer
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Exchanges: []llmtest.Exchange{
		{Match: "cat", Reply: "meow"}, {Reply: "first"}, {Match: "^dog", Times: -1, Reply: "woof"}, {Times: 2, Reply: "twice"},
	}}, &trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says, want string
		status     int
	}{
		{"dog", "first", 200}, {"a cat", "meow", 200}, {"dog", "woof", 200}, {"dog", "woof", 200}, {"a cat", "twice", 200},
		{"bird", "twice", 200}, {"bird", "no exchange", 400}, {"dog", "woof", 200},
	} {
		if status, body := post(t, server, c.says); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.says, status, body)
		}
	}
	server.Close()
	if requests := server.Requests(); len(requests) != 8 || requests[1].Messages()[0].Content != "a cat" {
		t.Errorf("got %d requests", len(requests))
	}
	if lines := strings.Count(trace.String(), "\n"); lines != 8 {
		t.Errorf("the trace has %d lines", lines)
	}
}

// TestServerReplacesInTheEcho checks that parts of an echo can be replaced.
func TestServerReplacesInTheEcho(t *testing.T) {
	script := llmtest.ServerScript{Exchanges: []llmtest.Exchange{{Echo: true, Ending: llmtest.Ending{Whole: true}, Replace: []string{"one", "two", "two", "three"}}}}
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	response, err := http.Post(server.URL()+"/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"one two"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), `"content":"two three"`) {
		t.Errorf("%s, %v", body, err)
	}
	script.Exchanges[0].Replace = []string{"one"}
	if _, err := llmtest.Listen("127.0.0.1:0", script, nil); err == nil {
		t.Error("half a pair was taken")
	}
}

func TestServerRefusesOtherPaths(t *testing.T) {
	server := llmtest.Start(t)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(server.URL() + "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", response.Status)
	}
}
