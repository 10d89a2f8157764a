package skill_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/fetch"
)

// internet is a network with one server, at several names, that records what it is asked.
type internet struct {
	port string
	mu   sync.Mutex
	// asked are the requests, as METHOD HOST/PATH BODY.
	asked []string
	names map[string]string
}

// LookupNetIP finds the server, and what else has a name.
func (i *internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	address := i.names[strings.TrimSuffix(host, ".")]
	if address == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if address == "rebinding" {
		i.names[strings.TrimSuffix(host, ".")] = "10.0.0.7"
		address = "127.0.0.1"
	}
	return []netip.Addr{netip.MustParseAddr(address)}, nil
}

// requests returns what was asked since it was called last.
func (i *internet) requests() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	asked := strings.Join(i.asked, ", ")
	i.asked = nil
	return asked
}

// newInternet starts the server, and returns a home whose notes may be granted it.
func newInternet(t *testing.T) (*internet, *grantHome) {
	t.Helper()
	i := &internet{names: map[string]string{
		"api.example": "127.0.0.1", "www.api.example": "127.0.0.1", "evil.example": "127.0.0.1", "inside.example": "10.0.0.7", "rebinding.example": "rebinding",
		"xn--bcher-kva.example": "127.0.0.1",
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		host, _, _ := strings.Cut(r.Host, ":")
		i.mu.Lock()
		i.asked = append(i.asked, strings.TrimSpace(r.Method+" "+host+r.URL.RequestURI()+" "+string(body)+" "+r.Header.Get("Authorization")))
		i.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/to":
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusFound)
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/large":
			_, _ = w.Write(make([]byte, 6<<20))
			return
		case "/binary":
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write([]byte{0, 255})
			return
		}
		fmt.Fprint(w, `{"a": [1, "ü"]}`)
	}))
	t.Cleanup(s.Close)
	i.port = s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	judge := func(address netip.Addr) error {
		if address == netip.MustParseAddr("127.0.0.1") {
			return nil
		}
		return fetch.Public(address)
	}
	return i, newNetworkHome(t, fetch.New(fetch.Config{Judge: judge, Resolver: i}))
}

// granted has a note with that line of capabilities and form, and grants it what can be granted.
func (h *grantHome) granted(asks, form string) {
	h.t.Helper()
	h.put("home/skills/note.org", asker("note", asks, form))
	if shown, err := h.registry.Requests(h.note("note.org")); err == nil && len(shown.Names()) > 0 {
		h.grant("note.org")
	} else {
		h.registry.Load(h.t.Context())
	}
}

// TestNoteAsksServer checks that a note which was granted a server asks it as dexador does.
func TestNoteAsksServer(t *testing.T) {
	i, h := newInternet(t)
	for _, test := range []struct{ form, want, asked string }{
		{`(cdr (assoc :a (json:decode-json-from-string (dex:get "URL/x?q=1"))))`, `(1 "ü")`, "GET api.example/x?q=1"},
		{`(multiple-value-list (dex:get "URL/x"))`, `200`, "GET api.example/x"},
		{`(gethash "content-type" (nth-value 2 (dex:get "URL/x")))`, `application/json`, "GET api.example/x"},
		{`(dex:post "URL/x" :headers '(("Content-Type" . "application/json")) :content "{\"b\": 2}" :connect-timeout 5 :read-timeout 10 :keep-alive nil)`, `{"a"`, `POST api.example/x {"b": 2}`},
		{`(dex:post "URL/x" :content '(("a" . "1 2") ("b" . "&")))`, `{"a"`, "POST api.example/x a=1+2&b=%26"},
		{`(dex:put "URL/x" :content #(65 66))`, `{"a"`, "PUT api.example/x AB"},
		{`(dex:delete "URL/x")`, `{"a"`, "DELETE api.example/x"},
		{`(dex:request "URL/x" :method :patch :content "p")`, `{"a"`, "PATCH api.example/x p"},
		{`(dex:get "URL/x" :basic-auth '("me" . "word"))`, `{"a"`, "GET api.example/x  Basic " + base64.StdEncoding.EncodeToString([]byte("me:word"))},
		{`(nth-value 1 (dex:head "URL/x"))`, `200`, "HEAD api.example/x"},
		{`(handler-case (dex:get "URL/missing") (dex:http-request-not-found (e) (list :missing (dex:response-status e) (dex:request-method e))))`, `(MISSING 404 GET)`, "GET api.example/missing"},
		{`(handler-case (dex:get "URL/missing") (dex:http-request-failed (e) (dex:response-body e)))`, `{"a"`, "GET api.example/missing"},
		{`(dex:get "URL/missing")`, "An HTTP request to", "GET api.example/missing"},
		{`(dex:get "URL/binary")`, "#(0 255)", "GET api.example/binary"},
		{`(dex:get "URL/to?u=/x")`, `{"a"`, "GET api.example/to?u=/x, GET api.example/x"},
		{`(nth-value 1 (dex:post "URL/to?u=/x"))`, `302`, "POST api.example/to?u=/x"},
		{`(nth-value 1 (dex:get "URL/to?u=/x" :max-redirects 0))`, `302`, "GET api.example/to?u=/x"},
		{`(dexador:get "URL/x" :insecure t)`, ":insecure is not offered here", ""},
		{`(dex:get "URL/x" :proxy "http://127.0.0.1:1")`, ":proxy is not offered here", ""},
	} {
		h.granted("net:http://api.example:"+i.port, `(format nil "~a" `+strings.ReplaceAll(strings.ReplaceAll(test.form, "~a", ""), "URL", "http://api.example:"+i.port)+`)`)
		got := h.says()
		want := strings.ReplaceAll(strings.ReplaceAll(test.want, `"ü"`, "ü"), `\"`, `"`)
		if asked := i.requests(); !strings.Contains(got, want) || asked != test.asked {
			t.Errorf("%s\nsays  %s\nasked %q, want %q", test.form, got, asked, test.asked)
		}
	}
}

// TestHostileNotesReachNoOtherServer checks that a note which tries to reach another server than those that
// it was granted, or to send what is not its own, sends nothing.
func TestHostileNotesReachNoOtherServer(t *testing.T) {
	i, h := newInternet(t)
	t.Setenv("NOTES_TEST_TOKEN", "correct-horse-battery")
	at := func(host string) string { return "http://" + host + ":" + i.port }
	ours := "net:" + at("api.example")
	get := func(address string) string { return `(dex:get "` + address + `")` }
	for name, test := range map[string]struct{ asks, form, want string }{
		"another server":                     {ours, get(at("evil.example")), "is not one of the servers that were granted: ask for net:http://evil.example:"},
		"a server below":                     {ours, get(at("www.api.example")), "is not one of the servers"},
		"the domain of servers below":        {"net:http://*.api.example:" + i.port, get(at("api.example")), "is not one of the servers"},
		"a name that ends alike":             {ours, get(at("evil-api.example")), "is not one of the servers"},
		"another port":                       {ours, get("http://api.example:8080/"), "is not one of the servers"},
		"without encryption":                 {"net:api.example", get("http://api.example/"), "is not one of the servers"},
		"another kind of address":            {ours, get("file:///etc/passwd"), "only https"},
		"gopher":                             {ours, get("gopher://api.example:" + i.port + "/x"), "only https"},
		"a user":                             {ours, get("http://api.example:" + i.port + "@evil.example/"), "no name and no password"},
		"a password":                         {ours, get("http://a:b@api.example:" + i.port + "/"), "no name and no password"},
		"a backslash":                        {ours, get("http://evil.example\\\\@api.example:" + i.port + "/"), ""},
		"127.0.0.1":                          {ours, get("http://127.0.0.1:" + i.port), "is not one of the servers"},
		"a number":                           {ours, get("http://2130706433:" + i.port), "is not one of the servers"},
		"hexadecimal":                        {ours, get("http://0x7f.0.0.1:" + i.port), "is not one of the servers"},
		"octal":                              {ours, get("http://0177.1:" + i.port), "is not one of the servers"},
		"other digits":                       {ours, get("http://１２７.0.0.1:" + i.port), "is not one of the servers"},
		"version 6":                          {ours, get("http://[::1]:" + i.port), "only servers in the internet"},
		"version 4 in version 6":             {ours, get("http://[::ffff:169.254.169.254]/"), "only servers in the internet"},
		"a zone":                             {ours, get("http://[fe80::1%25lo]/"), ""},
		"localhost":                          {ours, get("http://localhost:" + i.port), "only servers in the internet"},
		"metadata":                           {ours, get("http://169.254.169.254/latest/meta-data/"), "only servers in the internet"},
		"metadata by name":                   {ours, get("http://metadata.google.internal/"), "only servers in the internet"},
		"a granted name inside":              {"net:" + at("inside.example"), get(at("inside.example")), "of a private network"},
		"a dot":                              {ours, get("http://evil.example.:" + i.port + "/"), "is not one of the servers"},
		"punycode of another":                {"net:" + at("xn--bcher-kva.example"), get("http://xn--bcher-kvb.example:" + i.port), ""},
		"letters that look alike":            {ours, get("http://аpi.example:" + i.port), "is not one of the servers"}, // Cyrillic а
		"a line break in the address":        {ours, get(at("api.example") + "/\\nHost: evil"), ""},
		"a line break in a header":           {ours, `(dex:get "` + at("api.example") + `" :headers (list (cons "X" (format nil "a~c~cHost: evil" #\Return #\Newline))))`, "line break"},
		"a header with a line break":         {ours, `(dex:get "` + at("api.example") + `" :headers (list (cons (format nil "X: a~%Y") "b")))`, "no name of a header"},
		"the header Host":                    {ours, `(dex:get "` + at("api.example") + `" :headers '((:host . "evil.example")))`, "belongs to the connection"},
		"the header Transfer-Encoding":       {ours, `(dex:post "` + at("api.example") + `" :content "0" :headers '(("transfer-ENCODING" . "chunked")))`, "belongs to the connection"},
		"the method CONNECT":                 {ours, `(dex:request "` + at("api.example") + `" :method :connect)`, "no method"},
		"a method with a line break":         {ours, `(dex:request "` + at("api.example") + `" :method (format nil "GET / HTTP/1.1~%X"))`, "no method"},
		"a body that is too large":           {ours, `(dex:post "` + at("api.example") + `" :content (make-string 1100000 :initial-element #\a))`, "more than 1048576"},
		"a private key":                      {ours, `(dex:post "` + at("api.example") + `" :content "-----BEGIN OPENSSH PRIVATE KEY-----")`, "a private key is in it"},
		"a secret of the environment":        {ours, get(at("api.example") + "/?correct-horse-battery"), "the value of NOTES_TEST_TOKEN is in it"},
		"a secret in base64":                 {ours, `(dex:post "` + at("api.example") + `" :content "` + base64.StdEncoding.EncodeToString([]byte("x: correct-horse-battery")) + `")`, "the value of NOTES_TEST_TOKEN is in it"},
		"a secret as a password":             {ours, `(dex:get "` + at("api.example") + `" :basic-auth '("me" . "correct-horse-battery"))`, "the value of NOTES_TEST_TOKEN is in it"},
		"nothing granted":                    {"read:~/notes", get(at("api.example")), ""},
		"the internal function":              {"read:~/notes", `(funcall (intern "GET" "DEX") "` + at("api.example") + `")`, "is undefined"},
		"a server that cannot be granted":    {"net:localhost read:~/notes", get(at("api.example")), "is not for notes"},
		"all servers":                        {"net:*.example read:~/notes", get(at("api.example")), "is not for notes"},
		"servers of anybody":                 {"net:*.github.io read:~/notes", get(at("api.example")), "is not for notes"},
		"the function of another capability": {ours, `(uiop:read-file-string "~/notes/a.txt")`, ""},
	} {
		h.granted(test.asks, test.form)
		got := h.says()
		if asked := i.requests(); !strings.Contains(got, test.want) || asked != "" || strings.Contains(got, `"a"`) {
			t.Errorf("%s: says %s, want %q; asked %q", name, got, test.want, asked)
		}
	}
	// Those ask the granted server and reach no other.
	for name, test := range map[string]struct{ asks, address, want, asked string }{
		"a redirect to another server": {ours, "/to?u=" + at("evil.example") + "/", "is not one of the servers", "GET api.example"},
		"a redirect to metadata":       {ours, "/to?u=http://169.254.169.254/", "only servers in the internet", "GET api.example"},
		"a redirect to a file":         {ours, "/to?u=file:///etc/passwd", "only https", "GET api.example"},
		"too much":                     {ours, "/large", "more than 5242880 bytes", "GET api.example/large"},
	} {
		h.granted(test.asks, get(at("api.example")+test.address))
		if got, asked := h.says(), i.requests(); !strings.Contains(got, test.want) || !strings.HasPrefix(asked, test.asked) || strings.Contains(asked, ",") {
			t.Errorf("%s: says %s, want %q; asked %q", name, got, test.want, asked)
		}
	}
	h.granted("net:"+at("rebinding.example"), `(list `+get(at("rebinding.example"))+get(at("rebinding.example"))+`)`)
	h.wantSays("a name that is bound to another address", "10.0.0.7")
	h.granted(ours, `(loop repeat 40 collect (ignore-errors `+get(at("api.example"))+`))`)
	i.requests()
	h.wantSays("too many requests", "the limit of 32 requests is exceeded")
	if asked := strings.Count(i.requests(), "GET"); asked != 32 {
		t.Errorf("one call asked %d times", asked)
	}
}

// TestServerIsAskedOnlyToDoSomething checks that no server is asked while a note is loaded, chosen, tested or
// looked at.
func TestServerIsAskedOnlyToDoSomething(t *testing.T) {
	i, h := newInternet(t)
	get := `(dex:get "http://api.example:` + i.port + `")`
	note := func(trigger, symbolic, rest string) string {
		return "#+CAPABILITIES: net:http://api.example:" + i.port + "\n\n#+begin_src lisp\n(defskill :note :trigger (lambda (c) " + trigger + " (eq (getf (getf c :payload) :sensor) :chat-message))\n" +
			"  :neuro (lambda (c) (declare (ignorable c)) \"fine\")\n  :symbolic (lambda (a c) (declare (ignorable c)) " + symbolic + " a))\n" + rest + "\n#+end_src\n"
	}
	for name, test := range map[string]struct{ source, want string }{
		"a form outside any function": {note("", "", get), "a server was to be asked by a form outside any function"},
		"a trigger":                   {note(get, "", ""), "a server was to be asked by a trigger"},
		"a test":                      {note("", "", "#+end_src\n\n#+begin_src lisp :test yes\n(deftest asks (is "+get+"))"), "the test has no answer for GET http://api.example:" + i.port},
	} {
		h.put("home/skills/note.org", test.source)
		h.grant("note.org")
		var told strings.Builder
		for _, status := range h.registry.Statuses() {
			fmt.Fprint(&told, status.Diagnostics)
		}
		if asked := i.requests(); !strings.Contains(told.String(), test.want) || asked != "" {
			t.Errorf("%s: told %s; asked %q", name, told.String(), asked)
		}
	}
	h.put("home/skills/note.org", note("", get, ""))
	h.grant("note.org")
	skills := h.registry.Current().Skills()
	if len(skills) != 1 {
		t.Fatalf("%+v", h.registry.Statuses())
	}
	_, err := skills[0].Symbolic(t.Context(), list(t, `(:type :response :text "x")`), chatMessage(t, "x"))
	if asked := i.requests(); err == nil || !strings.Contains(err.Error(), "a server was to be asked by a symbolic function") || asked != "" {
		t.Errorf("a symbolic function: %v; asked %q", err, asked)
	}
}

// TestServersAreGranted checks what the person is shown, that a changed note asks again, and that what was
// revoked is gone for a note that runs.
func TestServersAreGranted(t *testing.T) {
	i, h := newInternet(t)
	form := `(dex:get "http://api.example:` + i.port + `")`
	h.put("home/skills/note.org", asker("note", "net:HTTP://Api.Example:"+i.port+" net:*.bücher.example net:localhost", form))
	h.registry.Load(t.Context())
	h.wantSays("never granted", "is not granted (never granted)")
	shown, err := h.registry.Requests(h.note("note.org"))
	if err != nil {
		t.Fatal(err)
	}
	var meanings []string
	for _, c := range shown.Capabilities {
		meanings = append(meanings, c.Name+": "+c.Meaning+c.Refused)
	}
	want := "net:http://api.example:PORT: ask the server api.example:PORT over the network, and send it what the note reads and is told, without encryption: others on the way can read and change all of it\n" +
		"net:*.xn--bcher-kva.example: ask the servers *.xn--bcher-kva.example over the network, and send it what the note reads and is told\n" +
		": localhost is a name inside a network, not one in the internet: only servers in the internet are asked"
	if got := strings.ReplaceAll(strings.Join(meanings, "\n"), i.port, "PORT"); got != want {
		t.Errorf("the person is shown\n%s", got)
	}
	h.grant("note.org")
	h.wantSays("granted", `{"a"`)
	if !strings.Contains(h.get("home/policy.org"), "net:http://api.example:"+i.port+" net:*.xn--bcher-kva.example") {
		t.Errorf("policy.org has\n%s", h.get("home/policy.org"))
	}
	running := h.registry.Current().Skills()[0]
	h.put("home/skills/note.org", asker("note", "net:HTTP://Api.Example:"+i.port+" net:*.bücher.example net:localhost", `(list 1 `+form+`)`))
	h.registry.CatchUp(t.Context())
	h.wantSays("its blocks changed", "(blocks changed since 2026-11-22)")
	h.put("home/skills/note.org", asker("note", "net:http://evil.example:"+i.port, form))
	h.registry.CatchUp(t.Context())
	h.wantSays("its list changed", "changed since 2026-11-22")
	i.requests()
	if _, err := h.registry.Revoke(t.Context(), h.note("note.org")); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(t, running); !strings.Contains(got, "is not granted") || i.requests() != "" {
		t.Errorf("revoked: what runs says %s", got)
	}
}
