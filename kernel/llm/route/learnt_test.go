package route_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/route"
)

// choosy is a server elsewhere with two models, of which one refuses functions, and schemas.
type choosy struct{ asked *[]string }

// Models lists the models.
func (c choosy) Models(context.Context) ([]string, error) { return []string{"old", "new"}, nil }

// Stream implements [llm.Provider].
func (c choosy) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		with := "text"
		if len(request.Tools) > 0 {
			with = "functions"
		}
		if request.Schema != nil {
			with = "a schema"
		}
		*c.asked = append(*c.asked, request.Model+" with "+with)
		if with == "a schema" && request.Model != "new" {
			yield(llm.Delta{}, &llm.Error{Class: llm.ClassBadRequest, Status: 400, Message: "The compiled grammar is too large"})
			return
		}
		if with == "functions" && request.Model != "new" {
			yield(llm.Delta{}, &llm.Error{Class: llm.ClassBadRequest, Status: 400, Message: "old does not support tools"})
			return
		}
		yield(llm.Delta{Text: "yes", Provider: "far", Finish: llm.FinishStop}, nil)
	}
}

// What a model refuses is learnt for that model alone, is kept over a start of the kernel, and is told. It
// is forgotten when the heading changes, with another version, after a month, and with a broken file.
func TestLearntDialect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learnt.json")
	var asked []string
	far := llm.Driver{Name: "far", Open: func(llm.ServerConfig) (llm.Provider, error) { return choosy{&asked}, nil }}
	start := func(rows, version string) *route.Router {
		r, err := route.New(t.Context(), route.Config{Drivers: llm.Drivers{far}, Dialects: dialect.All(), Env: none, Learnt: file, Version: version,
			Settings: parsed(t, "* Models\n"+heading("mine", "https://models.example/v1", ":MODEL: old\n"+rows))})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ask := func(r *route.Router, model, want string) {
		t.Helper()
		asked = nil
		request := llm.Request{Model: model, Messages: []llm.Message{{Role: llm.RoleUser, Text: "look"}}, Tools: []llm.Tool{{Name: "read"}}}
		functions := len(r.Dialect().Render(request).Tools) > 0
		if _, err := llm.Collect(r.Stream(t.Context(), request)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(asked, ", "); got != want {
			t.Errorf("%q was asked as %q, not %q", model, got, want)
		}
		if first := strings.HasSuffix(strings.Split(want, ", ")[0], "functions"); functions != first {
			t.Errorf("%q: the dialect renders functions: %t", model, functions)
		}
	}
	r := start("", "1")
	ask(r, "", " with functions,  with text")
	ask(r, "", " with text")
	ask(r, "mine:new", "new with functions")
	r = start("", "1")
	ask(r, "mine", " with text")
	ask(r, "mine:new", "new with functions")
	told := map[string]string{}
	for _, m := range r.List(t.Context(), "").Models {
		told[m.Name] = m.Dialect + ", " + m.Why
	}
	if got := told["mine"]; !strings.HasPrefix(got, "plist, it refused functions on "+time.Now().UTC().Format(time.DateOnly)+": ") || !strings.HasSuffix(got, "old does not support tools") {
		t.Errorf("mine: %s", got)
	}
	if got := told["mine:new"]; !strings.HasPrefix(got, "native, servers elsewhere") {
		t.Errorf("mine:new: %s", got)
	}

	const anew = " with functions,  with text"
	ask(start(":EFFORT: low\n", "1"), "", anew)
	ask(start(":EFFORT: low\n", "2"), "", anew)
	ask(start(":EFFORT: low\n", "2"), "", " with text")
	for _, change := range []func(string) string{
		func(text string) string {
			today := time.Now().UTC()
			return strings.ReplaceAll(text, today.Format("2006-01-02T"), today.AddDate(0, 0, -31).Format("2006-01-02T"))
		},
		func(text string) string { return text[:len(text)/2] },
		func(string) string { return "null" },
	} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(change(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		ask(start(":EFFORT: low\n", "2"), "", anew)
	}
}

// A model for which a schema is too much is asked as if no dialect were set, at once and from then on.
func TestSchemaThatIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learnt.json")
	var asked []string
	far := llm.Driver{Name: "far", TakesSchema: true, Open: func(llm.ServerConfig) (llm.Provider, error) { return choosy{&asked}, nil }}
	for start, want := range []string{" with a schema,  with functions,  with text,  with text", " with text,  with text"} {
		asked = nil
		r, err := route.New(t.Context(), route.Config{Drivers: llm.Drivers{far}, Dialects: dialect.All(), Env: none, Learnt: file, Version: "1",
			Settings: parsed(t, "* Models\n"+heading("mine", "https://models.example/v1", ":MODEL: old\n:DIALECT: constrained\n"))})
		if err != nil {
			t.Fatal(err)
		}
		request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "look"}}, Tools: []llm.Tool{{Name: "read"}}}
		for range 2 {
			if reply, err := llm.Collect(r.Stream(t.Context(), request)); err != nil || reply.Text != "yes" {
				t.Fatal(reply, err)
			}
		}
		if got := strings.Join(asked, ", "); got != want {
			t.Errorf("start %d: it was asked %q, not %q", start, got, want)
		}
		model := r.List(t.Context(), "").Models[0]
		if !strings.HasPrefix(model.Why, "it refused a schema on ") || !strings.HasSuffix(model.Why, "The compiled grammar is too large") || model.Dialect != "plist" {
			t.Errorf("start %d: it is listed with %q, because %q", start, model.Dialect, model.Why)
		}
	}
}
