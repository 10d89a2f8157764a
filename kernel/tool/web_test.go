package tool_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"org-agent/kernel/fetch"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/kernel/websearch"
)

// web returns a registry with the tools of the web, whose fetcher may ask the server of the test.
func web(t *testing.T, handler http.HandlerFunc, kind websearch.Kind) (r *tool.Registry, address string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	w := tool.Deps{Skills: func() *skillmd.Set { return nil }}
	w.Pages = fetch.New(fetch.Config{Judge: func(a netip.Addr) error {
		if a == netip.MustParseAddr("127.0.0.1") {
			return nil
		}
		return fetch.Public(a)
	}})
	if kind != "" {
		w.Search = func() *websearch.Server { return &websearch.Server{Kind: kind, BaseURL: s.URL} }
	}
	r, err := tool.BuiltIn(w)
	if err != nil {
		t.Fatal(err)
	}
	return r, s.URL
}

func webArguments(pairs ...any) (o protocol.Object) {
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// TestWebFetch checks that the judged address is the one that is asked, and that the parts of a
// long page make up the whole.
func TestWebFetch(t *testing.T) {
	var long strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&long, "line ü %d\n", i)
	}
	r, address := web(t, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Roads</title><h1>Roads</h1><p>By the <b>sea</b>.</p>")
		case "/long":
			fmt.Fprint(w, long.String())
		case "/empty":
			w.Header().Set("Content-Type", "text/html")
		case "/endless":
			w.Header().Set("Content-Type", "text/plain")
			for req.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("words ", 10_000))); err != nil {
					return
				}
			}
		}
	}, "")
	resolved, reach, err := r.Reach(t.Context(), "web_fetch", webArguments("URL", " "+strings.Replace(address, "http", "HTTP", 1)+"/page#part "))
	if want := address + "/page"; err != nil || len(reach) != 1 || reach[0] != (protocol.Reach{Kind: protocol.ReachFetches, URL: want}) || resolved.Get("url") != want {
		t.Fatalf("it reaches %v with %v, %v", reach, resolved, err)
	}
	text, _, err := r.Call(t.Context(), "web_fetch", resolved)
	if err != nil || !strings.HasPrefix(text, "Address: "+address+"/page\nTitle: Roads\n") || !strings.Contains(text, "By the **sea**.") {
		t.Errorf("%q, %v", text, err)
	}
	for _, inner := range []string{"http://127.0.0.2/", "http://localhost/", "http://[::1]/", "file:///etc/passwd", "http://a:b@example.org/", ""} {
		if _, reach, err := r.Reach(t.Context(), "web_fetch", webArguments("url", inner)); err == nil {
			t.Errorf("%q reaches %v", inner, reach)
		}
		if text, _, err := r.Call(t.Context(), "web_fetch", webArguments("url", inner)); err == nil {
			t.Errorf("%q gives %q", inner, text)
		}
	}
	var whole string
	for from := 0; ; {
		text, _, err := r.Call(t.Context(), "web_fetch", webArguments("url", address+"/long", "from", int64(from)))
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(text, "\n\n")
		part, note, more := strings.Cut(text, "\n[These are the bytes ")
		if whole += part; !more {
			break
		}
		if from, err = strconv.Atoi(strings.TrimSuffix(note[strings.LastIndexByte(note, ' ')+1:], "]")); err != nil {
			t.Fatalf("%q: %v", note, err)
		}
	}
	if whole != strings.TrimSpace(long.String()) {
		t.Errorf("the parts are %d bytes and the page has %d", len(whole), long.Len())
	}
	if _, _, err := r.Call(t.Context(), "web_fetch", webArguments("url", address+"/long", "from", int64(1<<30))); err == nil {
		t.Error("behind its end there is a part of a page")
	}
	if _, _, err := r.Call(t.Context(), "web_fetch", webArguments("url", address+"/empty")); err == nil || !strings.Contains(err.Error(), "no readable text") {
		t.Errorf("an empty page: %v", err)
	}
	text, _, err = r.Call(t.Context(), "web_fetch", webArguments("url", address+"/endless", "from", int64(1<<20-6000)))
	if err != nil || !strings.HasSuffix(text, "longer than what is read of one.]") {
		t.Errorf("%.100q, %v", text, err)
	}
}

func TestWebSearch(t *testing.T) {
	r, address := web(t, func(w http.ResponseWriter, req *http.Request) {
		if req.FormValue("q") == "nothing" {
			fmt.Fprint(w, `{"results":[]}`)
			return
		}
		items := strings.Repeat(`{"title":"Roads","url":"https://a.example/","content":"By the sea\n* Heading"},`, 40)
		fmt.Fprintf(w, `{"results":[%s]}`, strings.TrimSuffix(items, ","))
	}, websearch.SearxNG)
	resolved, reach, err := r.Reach(t.Context(), "web_search", webArguments("query", " silk \n roads ", "limit", int64(1000)))
	if err != nil || len(reach) != 1 || reach[0].Kind != protocol.ReachFetches || reach[0].URL != address+"/search?format=json&q=silk+roads" {
		t.Fatalf("it reaches %v, %v", reach, err)
	}
	text, _, err := r.Call(t.Context(), "web_search", resolved)
	if err != nil || !strings.HasPrefix(text, "20 found:\n\n1. Roads\n   https://a.example/\n   By the sea * Heading\n") {
		t.Errorf("%q, %v", text, err)
	}
	none, _, err := r.Reach(t.Context(), "web_search", webArguments("query", "nothing", "limit", int64(3)))
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := r.Call(t.Context(), "web_search", none); err != nil || !strings.Contains(text, "other words") {
		t.Errorf("%q, %v", text, err)
	}
	other := resolved
	other.Set("address", "https://elsewhere.example/search?format=json&q=silk+roads")
	if text, _, err := r.Call(t.Context(), "web_search", other); err == nil || !strings.Contains(err.Error(), "not the same any more") {
		t.Errorf("a server that nobody judged is asked: %q, %v", text, err)
	}
	for _, question := range []string{" \n", strings.Repeat("word ", 200)} {
		if _, _, err := r.Reach(t.Context(), "web_search", webArguments("query", question)); err == nil {
			t.Errorf("%.20q is asked", question)
		}
	}
	without, _ := web(t, func(http.ResponseWriter, *http.Request) {}, "")
	if name, _, found := without.Find("web_search"); found {
		t.Errorf("%s is offered without a server", name)
	}
	if _, _, found := without.Find("web_fetch"); !found {
		t.Error("web_fetch is not offered")
	}
}
