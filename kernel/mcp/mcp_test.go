package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/tool"
)

// TestToolsLookLikeOurs checks that the tools of a program have names, forms and checks like ours,
// that the server gets its own names of the arguments, and that its hints decide nothing.
func TestToolsLookLikeOurs(t *testing.T) {
	h := run(t, program("notes", "honest"))
	ready(t, h, "notes")
	tools := registry(t, h)
	name, effect, found := tools.Find("notes-Echo")
	if name != "notes_echo" || effect != "" || !found {
		t.Errorf("found %q, %q, %v: a hint of the server counts", name, effect, found)
	}
	echo := tools.All()[slices.IndexFunc(tools.All(), func(t tool.Tool) bool { return t.Name() == "notes_echo" })]
	if want := `notes_echo (:the-text S [:kind "Plain"|"fancy" :loud t :max-count N :more ((S value) …)]): of the MCP server notes, which says: Says what it was told. Second paragraph.`; echo.Line() != want {
		t.Errorf("a prompt is told\n%s, not\n%s", echo.Line(), want)
	}
	got, err := call(t, h, "notes_echo", argument("the-text", "a"), argument("maxcount", int64(3)), argument("kind", protocol.Keyword("plain")), argument("loud", nil),
		argument("more", []any{[]any{"UPPER", "x"}}))
	if want := `{"kind":"Plain","loud":false,"max_count":3,"more":{"UPPER":"x"},"theText":"a"}`; err != nil || got != want {
		t.Errorf("the server got %s, %v, not %s", got, err, want)
	}
	for written, arguments := range map[string][]protocol.Field{
		"the argument :the-text is missing: what to say":         {},
		"there is no argument :the-txt; did you mean :the-text?": {argument("the-txt", "a")},
		"the argument :max-count is at least 1":                  {argument("the-text", "a"), argument("max-count", int64(0))},
		"the argument :loud is t or nil":                         {argument("the-text", "a"), argument("loud", "yes")},
		`did you mean "fancy"?`:                                  {argument("the-text", "a"), argument("kind", "fency")},
		"the arguments :the-text and :thetext are the same one":  {argument("the-text", "a"), argument("thetext", "a")},
		"the argument :more is a plist, or a list of pairs":      {argument("the-text", "a"), argument("more", []any{"x"})},
	} {
		checked := tools.Check(t.Context(), "notes_echo", arguments)
		_, err := call(t, h, "notes_echo", arguments...)
		if err == nil || !strings.Contains(err.Error(), written) || checked == nil || !strings.Contains(checked.Error(), written) {
			t.Errorf("%v: %v, and before %v; wanted %s", arguments, err, checked, written)
		}
		if of := protocol.ToolErrorOf(checked); of.Code != protocol.ToolArguments {
			t.Errorf("%v: the code is %s", arguments, of.Code)
		}
	}
	preview, known, err := tools.Preview(t.Context(), "notes_echo", protocol.Object{argument("the-text", "a")})
	if effects := strings.Join(preview.Effects, "\n"); !known || err != nil || preview.Summary != "Use echo of the MCP server notes" || !strings.Contains(preview.Text, `"theText": "a"`) ||
		!strings.Contains(effects, "with all your rights") || !strings.Contains(effects, "only reads; nobody has checked that") {
		t.Errorf("a person is shown %+v, %v", preview, err)
	}
	if s := status(h, "notes"); s.Server != "fake honest 1" || !slices.Contains(s.Tools, "notes_echo") || len(s.Left) > 0 {
		t.Errorf("the status is %+v", s)
	}
}

// TestEnvironment checks that a program gets no variable of the person's that could be a key, that
// it gets its own keys, and that these are hidden in what it returns.
func TestEnvironment(t *testing.T) {
	s := program("keyed", "honest")
	s.Variables = []string{"MODE=quick"}
	s.Secrets = []mcp.Secret{{Name: "TOKEN", Value: func(context.Context) (secret.Text, error) { return "s3cret-canary", nil }}}
	h := run(t, s)
	ready(t, h, "keyed")
	got, err := call(t, h, "keyed_environment")
	if err != nil || !strings.Contains(got, "MODE=quick") || !strings.Contains(got, "TOKEN=REDACTED") || !strings.Contains(got, "HOME=/home/canary") {
		t.Errorf("it sees %s, %v", got, err)
	}
	for _, never := range []string{"sk-canary", "s3cret", "DBUS", "SSH_", "EMACS"} {
		if strings.Contains(got, never) {
			t.Errorf("there is %s in\n%s", never, got)
		}
	}
}

// TestHang checks that a call that hangs ends with its time or its turn, and that no other call
// waits for it.
func TestHang(t *testing.T) {
	slow := program("slow", "honest")
	slow.Timeout = 300 * time.Millisecond
	h := run(t, slow, program("other", "honest"), program("silent", "mute"))
	ready(t, h, "slow")
	ready(t, h, "other")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := make(chan error, 1)
	other := registry(t, h)
	go func() {
		_, _, err := other.Call(ctx, "other_hang", nil)
		stopped <- err
	}()
	if _, err := call(t, h, "slow_hang"); err == nil || protocol.ToolErrorOf(err).Code != protocol.ToolTimeout || !strings.Contains(err.Error(), "slow did not answer within 300ms: it is not known") {
		t.Errorf("the call ended with %v", err)
	}
	for range 2 { // by now one call of this server hangs
		if _, err := call(t, h, "other_echo", argument("the-text", "a")); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that is stopped: %v", err)
	}
	if s := status(h, "silent"); s.State != mcp.Starting {
		t.Errorf("the server that says nothing is %+v", s)
	}
}

// TestCrash checks that a program that ends is started again, and that calls fail meanwhile.
func TestCrash(t *testing.T) {
	h := runWith(t, mcp.Config{Pause: time.Hour}, program("weak", "honest"), program("gone", "crashing"), program("giant", "giant"))
	ready(t, h, "weak")
	_, err := call(t, h, "weak_crash")
	if err == nil || !strings.Contains(err.Error(), "it ended: exit status 7; its last words: panic: it was too much") || protocol.ToolErrorOf(err).Retryable {
		t.Errorf("the call that it ended in: %v", err)
	}
	eventually(t, "it is known to be gone", func() bool { return status(h, "weak").State == mcp.Failing })
	_, err = call(t, h, "weak_echo", argument("the-text", "a"))
	if err == nil || !strings.Contains(err.Error(), "the MCP server weak is not there: it ended: exit status 7") || !protocol.ToolErrorOf(err).Retryable {
		t.Errorf("a call meanwhile: %v", err)
	}
	eventually(t, "why the others are not there is told", func() bool {
		return strings.Contains(status(h, "gone").Fault, "it ended: exit status 3; its last words: no such database") && strings.Contains(status(h, "giant").Fault, "more than 16 MB")
	})
	if s := status(h, "gone"); s.Again == "" {
		t.Errorf("when it is started again is not told: %+v", s)
	}
	h = run(t, program("weak", "honest"))
	ready(t, h, "weak")
	if _, err = call(t, h, "weak_crash"); err == nil {
		t.Error("it did not crash")
	}
	eventually(t, "it comes back", func() bool {
		_, err := call(t, h, "weak_echo", argument("the-text", "a"))
		return err == nil
	})
	if _, err = call(t, h, "weak_giant_line"); err == nil || !strings.Contains(err.Error(), "it wrote a line of more than 16 MB") {
		t.Errorf("a line that is too long: %v", err)
	}
}

// TestResults checks that a long result is cut and can be read whole in the same conversation, and
// that data that is not text is stored as a file that no program runs.
func TestResults(t *testing.T) {
	h := run(t, program("much", "honest"), program("noisy", "noisy"))
	ready(t, h, "much")
	got, err := call(t, h, "much_big")
	if err != nil || len(got) > 32<<10 || !strings.HasPrefix(got, "beginüü") || !strings.HasSuffix(got, "üend") {
		t.Fatalf("%d bytes came, %v", len(got), err)
	}
	_, after, _ := strings.Cut(got, `earlier_result has all of it as "`)
	id, _, _ := strings.Cut(after, `"`)
	in := func(session string) tool.Conversation { return tool.Conversation{Session: session, Alone: true} }
	whole, found, err := h.Result(t.Context(), in("main"), id)
	if err != nil || !found || len(whole) != 10<<20+8 {
		t.Errorf("the whole has %d bytes, %v, %v", len(whole), found, err)
	}
	if _, found, err = h.Result(t.Context(), in("other"), id); err == nil || !found {
		t.Error("another conversation finds it")
	}
	for _, other := range []string{"17", "17.2", "mcp-../../etc/passwd", ""} {
		if _, found, err = h.Result(t.Context(), in("main"), other); found || err != nil {
			t.Errorf("%q is found, %v", other, err)
		}
	}
	got, err = call(t, h, "much_parts")
	for _, want := range []string{"a picture:\n\n[An image (image/png) of 3 bytes is kept for a week as the file ", "[A resource that the server has: file:///srv/a (a)]", "[The resource demo://b (text/plain):]\nof b"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; wanted %s", got, err, want)
		}
	}
	for line := range strings.Lines(got) {
		if _, rest, kept := strings.Cut(line, "as the file "); kept {
			path, _, _ := strings.Cut(rest, ",")
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 || !slices.Contains([]string{".png", ".bin"}, filepath.Ext(path)) {
				t.Errorf("kept as %s: %v", path, err)
			}
		}
	}
	if _, err = call(t, h, "much_fails"); err == nil || err.Error() != "there is no such page" {
		t.Errorf("what fails: %v", err)
	}
	if got, err = call(t, h, "much_elicit"); err != nil || !strings.HasPrefix(got, "refused: ") {
		t.Errorf("what wants to ask: %s, %v", got, err)
	}
	ready(t, h, "noisy")
	if _, err = call(t, h, "noisy_echo", argument("the-text", "a")); err != nil {
		t.Errorf("what greets: %v", err)
	}
}

// TestChangedTools checks that a change of a server's tools is noticed, and that a changed tool
// needs a new approval.
func TestChangedTools(t *testing.T) {
	h := run(t, program("shifty", "honest"))
	ready(t, h, "shifty")
	tools := registry(t, h)
	before, same := tools.Digest("shifty_echo"), tools.Digest("shifty_big")
	if before == "" || before == same {
		t.Errorf("the digests are %q and %q", before, same)
	}
	if _, err := call(t, h, "shifty_change"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new tool is there", func() bool { _, _, found := tools.Find("shifty_appeared"); return found })
	if after := tools.Digest("shifty_echo"); after == before || after == "" {
		t.Errorf("the digest is still %q", after)
	}
	if tools.Digest("shifty_big") != same {
		t.Error("the digest of a tool that stayed is another")
	}
}

// TestNames checks that the first of two tools with one name is called, and that the other is
// reported.
func TestNames(t *testing.T) {
	tools := func(names ...string) string {
		var all []string
		for _, name := range names {
			all = append(all, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	h := runWith(t, mcp.Config{Own: func() []string { return []string{"a_read"} }}, program("a", "raw", tools("read", "b/c", "b.C", "日本", strings.Repeat("long", 40), strings.Repeat("long", 40)+"er")), program("a_b", "raw", tools("c", "d")))
	ready(t, h, "a")
	ready(t, h, "a_b")
	eventually(t, "the names are given", func() bool { return len(status(h, "a").Tools)+len(status(h, "a_b").Tools) == 4 })
	a, b := status(h, "a"), status(h, "a_b")
	if len(a.Tools) != 3 || a.Tools[0] != "a_b_c" || len(a.Tools[1]) != 64 || len(a.Tools[2]) != 64 || a.Tools[1] == a.Tools[2] || !slices.Equal(b.Tools, []string{"a_b_d"}) {
		t.Errorf("the names are %v and %v", a.Tools, b.Tools)
	}
	left := strings.Join(append(a.Left, b.Left...), "\n")
	for _, want := range []string{"read: the kernel has a tool of the name a_read already", "b.C: the MCP server a has", "c: the MCP server a has a tool of the name a_b_c already", `"日本": a name has letters`} {
		if !strings.Contains(left, want) {
			t.Errorf("%s is not told in\n%s", want, left)
		}
	}
}

// TestHostileSchemas checks that no description of arguments by a server costs much.
func TestHostileSchemas(t *testing.T) {
	loop := `{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/properties/x"},`, 30), ",") + `]}`
	many := strings.Builder{}
	for i := range 500 {
		fmt.Fprintf(&many, `"p%d":{"$ref":"#"},`, i)
	}
	schemas := []string{
		`{"type":"object","properties":{"x":` + loop + `}}`,
		`{"type":"object","properties":{"x":{"$ref":"#/properties/x"}}}`,
		`{"type":"object","properties":{"x":{"$ref":"#/nowhere"},"y":{"$ref":"http://127.0.0.1:1/"}}}`,
		`{"type":"object","properties":{` + many.String() + `"x":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"type":["object","null"],"properties":{"x":{"type":["string",7,null]}},"required":[7,"x"]}`,
		`{"type":"object","properties":{"x":7,"X":[],"a b":{"enum":[]}}}`,
		`{"type":"object","properties":{"\u202e\u0000":{"type":"string","enum":["\u202e\n* Heading"]}}}`,
	}
	var all []string
	for i, s := range schemas {
		all = append(all, fmt.Sprintf(`{"name":"t%d","description":"a\n* b \u202e :PROPERTIES:","inputSchema":%s}`, i, s))
	}
	h := run(t, program("odd", "raw", "["+strings.Join(all, ",")+"]"))
	ready(t, h, "odd")
	deep := any("end")
	for range 40 {
		deep = []any{protocol.Object{{Key: "x", Value: deep}}}
	}
	began := time.Now()
	for _, t1 := range registry(t, h).All() {
		if line := t1.Line(); len(line) > 3000 || strings.ContainsAny(line, "\n\u202e\x00") {
			t.Errorf("a prompt is told %q", line)
		}
		for _, value := range []any{"a", int64(1), nil, deep, protocol.Object{{Key: "x", Value: deep}}, []any{}} {
			_, _, err := registry(t, h).Preview(t.Context(), t1.Name(), protocol.Object{{Key: "x", Value: value}})
			if err != nil && len(err.Error()) > 4000 {
				t.Errorf("%s: what is wrong with the call takes %d bytes to say", t1.Name(), len(err.Error()))
			}
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("that took %s", took)
	}
}

// TestWeb checks that a web server gets its keys and nobody else does, with both transports.
func TestWeb(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "web", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "who", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		who := ""
		if request.Extra != nil { // the old transport has none
			who = request.Extra.Header.Get("Authorization")
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "you are " + who}}}, nil
	})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("somebody else was asked, with %v", r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	of := func(*http.Request) *sdk.Server { return server }
	mux := http.NewServeMux()
	keyed := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer canary-key" {
				http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	mux.Handle("/new", keyed(sdk.NewStreamableHTTPHandler(of, nil)))
	mux.Handle("/old", keyed(sdk.NewSSEHandler(of, nil)))
	mux.Handle("/away", http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	key := func(text string) []mcp.Secret {
		return []mcp.Secret{{Name: "Authorization", Before: "Bearer ", Value: func(context.Context) (secret.Text, error) { return secret.Text(text), nil }}}
	}
	h := run(t, mcp.Server{Name: "new", URL: web.URL + "/new", Headers: key("canary-key")}, mcp.Server{Name: "old", URL: web.URL + "/old", Old: true, Headers: key("canary-key")},
		mcp.Server{Name: "away", URL: web.URL + "/away", Headers: key("canary-key")}, mcp.Server{Name: "wrong", URL: web.URL + "/new", Headers: key("wrong-key")})
	for _, name := range []string{"new", "old"} {
		ready(t, h, name)
		if got, err := call(t, h, name+"_who"); err != nil || got != "you are Bearer REDACTED" && !(name == "old" && got == "you are ") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"away", "wrong"} {
		eventually(t, name+" fails", func() bool { return status(h, name).State == mcp.Failing })
		if fault := status(h, name).Fault; strings.Contains(fault, "-key") || fault == "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// TestNoProcessIsLeft checks that no process of the servers runs after they were ended, whatever they
// do.
func TestNoProcessIsLeft(t *testing.T) {
	mark := fmt.Sprintf("86543.%d", time.Now().UnixNano()%1e9)
	runs := func() bool {
		names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return slices.ContainsFunc(names, func(name string) bool {
			line, _ := os.ReadFile(name)
			return strings.Contains(string(line), mark)
		})
	}
	t.Run("servers", func(t *testing.T) {
		run(t, program("stubborn", "stubborn", mark))
		eventually(t, "it runs", runs)
	})
	if runs() {
		t.Error("something of it runs on")
	}
}
