package fetch_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/fetch"
)

// TestParseServer checks which servers can be named, and how they are spelt.
func TestParseServer(t *testing.T) {
	for text, want := range map[string]string{
		"example.org": "example.org", "Example.ORG.": "example.org", "https://example.org": "example.org", "example.org:443": "example.org",
		"example.org:8443": "example.org:8443", "http://example.org": "http://example.org", "http://example.org:80": "http://example.org",
		"*.example.org": "*.example.org", "*.Example.org:8443": "*.example.org:8443", "bücher.example": "xn--bcher-kva.example", "*.bücher.example": "*.xn--bcher-kva.example",
		"exam\u00adple.org": "example.org", "ｅxample。org": "example.org", "_dmarc.example.org": "_dmarc.example.org",
	} {
		server, err := fetch.ParseServer(text)
		if err != nil || server.String() != want {
			t.Errorf("%q: %q, %v, want %q", text, server, err, want)
			continue
		}
		if again, err := fetch.ParseServer(want); err != nil || again != server {
			t.Errorf("%q is read back as %q, %v", want, again, err)
		}
	}
	for _, text := range []string{
		"", "*", "*.", "*.*", "**.example.org", "*example.org", "www.*.org", "*.org", "*.co.uk", "*.github.io", "*.com.", "http://*.de",
		"localhost", "*.localhost", "printer.local", "db.internal", "intranet", "metadata.google.internal", "router.lan",
		"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "８.８.８.８", "8.8.8.8", "[::1]", "::1", "[::ffff:10.0.0.1]", "169.254.169.254", "0xA9FEA9FE", "①②⑦.⓪.⓪.①",
		"user@example.org", "user:password@example.org", "example.org/path", "example.org?x", "example.org#x", `example.org\@evil.org`, "example.org%00.evil.org", "example.org%2eevil.org",
		"example.org:22", "example.org:0", "example.org:99999", "example.org:", "example.org:80a", "ftp://example.org", "file:///etc/passwd", "//example.org", "example..org", ".example.org", "a b.org", "example.org\n.evil.org",
	} {
		// What is empty behind the colon is the port of the scheme.
		if server, err := fetch.ParseServer(text); err == nil && text != "example.org:" {
			t.Errorf("%q is the server %q", text, server)
		}
	}
}

// TestServerCovers checks which addresses belong to a server.
func TestServerCovers(t *testing.T) {
	for _, test := range []struct {
		server, address string
		covered         bool
	}{
		{"example.org", "https://example.org/a?b", true},
		{"example.org", "https://EXAMPLE.org:443/", true},
		{"example.org", "https://example.org./", true},
		{"example.org", "http://example.org/", false},
		{"example.org", "https://www.example.org/", false},
		{"example.org", "https://example.org.evil.com/", false},
		{"example.org", "https://evil-example.org/", false},
		{"example.org", "https://example.org:8443/", false},
		{"example.org:8443", "https://example.org/", false},
		{"example.org:8443", "https://example.org:8443/", true},
		{"*.example.org", "https://a.b.example.org/", true},
		{"*.example.org", "https://example.org/", false},
		{"*.example.org", "https://evilexample.org/", false},
		{"*.example.org", "https://a.example.org.evil.com/", false},
		{"http://example.org", "http://example.org/", true},
		{"http://example.org", "https://example.org/", false},
		{"xn--bcher-kva.example", "https://BÜCHER.example/", true},
		{"example.org", "https://ехample.org/", false}, // the first two letters are Cyrillic
	} {
		server, err := fetch.ParseServer(test.server)
		if err != nil {
			t.Fatal(err)
		}
		address, err := fetch.New(fetch.Config{}).Address(test.address)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(address)
		if err != nil || server.Covers(u) != test.covered {
			t.Errorf("%s and %s: %v, %v", test.server, test.address, server.Covers(u), err)
		}
	}
	if (fetch.Server{}).Covers(&url.URL{}) {
		t.Error("no server covers no address")
	}
}

// all allows every address.
func all(*url.URL) error { return nil }

// TestExchange checks that a response comes as the server sent it, whatever its status is.
func TestExchange(t *testing.T) {
	address, f := server(t, fetch.Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		w.Header().Set("X-Asked", r.Method+" "+r.Header.Get("X-Mine")+" "+string(body)+".")
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
		fmt.Fprint(w, "<html><b>\xe4 \x1b</b>")
	})
	for _, test := range []struct {
		method, path, body, asked string
		status                    int
		text                      string
	}{
		{"GET", "/?type=text/html%3Bcharset=iso-8859-1", "", "GET me .", 200, "<html><b>ä \x1b</b>"},
		{"POST", "/?type=application/json", "{}", "POST me {}.", 200, ""},
		{"PUT", "/?type=image/png", "x", "PUT me x.", 200, ""},
		{"DELETE", "/gone?type=text/plain%3Bcharset=iso-8859-1", "", "DELETE me .", 410, "<html><b>ä \x1b</b>"},
		{"HEAD", "/?type=text/plain", "", "HEAD me .", 200, ""},
	} {
		response, err := f.Exchange(t.Context(), fetch.Exchange{Method: test.method, Address: address + test.path, Header: http.Header{"x-mine": {"me"}}, Body: []byte(test.body), Allowed: all})
		if err != nil || response.Status != test.status || response.Header.Get("X-Asked") != test.asked || test.text != "" && response.Text != test.text {
			t.Errorf("%s %s: %+v, %v", test.method, test.path, response, err)
		}
		if response.IsText == strings.Contains(test.path, "image") || test.method != "HEAD" && !strings.HasPrefix(string(response.Body), "<html><b>\xe4") {
			t.Errorf("%s %s: %+v", test.method, test.path, response)
		}
	}
}

// TestExchangeRefuses checks that what would be more than one request, or one for another server, is not sent.
func TestExchangeRefuses(t *testing.T) {
	var asked atomic.Int64
	address, f := server(t, fetch.Config{}, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for name, x := range map[string]fetch.Exchange{
		"a line break in a value":      {Header: http.Header{"X": {"a\r\nHost: evil"}}},
		"a line feed in a value":       {Header: http.Header{"X": {"a\nb"}}},
		"NUL in a value":               {Header: http.Header{"X": {"a\x00b"}}},
		"a line break in a name":       {Header: http.Header{"X: a\r\nY": {"b"}}},
		"a blank in a name":            {Header: http.Header{"X Y": {"b"}}},
		"a colon in a name":            {Header: http.Header{"X:": {"b"}}},
		"no name":                      {Header: http.Header{"": {"b"}}},
		"a name that is not ASCII":     {Header: http.Header{"Hoſt": {"evil"}}},
		"another host":                 {Header: http.Header{"host": {"evil"}}},
		"a length":                     {Header: http.Header{"Content-Length": {"0"}}},
		"a transfer":                   {Header: http.Header{"transfer-encoding": {"chunked"}}},
		"an upgrade":                   {Header: http.Header{"Upgrade": {"h2c"}}},
		"a connection":                 {Header: http.Header{"CONNECTION": {"keep-alive"}}},
		"the proxy's password":         {Header: http.Header{"Proxy-Authorization": {"Basic x"}}},
		"packing":                      {Header: http.Header{"Accept-Encoding": {"br"}}},
		"too many headers":             {Header: http.Header{"X": make([]string, 65)}},
		"a header that is too long":    {Header: http.Header{"X": {strings.Repeat("x", 16<<10)}}},
		"the method CONNECT":           {Method: "CONNECT"},
		"the method TRACE":             {Method: "TRACE"},
		"a method with a line break":   {Method: "GET / HTTP/1.1\r\nX: y"},
		"a method in small letters":    {Method: "get"},
		"a body that is read":          {Body: []byte("x")},
		"a body that is too large":     {Method: "POST", Body: make([]byte, 1<<20+1)},
		"a user":                       {Address: strings.Replace(address, "site", "user@site", 1)},
		"another kind of address":      {Address: "file:///etc/passwd"},
		"a line break in the address":  {Address: address + "/\r\nX: y"},
		"a server that is not allowed": {Allowed: func(*url.URL) error { return errors.New("no") }},
		"this machine":                 {Address: "http://127.0.0.1:1"},
		"metadata":                     {Address: "http://169.254.169.254/"},
	} {
		if x.Method == "" {
			x.Method = "GET"
		}
		if x.Address == "" {
			x.Address = address
		}
		if x.Allowed == nil {
			x.Allowed = all
		}
		if name == "this machine" {
			if _, err := fetch.New(fetch.Config{}).Exchange(t.Context(), x); err == nil {
				t.Error("this machine is asked")
			}
			continue
		}
		if _, err := f.Exchange(t.Context(), x); err == nil {
			t.Errorf("%s is sent", name)
		}
	}
	if _, err := f.Exchange(t.Context(), fetch.Exchange{Method: "GET", Address: address}); err == nil {
		t.Error("it is sent although nobody allows it")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestExchangeRedirects checks that a redirect is followed only by a request that changes nothing, and only
// to a server that is allowed, which gets no headers of the first one.
func TestExchangeRedirects(t *testing.T) {
	var asked []string
	address, f := server(t, fetch.Config{}, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+strings.Split(r.Host, ":")[0]+r.URL.Path+" "+r.Header.Get("Authorization"))
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
		fmt.Fprint(w, "body")
	})
	other := strings.Replace(address, "site", "other", 1)
	only := func(hosts string) func(*url.URL) error {
		return func(u *url.URL) error {
			if !strings.Contains(hosts, u.Hostname()) {
				return errors.New("not granted")
			}
			return nil
		}
	}
	for _, test := range []struct {
		name, method, to, hosts string
		redirects, status       int
		asked, fault            string
	}{
		{"the same server", "GET", "/next", "site.example", 3, 200, "GET site.example/ key, GET site.example/next key", ""},
		{"another server", "GET", other + "/next", "site.example other.example", 3, 200, "GET site.example/ key, GET other.example/next ", ""},
		{"another server that is not allowed", "GET", other + "/next", "site.example", 3, 0, "GET site.example/ key", "not granted"},
		{"metadata", "GET", "http://169.254.169.254/latest/", "site.example 169.254.169.254", 3, 0, "GET site.example/ key", "local link"},
		{"this machine by a number", "GET", "http://2130706433/", "site.example 127.0.0.1", 3, 0, "GET site.example/ key", ""},
		{"another kind", "GET", "file:///etc/passwd", "site.example", 3, 0, "GET site.example/ key", "only https"},
		{"what sends", "POST", "/next", "site.example", 3, 307, "POST site.example/ key", ""},
		{"what deletes", "DELETE", "/next", "site.example", 3, 307, "DELETE site.example/ key", ""},
		{"none is followed", "GET", "/next", "site.example", 0, 307, "GET site.example/ key", ""},
		{"on and on", "GET", "/?to=/", "site.example", 0, 307, "GET site.example/ key", ""},
	} {
		asked = nil
		response, err := f.Exchange(t.Context(), fetch.Exchange{
			Method: test.method, Address: address + "/?to=" + url.QueryEscape(test.to), Redirects: test.redirects, Allowed: only(test.hosts), Header: http.Header{"Authorization": {"key"}},
		})
		if strings.Join(asked, ", ") != test.asked || response.Status != test.status && test.name != "this machine by a number" || test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)) {
			t.Errorf("%s: asked %q, %d, %v", test.name, asked, response.Status, err)
		}
	}
}

// TestExchangeIsBounded checks that a server cannot send without end, and that a name which resolves to
// another address the second time leads nowhere.
func TestExchangeIsBounded(t *testing.T) {
	address, f := server(t, fetch.Config{BodyLimit: 1 << 20}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			for range 1 << 10 {
				if _, err := packed.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/packed":
			w.Header().Set("Content-Encoding", "br")
		case "/headers":
			for i := range 10_000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		case "/short":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "x")
		}
	})
	for _, path := range []string{"/bomb", "/packed", "/headers", "/endless", "/short"} {
		if response, err := f.Exchange(t.Context(), fetch.Exchange{Method: "GET", Address: address + path, Allowed: all}); err == nil {
			t.Errorf("%s: %d bytes", path, len(response.Body))
		}
	}
	rebinding := &names{answers: map[string][]string{"site.example": {"127.0.0.1", "10.0.0.1"}}}
	address, f = server(t, fetch.Config{Resolver: rebinding}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x") })
	x := fetch.Exchange{Method: "GET", Address: address, Allowed: all}
	if _, err := f.Exchange(t.Context(), x); err != nil || len(rebinding.lookups) != 1 {
		t.Errorf("asked for its address %d times, %v", len(rebinding.lookups), err)
	}
	if _, err := f.Exchange(t.Context(), x); err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("rebound: %v", err)
	}
}

// TestExchangeEnds checks that a slow server is not waited for longer than was said, and that the context
// ends the exchange.
func TestExchangeEnds(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-stop
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(stop) })
	f := fetch.New(fetch.Config{Judge: here, Resolver: &names{answers: map[string][]string{"site.example": {"127.0.0.1"}}}})
	x := fetch.Exchange{Method: "GET", Address: "http://site.example:" + s.URL[strings.LastIndexByte(s.URL, ':')+1:], Allowed: all, Timeout: 50 * time.Millisecond}
	if _, err := f.Exchange(t.Context(), x); err == nil || !strings.Contains(err.Error(), "did not answer whole") {
		t.Errorf("slow: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x.Timeout = 0
	if _, err := f.Exchange(ctx, x); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
