package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
)

// running counts the processes with a mark in their arguments.
func running(mark string) (count int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, _ := os.ReadFile(name); strings.Contains(string(line), "\x00fake\x00") && strings.Contains(string(line), mark) {
			count++
		}
	}
	return count
}

// marked returns a server whose process can be counted, and its mark.
func marked(t *testing.T, name string) (mcp.Server, string) {
	t.Helper()
	mark := filepath.Join(t.TempDir(), name)
	return program(name, "honest", mark), mark
}

// process returns the process id of a server.
func process(t *testing.T, h *mcp.Servers, name string) string {
	t.Helper()
	id, err := call(t, h, name+"_pid")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// names returns the names of the servers with a status.
func names(h *mcp.Servers) string {
	var all []string
	for _, s := range h.Statuses() {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

// TestReload checks that a server that stays the same goes on in its process, that one that is removed
// loses its tools at once and its process soon, and that one that changed is another process.
func TestReload(t *testing.T) {
	kept, _ := marked(t, "kept")
	kept.Secrets = []mcp.Secret{{Name: "TOKEN", Source: "env:A", Value: func(context.Context) (secret.Text, error) { return "first", nil }}}
	removed, mark := marked(t, "removed")
	h := run(t, kept, removed)
	ready(t, h, "kept")
	ready(t, h, "removed")
	before := process(t, h, "kept")
	added, _ := marked(t, "added")
	again := kept
	again.Secrets = []mcp.Secret{{Name: "TOKEN", Source: "env:A", Value: func(context.Context) (secret.Text, error) { return "second", nil }}}
	h.Reload([]mcp.Server{added, again})
	if got := names(h); got != "added kept" {
		t.Errorf("there are %q", got)
	}
	if _, err := call(t, h, "removed_pid"); protocol.ToolErrorOf(err).Code != protocol.ToolNotFound {
		t.Errorf("a tool of a server that is gone: %v", err)
	}
	ready(t, h, "added")
	if now := process(t, h, "kept"); now != before {
		t.Errorf("a server that is the same was started again: %s, before %s", now, before)
	}
	eventually(t, "the removed one ends", func() bool { return running(mark) == 0 })
	again.Secrets[0].Source = "env:B"
	again.Variables = []string{"MODE=quick"}
	h.Reload([]mcp.Server{again})
	ready(t, h, "kept")
	if got, err := call(t, h, "kept_environment"); err != nil || !strings.Contains(got, "MODE=quick") {
		t.Errorf("one that changed sees %s, %v", got, err)
	}
	if now := process(t, h, "kept"); now == before {
		t.Error("a server that changed is the same process")
	}
}

// TestReloadDuringCall checks that a call is answered by a server that is removed meanwhile, and that no
// other call is.
func TestReloadDuringCall(t *testing.T) {
	slow, mark := marked(t, "slow")
	h := run(t, slow)
	ready(t, h, "slow")
	before := registry(t, h)
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, _, err := before.Call(context.Background(), "slow_wait", nil)
		answered <- answer{text, err}
	}()
	time.Sleep(100 * time.Millisecond) // the call is on its way; if it was not, it fails below
	h.Reload(nil)
	if got := names(h); got != "" {
		t.Errorf("there are %q", got)
	}
	if _, err := call(t, h, "slow_pid"); err == nil {
		t.Error("a call was taken after the server was removed")
	}
	time.Sleep(300 * time.Millisecond)
	select {
	case got := <-answered:
		t.Fatalf("the call ended before its answer: %+v", got)
	default:
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.err != nil || got.text != "it came" {
		t.Errorf("the call ended with %+v", got)
	}
	eventually(t, "it ends", func() bool { return running(mark) == 0 })
}

// TestReloadOften checks that after many changes only the last server runs, and that nothing is left of
// the others.
func TestReloadOften(t *testing.T) {
	server, mark := marked(t, "often")
	h := run(t)
	files := func() int {
		entries, _ := os.ReadDir("/proc/self/fd")
		return len(entries)
	}
	descriptors := files()
	for i := range 10 {
		server.Variables = []string{fmt.Sprint("MODE=", i)}
		h.Reload([]mcp.Server{server})
		time.Sleep(30 * time.Millisecond)
	}
	ready(t, h, "often")
	if got, err := call(t, h, "often_environment"); err != nil || !strings.Contains(got, "MODE=9") {
		t.Errorf("the last one sees %s, %v", got, err)
	}
	eventually(t, "one is left", func() bool { return running(mark) == 1 })
	h.Reload(nil)
	eventually(t, "none is left", func() bool { return running(mark) == 0 && files() <= descriptors })
}

// TestKeyIsReadAgain checks that a web server that takes another key from now on gets it.
func TestKeyIsReadAgain(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "web", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "hello", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil
	})
	var key atomic.Value
	key.Store("first-key")
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key.Load().(string) {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.Close()
		for session := range server.Sessions() { // with the first key, which could not end it any more
			_ = session.Close()
		}
	})
	h := run(t, mcp.Server{Name: "web", URL: web.URL, Headers: []mcp.Secret{{Name: "Authorization", Before: "Bearer ", Value: func(context.Context) (secret.Text, error) {
		return secret.Text(key.Load().(string)), nil
	}}}})
	ready(t, h, "web")
	if got, err := call(t, h, "web_hello"); err != nil || got != "hello" {
		t.Fatalf("%s, %v", got, err)
	}
	key.Store("second-key")
	eventually(t, "the other key is used", func() bool {
		got, err := call(t, h, "web_hello")
		return err == nil && got == "hello"
	})
}
