package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// talkByHook is the script command "hook", a program that talks to the agent by the channel webhook. "hook" chooses an address, $HOOK, and
// a token, $HOOKTOKEN. "hook say ID SENDER TEXT" says a message until it is taken. "hook heard AFTER" waits for what
// the agent said behind a message, and prints it.
func talkByHook(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg:
		ts.Fatalf("hook is not negated")
	case len(args) == 0:
		free, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Setenv("HOOK", free.Addr().String())
		ts.Setenv("HOOKTOKEN", "canary-0123456789abcdef")
		ts.Check(free.Close())
	case len(args) == 4 && args[0] == "say":
		body, err := json.Marshal(map[string]any{"id": args[1], "chat": "door", "sender": map[string]string{"id": args[2], "name": args[2]}, "text": args[3]})
		ts.Check(err)
		answered(ts, http.MethodPost, "/messages", body)
	case len(args) == 2 && args[0] == "heard":
		text := answered(ts, http.MethodGet, "/messages?chat=door&wait=20&after="+url.QueryEscape(args[1]), nil)
		_, err := ts.Stdout().Write(text)
		ts.Check(err)
	default:
		ts.Fatalf("usage: hook [say ID SENDER TEXT | heard AFTER]")
	}
}

// answered asks until the channel answers.
func answered(ts *testscript.TestScript, method, path string, body []byte) []byte {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var last error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequest(method, "http://"+ts.Getenv("HOOK")+path, bytes.NewReader(body))
		ts.Check(err)
		request.Header.Set("Authorization", "Bearer "+ts.Getenv("HOOKTOKEN"))
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			last = err
			continue
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK {
			return text
		}
		last = fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	ts.Fatalf("the channel does not answer: %v", last)
	return nil
}
