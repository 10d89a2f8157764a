package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/secret"
)

// TestOnlyModel: a server is asked for its only model once, until it does not know it any more.
func TestOnlyModel(t *testing.T) {
	asked, listed := 0, []string{"one"}
	list := func(context.Context) ([]string, error) { asked++; return listed, nil }
	var only transport.OnlyModel
	for range 2 {
		if name, err := only.Of(t.Context(), "p", list, "", ""); name != "one" || err != nil {
			t.Errorf("Of() = %q, %v; want one", name, err)
		}
	}
	if name, _ := only.Of(t.Context(), "p", list, "", "set"); name != "set" || asked != 1 {
		t.Errorf("Of() = %q after %d lists; want the one that is set, and one list", name, asked)
	}
	only.Forget()
	for i := range 14 {
		listed = append(listed, fmt.Sprint("m", i))
	}
	_, err := only.Of(t.Context(), "p", list)
	if llm.ClassOf(err) != llm.ClassModel || !strings.HasSuffix(err.Error(), ", m10 and 3 more") {
		t.Errorf("Of() with %d models: %v", len(listed), err)
	}
	if _, err := only.Of(t.Context(), "p", func(context.Context) ([]string, error) { return nil, io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("Of() without a list: %v", err)
	}
}

// TestIgnored: each kind is logged once, and no server fills the log with kinds.
func TestIgnored(t *testing.T) {
	var log bytes.Buffer
	ignored := transport.Ignored{Logger: slog.New(slog.NewTextHandler(&log, nil)), Provider: "p"}
	for i := range 1000 {
		ignored.Note("event", "new")
		ignored.Note("event", fmt.Sprint("kind ", i, strings.Repeat("x", 10_000)))
	}
	lines := strings.Count(log.String(), "\n")
	if once := strings.Count(log.String(), "kind=new"); once != 1 || lines > 100 || log.Len() > 100_000 {
		t.Errorf("a kind has %d lines of %d with %d bytes", once, lines, log.Len())
	}
	(&transport.Ignored{}).Note("event", "nobody is told")
}

// TestDecorate: a request gets the query and the headers of the settings, and none of a library's own.
func TestDecorate(t *testing.T) {
	base, err := transport.Base("p", "https://h/v1?version=2%2B1&x", "/v1")
	if err != nil {
		t.Fatal(err)
	}
	for own, want := range map[string]string{"": "version=2%2B1&x", "version=9&after=m": "after=m&version=2%2B1&x="} {
		request := &http.Request{URL: &url.URL{RawQuery: own}, Header: http.Header{"X-Stainless-Os": {"Linux"}, "User-Agent": {"library"}}}
		transport.Decorate(request, base, map[string]secret.Text{"X-Team": "blue"})
		if got := request.URL.RawQuery; got != want {
			t.Errorf("query %q is %q; want %q", own, got, want)
		}
		if len(request.Header) != 2 || request.Header.Get("X-Team") != "blue" || request.UserAgent() != "org-agent" {
			t.Errorf("the headers are %v", request.Header)
		}
	}
}

// TestJoinBody: the fields of the settings replace those of the library, and the conversation stays to the byte.
func TestJoinBody(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h", strings.NewReader(`{"model":"m","messages":null,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := transport.JoinBody(request, map[string]any{"stream": false}, "messages", []byte(`[ {"a":"<é"} ]`)); err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(request.Body)
	if want := `{"model":"m","stream":false,"messages":[ {"a":"<é"} ]}`; string(body) != want || err != nil || request.ContentLength != int64(len(want)) {
		t.Errorf("the body is %s (%d), %v; want %s", body, request.ContentLength, err, want)
	}
}

// What is learnt of models is kept of so many of them, whoever asks at the same time.
func TestLearnt(t *testing.T) {
	var known transport.Learnt[int]
	var asking sync.WaitGroup
	for asker := range 4 {
		asking.Go(func() {
			for i := range 5_000 {
				known.Set(fmt.Sprint(asker, " ", i), i+1)
				known.Of(fmt.Sprint(i))
			}
		})
	}
	asking.Wait()
	kept := 0
	for asker := range 4 {
		for i := range 5_000 {
			switch known.Of(fmt.Sprint(asker, " ", i)) {
			case i + 1:
				kept++
			case 0:
			default:
				t.Fatalf("of model %d %d something else is known", asker, i)
			}
		}
	}
	if kept != 10_000 {
		t.Errorf("of %d models something is kept", kept)
	}
}
