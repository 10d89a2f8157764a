package route_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/route"
)

// engine is a server that says in which field it takes a grammar. It is shared by the copies of a driver.
type engine struct {
	field   string
	err     error         // in place of an answer
	slow    time.Duration // before an answer
	refuses string        // the error for a request with a grammar, "" for none

	told  int
	asked []llm.Request
}

// GrammarField says it.
func (e *engine) GrammarField(ctx context.Context, _ string) (string, error) {
	e.told++
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(e.slow):
		return e.field, e.err
	}
}

// Window says how much the model can be shown.
func (e *engine) Window(context.Context, string) (int, error) { return 4096, e.err }

// Stream implements [llm.Provider].
func (e *engine) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		e.asked = append(e.asked, request)
		if e.refuses != "" && request.GrammarField != "" {
			yield(llm.Delta{}, &llm.Error{Class: llm.ClassBadRequest, Status: 400, Message: e.refuses})
			return
		}
		yield(llm.Delta{Text: "yes", Provider: "engine", Finish: llm.FinishStop}, nil)
	}
}

// TestServerThatTakesGrammars: a server for which no dialect is set is held to a grammar if it says that it takes
// one, wherever it is. It is asked once, and waited for a second. One that refuses the grammar is asked without.
func TestServerThatTakesGrammars(t *testing.T) {
	for name, c := range map[string]struct {
		engine      engine
		address     string
		rows        string
		takes       bool
		told        int
		want, after string // what the first request was, and the second
	}{
		"here":                {engine{field: "grammar"}, "http://localhost:1/v1", "", true, 1, "text, grammar in grammar", "text, grammar in grammar"},
		"elsewhere":           {engine{field: "structured_outputs"}, "https://models.example/v1", "", true, 1, "text, grammar in structured_outputs", "text, grammar in structured_outputs"},
		"takes none, here":    {engine{}, "http://localhost:1/v1", "", false, 1, "text, grammar in ", "text, grammar in "},
		"takes none":          {engine{}, "https://models.example/v1", "", false, 1, "functions, grammar in ", "functions, grammar in "},
		"says nothing":        {engine{field: "grammar", err: errors.New("out of order")}, "https://models.example/v1", "", false, 1, "functions, grammar in ", "functions, grammar in "},
		"is slow":             {engine{field: "grammar", slow: time.Hour}, "https://models.example/v1", "", false, 1, "functions, grammar in ", "functions, grammar in "},
		"another dialect":     {engine{field: "grammar"}, "http://localhost:1/v1", ":DIALECT: plist\n", false, 0, "text, grammar in ", "text, grammar in "},
		"functions are set":   {engine{field: "grammar"}, "http://localhost:1/v1", ":DIALECT: native\n", false, 0, "functions, grammar in ", "functions, grammar in "},
		"refuses it":          {engine{field: "grammar", refuses: "failed to parse grammar"}, "http://localhost:1/v1", "", true, 1, "text, grammar in grammar", "text, grammar in "},
		"set by the person":   {engine{field: "other"}, "http://localhost:1/v1", ":GRAMMAR: guided_grammar\n", true, 0, "text, grammar in guided_grammar", "text, grammar in guided_grammar"},
		"refuses another way": {engine{field: "grammar", refuses: "no such model"}, "http://localhost:1/v1", "", true, 1, "text, grammar in grammar", "text, grammar in grammar"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &c.engine
				driver := llm.Driver{Name: "engine", Open: func(llm.ServerConfig) (llm.Provider, error) { return e, nil }}
				settings := parsed(t, "* Models\n"+heading("mine", c.address, ":MODEL: m\n"+c.rows))
				r, err := route.New(t.Context(), route.Config{Drivers: llm.Drivers{driver}, Dialects: dialect.All(), Settings: settings, Env: none})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				for range 3 {
					if got := r.TakesGrammar(t.Context(), ""); got != c.takes {
						t.Errorf("it takes one: %v", got)
					}
				}
				if took := time.Since(begun); took > time.Second || e.told != c.told {
					t.Errorf("it was asked %d times, which took %s", e.told, took)
				}
				request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "look"}}, Tools: []llm.Tool{{Name: "read"}}, Grammar: `root ::= "x"`}
				for range 2 {
					if _, err := llm.Collect(r.Stream(t.Context(), request)); err != nil && c.engine.refuses != "no such model" {
						t.Fatal(err)
					}
				}
				var got []string
				for _, a := range e.asked {
					how := "text"
					if len(a.Tools) > 0 {
						how = "functions"
					}
					got = append(got, fmt.Sprintf("%s, grammar in %s", how, a.GrammarField))
				}
				want := []string{c.want, c.after}
				if e.refuses == "failed to parse grammar" {
					want = append(want, c.after)
				}
				if !slices.Equal(got, want) {
					t.Errorf("it was asked for %q, not %q", got, want)
				}
			})
		})
	}
}

// A server that is loading its model, or is not there yet, is asked again what it is, because its first answer
// would count for minutes.
func TestServerThatIsNotThereYet(t *testing.T) {
	for _, class := range []llm.Class{llm.ClassLoading, llm.ClassUnreachable} {
		e := &engine{field: "grammar", err: &llm.Error{Class: class}}
		driver := llm.Driver{Name: "engine", Open: func(llm.ServerConfig) (llm.Provider, error) { return e, nil }}
		r, err := route.New(t.Context(), route.Config{Drivers: llm.Drivers{driver}, Dialects: dialect.All(), Env: none,
			Settings: parsed(t, "* Models\n"+heading("mine", "http://localhost:1/v1", ":MODEL: m\n"))})
		if err != nil {
			t.Fatal(err)
		}
		if r.TakesGrammar(t.Context(), "") || r.Window(t.Context(), "", true).Tokens != 0 {
			t.Errorf("%s: it has said something", class)
		}
		e.err = nil
		if w := r.Window(t.Context(), "", true); w.Tokens != 4096 || !r.TakesGrammar(t.Context(), "") {
			t.Errorf("%s: the window is %+v", class, w)
		}
	}
}
