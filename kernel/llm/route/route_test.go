package route_test

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
)

// parrot is a protocol whose servers answer with the name of the model that was asked for, and can
// do nothing else.
type parrot struct{ server llm.ServerConfig }

func (p parrot) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if yield(llm.Delta{Text: p.server.Name + " " + cmp.Or(request.Model, p.server.Model)}, nil) {
			yield(llm.Delta{Finish: llm.FinishStop, Usage: &llm.Usage{Input: 1e6, Output: 1e6}}, nil)
		}
	}
}

// drivers returns the real driver and that of the parrot, which finds these servers.
func drivers(found ...llm.FoundServer) llm.Drivers {
	real := openai.Driver()
	real.Discover = nil // the machine that runs the test may have a server
	return llm.Drivers{real, {
		Name:     "parrot",
		Open:     func(c llm.ServerConfig) (llm.Provider, error) { return parrot{c}, nil },
		Discover: func(context.Context) []llm.FoundServer { return found },
	}}
}

// parsed returns the settings of a text, which must have no fault.
func parsed(t *testing.T, text string) config.Settings {
	t.Helper()
	settings := config.Parse("config.org", text)
	if len(settings.Diagnostics) > 0 {
		t.Fatal(settings.Diagnostics)
	}
	return settings
}

func none(string) string { return "" }

// router returns the router of the settings, in an empty environment.
func router(t *testing.T, text string, all llm.Drivers) *route.Router {
	t.Helper()
	r, err := route.New(t.Context(), route.Config{
		Drivers: all, Dialects: dialect.All(), Settings: parsed(t, text), Env: none, Consent: filepath.Join(t.TempDir(), "consent"),
		Builtin: parrot{llm.ServerConfig{Name: "guide"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// heading returns a heading of a model below "Models".
func heading(name, address, rows string) string {
	return "** " + name + "\n:PROPERTIES:\n:BASE_URL: " + address + "\n" + rows + ":END:\n"
}

func TestDriverOfTheSettingsAnswers(t *testing.T) {
	r := router(t, "* Models\n"+heading("bird", "http://localhost:1/v1", ":DRIVER: parrot\n:MODEL: ara\n:PRICE: 1 2\n"), drivers())
	for requested, want := range map[string]string{"": "bird ara", "bird": "bird ara", "bird:kea": "bird kea", "kea": "bird kea"} {
		reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{Model: requested}))
		if err != nil || reply.Text != want {
			t.Errorf("asked for %q: %q, %v; want %q", requested, reply.Text, err, want)
		}
		if priced := requested == "" || requested == "bird"; (reply.Usage.Cost != nil) != priced {
			t.Errorf("asked for %q: the cost is %v", requested, reply.Usage.Cost)
		}
	}
	if r.Model() != "ara" || !r.IsModel() || r.Notice() != "" {
		t.Errorf("it is called %q, %q", r.Model(), r.Notice())
	}
	if all := r.Statuses(); len(all) != 1 || all[0].Name != "bird" || all[0].State != "well" {
		t.Errorf("the statuses are %+v", all)
	}
	// It is no fault if a provider can do nothing beyond answering.
	if err := r.Check(t.Context(), "bird:anything"); err != nil {
		t.Error(err)
	}
	if w := r.Window(t.Context(), "", true); w.Tokens != 0 {
		t.Errorf("the window is %+v", w)
	}
	if list := r.List(t.Context(), "bird"); len(list.Models) != 1 || !list.Models[0].Chosen || !slices.Equal(list.Silent, []string{"bird"}) {
		t.Errorf("listed are %+v", list)
	}
}

func TestUnknownDriver(t *testing.T) {
	settings := parsed(t, "* Models\n"+heading("bird", "http://localhost:1/v1", ":DRIVER: parot\n"))
	_, err := route.New(t.Context(), route.Config{Drivers: drivers(), Dialects: dialect.All(), Settings: settings, Env: none})
	if err == nil || !strings.Contains(err.Error(), `config.org:2: there is no driver "parot": there is openai, parrot`) {
		t.Error(err)
	}
}

func TestModelsOfAServer(t *testing.T) {
	server := llmtest.Start(t)
	server.SetModels("test-model", "small-model:7b")
	r := router(t, "* Models\n"+heading("local", server.URL(), ":MODEL: test-model\n:WINDOW: 1000\n:GRAMMAR: grammar\n")+heading("bird", "http://localhost:1/v1", ":DRIVER: parrot\n"), drivers())
	for name, want := range map[string]string{
		"local": "", "test-model": "", "small-model:7b": "", "local:small-model:7b": "", "bird:any": "",
		"smal-model:7b": `did you mean "small-model:7b"?`, "local:test-modell": `did you mean "local:test-model"?`, "quite other": "M-x org-agent-model lists",
	} {
		err := r.Check(t.Context(), name)
		if want == "" && err != nil || want != "" && (protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	list := r.List(t.Context(), "local:small-model:7b")
	var names []string
	for _, m := range list.Models {
		names = append(names, m.Name)
		if m.Default != (m.Name == "local") || m.Chosen != (m.Name == "local:small-model:7b") {
			t.Errorf("listed is %+v", m)
		}
	}
	if !slices.Equal(names, []string{"local", "local:small-model:7b", "bird"}) {
		t.Errorf("listed are %q", names)
	}
	if w := r.Window(t.Context(), "", false); w.Tokens != 1000 || w.Source != "the settings" {
		t.Errorf("the window is %+v", w)
	}
	if w := r.Window(t.Context(), "local:gpt-4o", false); w.Tokens != 128_000 || w.Source != "its name" {
		t.Errorf("the window is %+v", w)
	}
	if !r.TakesGrammar(t.Context(), "") || !r.TakesGrammar(t.Context(), "local") || r.TakesGrammar(t.Context(), "bird") {
		t.Error("a server is asked for what it does not take")
	}
}

func TestDisabledModelIsNotReplaced(t *testing.T) {
	r := router(t, "* Models\n"+heading("bird", "http://localhost:1/v1", ":DRIVER: parrot\n")+heading("COMMENT far", "http://localhost:1/v1", ""), drivers())
	for _, name := range []string{"far", "far:other"} {
		if err := r.Find(name); protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "switched off") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFoundServer(t *testing.T) {
	found := llm.FoundServer{Name: "cage", BaseURL: "http://127.0.0.1:1/v1", Models: []string{"ara"}}
	r := router(t, "", drivers(found))
	if reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); err != nil || reply.Text != "cage ara" {
		t.Errorf("%q, %v", reply.Text, err)
	}
	if r.ConsentNeeded() != "" || !strings.Contains(r.Notice(), "127.0.0.1:1") {
		t.Errorf("on this machine: %q, %q", r.ConsentNeeded(), r.Notice())
	}
	found.BaseURL = "https://far.example/v1"
	r = router(t, "", drivers(found))
	if _, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); protocol.ErrorCode(err) != protocol.CodeConsent || r.ConsentNeeded() != "far.example" {
		t.Errorf("nobody agreed, and %v", err)
	}
	if err := r.CheckConsent("far.example"); err != nil {
		t.Fatal(err)
	}
	if reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); err != nil || reply.Text != "cage ara" {
		t.Errorf("%q, %v", reply.Text, err)
	}
}

func TestBuiltinWithoutServer(t *testing.T) {
	r := router(t, "", drivers())
	reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{}))
	if err != nil || r.Model() != "builtin" || r.IsModel() || !strings.HasPrefix(reply.Text, "guide") {
		t.Errorf("%q answers %q, %v", r.Model(), reply.Text, err)
	}
	if w := r.Window(t.Context(), "", true); !w.NoModel {
		t.Errorf("the window is %+v", w)
	}
	image := llm.Request{Messages: []llm.Message{{Images: []llm.Image{{Name: "p.png"}}}}}
	if shown, err := r.Images(image); err != nil || len(shown.Messages[0].Images) > 0 {
		t.Errorf("the guide is shown %+v, %v", shown, err)
	}
}

func TestKeysOfAServer(t *testing.T) {
	refuses := llm.Driver{Name: "doors", Open: func(c llm.ServerConfig) (llm.Provider, error) {
		if c.Key.Reveal() == "second" {
			return parrot{c}, nil
		}
		return &llmtest.Script{Turns: []llmtest.Turn{{llmtest.FailAs(llm.ClassAuth)}}}, nil
	}}
	env := map[string]string{"ONE": "first", "TWO": "second"}
	settings := parsed(t, "* Models\n"+heading("door", "http://localhost:1/v1", ":MODEL: m\n:API_KEY: env:ONE\n:API_KEY+: env:TWO\n"))
	r, err := route.New(t.Context(), route.Config{Drivers: llm.Drivers{refuses}, Dialects: dialect.All(), Settings: settings, Env: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if reply, err := llm.Collect(r.Stream(ctx, llm.Request{})); err != nil || reply.Text != "door m" {
		t.Errorf("%q, %v", reply.Text, err)
	}
}

// Other settings count from the next request on, and such as cannot be used change nothing. A
// request that runs keeps its model.
func TestReload(t *testing.T) {
	bird := "* Models\n" + heading("bird", "http://localhost:1/v1", ":DRIVER: parrot\n:MODEL: ara\n")
	r := router(t, "", drivers())
	running := r.Stream(t.Context(), llm.Request{})
	if err := r.Reload(t.Context(), parsed(t, bird)); err != nil {
		t.Fatal(err)
	}
	for stream, want := range map[*iter.Seq2[llm.Delta, error]]string{&running: "guide ", ptr(r.Stream(t.Context(), llm.Request{})): "bird ara"} {
		if reply, err := llm.Collect(*stream); err != nil || reply.Text != want {
			t.Errorf("it answered %q, %v; want %q", reply.Text, err, want)
		}
	}
	if r.Model() != "ara" || !r.IsModel() || r.Find("bird:kea") != nil || len(r.Statuses()) != 1 {
		t.Errorf("it is called %q, with %+v", r.Model(), r.Statuses())
	}
	unusable := parsed(t, bird)
	unusable.LLM = "fish"
	if err := r.Reload(t.Context(), unusable); err == nil || !strings.Contains(err.Error(), "fish") {
		t.Error(err)
	}
	if r.Model() != "ara" {
		t.Errorf("it is called %q", r.Model())
	}
}

func ptr[T any](value T) *T { return &value }

// A key that the server refused is read anew, since a person may have given it another one: for the next
// request, and at once if it was read for an earlier one. The same key is not tried again.
func TestRefusedKeyIsReadAgain(t *testing.T) {
	right, refused := "right", 0
	guarded := llm.Driver{Name: "guarded", Open: func(c llm.ServerConfig) (llm.Provider, error) {
		return &guard{parrot{c}, func() error {
			if c.Key.Reveal() == right {
				return nil
			}
			refused++
			return &llm.Error{Class: llm.ClassAuth, Provider: "guarded"}
		}}, nil
	}}
	key := "wrong"
	r, err := route.New(t.Context(), route.Config{
		Drivers: llm.Drivers{guarded}, Dialects: dialect.All(), Env: func(name string) string { return map[string]string{"KEY": key}[name] },
		Settings: parsed(t, "* Models\n"+heading("bird", "http://localhost:1/v1", ":MODEL: ara\n:API_KEY: env:KEY\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); llm.ClassOf(err) != llm.ClassAuth {
		t.Fatal(err)
	}
	key = "right"
	if reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); err != nil || reply.Text != "bird ara" {
		t.Errorf("it answered %q, %v", reply.Text, err)
	}
	key, right, refused = "newer", "newer", 0
	if reply, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); err != nil || reply.Text != "bird ara" || refused != 1 {
		t.Errorf("with another key meanwhile it answered %q, %v, after %d refusals", reply.Text, err, refused)
	}
	right, refused = "newest", 0
	if _, err := llm.Collect(r.Stream(t.Context(), llm.Request{})); llm.ClassOf(err) != llm.ClassAuth || refused != 1 {
		t.Errorf("the same key again: %v, after %d refusals", err, refused)
	}
}

// guard is a provider whose server may refuse the key.
type guard struct {
	parrot
	check func() error
}

func (g *guard) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if err := g.check(); err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return g.parrot.Stream(ctx, request)
}

// What a heading has beside the key reaches the server: headers, with their secrets, a query, and fields,
// which count for more than those of the program.
func TestExtrasReachTheServer(t *testing.T) {
	model := llmtest.Start(t, llmtest.Exchange{Reply: "yes", Times: -1})
	settings := parsed(t, "* Models\n"+heading("mine", model.URL(), ":MODEL: test-model\n:HEADERS: x-title: notes\n:HEADERS+: api-key: env:SECRET\n:QUERY: api-version=1\n:BODY: {\"top_p\": 0.9, \"max_tokens\": 5}\n:MAX_TOKENS: 7\n:EFFORT: xhigh\n"))
	env := func(name string) string { return map[string]string{"SECRET": "swordfish"}[name] }
	r, err := route.New(t.Context(), route.Config{Drivers: drivers(), Dialects: dialect.All(), Settings: settings, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Collect(r.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}})); err != nil {
		t.Fatal(err)
	}
	got := model.Requests()[0]
	if got.Header.Get("X-Title") != "notes" || got.Header.Get("Api-Key") != "swordfish" || got.Query != "api-version=1" {
		t.Errorf("it got %+v", got)
	}
	for _, part := range []string{`"top_p":0.9`, `"max_tokens":5`, `"reasoning_effort":"xhigh"`} {
		if !strings.Contains(string(got.Body), part) {
			t.Errorf("there is no %s in %s", part, got.Body)
		}
	}
}
