package llmtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
)

// DriverSuite tests a driver against the contract of [llm.Driver], and its providers against that of
// [llm.Provider], with servers that behave and servers that do not. What is peculiar to a protocol is tested
// where the driver is.
func DriverSuite(t *testing.T, driver llm.Driver) {
	t.Helper()
	d := opened{driver}
	t.Run("provider", func(t *testing.T) {
		server := Start(t, Exchange{Reply: strings.Repeat("Good day. ", 20), Times: -1})
		Suite(t, d.open(t, server.URL()), Hello())
	})
	t.Run("deltas come as they are sent", d.asSent)
	t.Run("leaving closes the connection", d.leaving)
	t.Run("nothing after a cancel", d.canceled)
	t.Run("deadline", d.deadline)
	t.Run("nobody answers", d.unreachable)
	t.Run("the server hangs up", d.hungUp)
	t.Run("no address", d.noAddress)
	t.Run("secrets", d.secrets)
}

// opened opens providers of a driver.
type opened struct{ driver llm.Driver }

// open returns a provider for the server at an address.
func (d opened) open(t *testing.T, address string) llm.Provider {
	t.Helper()
	return d.with(t, llm.ServerConfig{Name: "test", BaseURL: address})
}

func (d opened) with(t *testing.T, config llm.ServerConfig) llm.Provider {
	t.Helper()
	provider, err := d.driver.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	if closing, ok := provider.(interface{ Close() }); ok {
		t.Cleanup(closing.Close)
	}
	return provider
}

// asSent checks that text is not held back until more of it comes.
func (d opened) asSent(t *testing.T) {
	server := Start(t, Exchange{Reply: "first second", Chunk: 6, Fault: Fault{HangAfter: 1}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for delta, err := range d.open(t, server.URL()).Stream(ctx, Hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Text == "" {
			continue
		}
		if delta.Text != "first " {
			t.Errorf("got %q", delta.Text)
		}
		return
	}
}

// leaving checks that the server sees both ways of giving up.
func (d opened) leaving(t *testing.T) {
	server := Start(t, Exchange{Times: -1, Reply: "first second", Chunk: 6, Fault: Fault{HangAfter: 1}})
	model := d.open(t, server.URL())
	for _, err := range model.Stream(t.Context(), Hello()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range model.Stream(ctx, Hello()) {
		last = err
		cancel()
	}
	if llm.ClassOf(last) != llm.ClassCanceled {
		t.Errorf("the error is %v", last)
	}
	for range 6000 {
		if server.Abandoned() == 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the server saw %d of 2 clients leave", server.Abandoned())
}

// canceled checks that text that has already arrived is not passed on either.
func (d opened) canceled(t *testing.T) {
	server := Start(t, Exchange{Reply: strings.Repeat("a", 20), Chunk: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	texts := 0
	for delta, err := range d.open(t, server.URL()).Stream(ctx, Hello()) {
		switch {
		case err != nil && llm.ClassOf(err) != llm.ClassCanceled:
			t.Errorf("the error is %v", err)
		case delta.Text != "":
			texts++
			cancel()
		}
	}
	if texts != 1 {
		t.Errorf("%d deltas have text", texts)
	}
}

func (d opened) deadline(t *testing.T) {
	server := Start(t, Exchange{Fault: Fault{HangAfter: -1}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := llm.Collect(d.open(t, server.URL()).Stream(ctx, Hello()))
	if llm.ClassOf(err) != llm.ClassTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

func (d opened) unreachable(t *testing.T) {
	server := Start(t)
	address := server.URL()
	server.Close()
	_, err := llm.Collect(d.open(t, address).Stream(t.Context(), Hello()))
	if llm.ClassOf(err) != llm.ClassUnreachable || !strings.Contains(llm.HintOf(err), "is the model server running? nothing answers at 127.0.0.1:") {
		t.Errorf("the error is %v, the hint %q", err, llm.HintOf(err))
	}
	_, err = llm.Collect(d.open(t, "http://no-such-host.invalid/v1").Stream(t.Context(), Hello()))
	if llm.ClassOf(err) != llm.ClassUnreachable {
		t.Errorf("a host without an address: %v", err)
	}
}

// hungUp checks a server that closes the connection without an answer.
func (d opened) hungUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadAtLeast(connection, make([]byte, 16), 16)
			connection.Close()
		}
	}()
	defer func() { listener.Close(); <-done }()
	_, err = llm.Collect(d.open(t, fmt.Sprintf("http://%s/v1", listener.Addr())).Stream(t.Context(), Hello()))
	if class := llm.ClassOf(err); class != llm.ClassServer && class != llm.ClassUnreachable {
		t.Errorf("the error is %v", err)
	}
}

func (d opened) noAddress(t *testing.T) {
	for _, address := range []string{"nowhere", "ftp://host/", "http://", "http://a b/"} {
		if _, err := d.driver.Open(llm.ServerConfig{Name: "test", BaseURL: address}); llm.ClassOf(err) != llm.ClassBadRequest {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// secrets checks that neither the key nor a secret in a header or in the address occurs in an error, whatever
// the server answers.
func (d opened) secrets(t *testing.T) {
	const key, header, password, query = "sk-very-secret", "header-secret", "pass-secret", "query-secret"
	server := Start(t, Exchange{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"bad key ` + key + ` with ` + header + `"}}`})
	address := strings.Replace(server.URL(), "http://", "http://user:"+password+"@", 1)
	model := d.with(t, llm.ServerConfig{Name: "test", BaseURL: address, Query: "key=" + query, Key: key, Headers: map[string]secret.Text{"X-Key": header}})
	_, refused := llm.Collect(model.Stream(t.Context(), Hello()))
	server.Close()
	_, unreachable := llm.Collect(model.Stream(t.Context(), Hello()))
	_, invalid := d.driver.Open(llm.ServerConfig{BaseURL: "ftp://user:" + password + "@host/?key=" + query})
	shown := fmt.Sprintf("%v %+v %#v %v %v %v %+v %#v", refused, refused, llm.HintOf(refused), unreachable, llm.HintOf(unreachable), invalid, model, model)
	if lists, ok := model.(interface {
		Models(context.Context) ([]string, error)
	}); ok {
		_, err := lists.Models(t.Context())
		shown += fmt.Sprint(err, llm.HintOf(err))
	}
	if refused == nil || unreachable == nil || invalid == nil {
		t.Errorf("nothing fails: %s", shown)
	}
	for _, secret := range []string{key, header, password, query} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q shows %q", shown, secret)
		}
	}
}
