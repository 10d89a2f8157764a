package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServe runs the command as a script would. It reads the URL, sends a request and interrupts the
// command.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	script, trace := filepath.Join(dir, "script.json"), filepath.Join(dir, "trace.jsonl")
	if err := os.WriteFile(script, []byte(`{"exchanges":[{"reply":"hello from the script"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--script", script, "--trace", trace}, "hello from the "},
		{nil, "echo me"},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		reader, writer := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, c.args, writer, io.Discard) }()
		url, err := bufio.NewReader(reader).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Post(strings.TrimSpace(url)+"/chat/completions", "application/json",
			strings.NewReader("{\"messages\":\n[{\"role\":\"user\",\"content\":\"echo me\"}]}"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(body), c.want) {
			t.Errorf("got %s, %v", body, err)
		}
		interrupt()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(trace); err != nil || string(got) != "{\"messages\":[{\"role\":\"user\",\"content\":\"echo me\"}]}\n" {
		t.Errorf("the trace is %q, %v", got, err)
	}
}

func TestServeFaults(t *testing.T) {
	for _, args := range [][]string{
		{"--script", "/nonexistent/script.json"}, {"--trace", "/nonexistent/trace"}, {"--listen", "256.0.0.1:0"}, {"--nonsense"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
}
