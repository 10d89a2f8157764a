package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/drivers"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/modeltest"
)

// kernel runs a whole kernel, as the program does.
func kernel(ctx context.Context, env func(string) string, ready func(string)) error {
	return daemon.Run(ctx, daemon.Config{Env: env, Version: "test", Drivers: drivers.All(), Ready: ready})
}

// tested returns the settings of a model on the server.
func tested(t *testing.T, server *llmtest.Server, properties string) config.Alone {
	t.Helper()
	text := "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: " + server.URL() + "\n:MODEL: mine-1\n" + properties + ":END:\n"
	choice := config.Choice{Model: config.Parse("config.org", text).Models[0], Source: "config.org:2"}
	alone, err := config.ModelAlone(t.Context(), text, choice, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return alone
}

// exchanges returns a script of replies as a model writes it in a dialect.
func exchanges(t *testing.T, dialect string, script []modeltest.Reply) (all []llmtest.Exchange) {
	t.Helper()
	for i, r := range script {
		e := llmtest.Exchange{Reply: r.Text}
		var written []string
		for k, c := range r.Calls {
			if dialect == "native" {
				e.Calls = append(e.Calls, llmtest.Call{ID: fmt.Sprintf("call_%d_%d", i, k), Name: c[0], Arguments: c[1]})
			}
			written = append(written, fmt.Sprintf("(:tool %q :args %s)", c[0], arguments(t, c[1])))
		}
		switch {
		case dialect == "native" || len(written) == 0:
		case len(written) == 1:
			e.Reply = "(:type :request :target :tool :action :call " + strings.TrimPrefix(written[0], "(")
		default:
			e.Reply = "(:type :request :target :tool :action :batch :calls (" + strings.Join(written, " ") + "))"
		}
		all = append(all, e)
	}
	return all
}

// arguments returns JSON as a property list.
func arguments(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return plistOf(value)
}

func plistOf(value any) string {
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, ":"+key+" "+plistOf(v[key]))
		}
	case []any:
		for _, one := range v {
			parts = append(parts, plistOf(one))
		}
	case string:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	default:
		return fmt.Sprint(v)
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// A model that does everything well passes every task in every dialect, and only in one it is held to a grammar. Of
// each task the first of its good scripts is played.
func TestGoodModel(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	tasks, err := modeltest.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range []string{"plist", "constrained", "native"} {
		t.Run(dialect, func(t *testing.T) {
			for _, task := range tasks { // each with a server of its own, which looks through a short script
				server := llmtest.Start(t, exchanges(t, dialect, task.Good()[0])...)
				results, err := modeltest.Runner{
					Kernel: kernel, Model: tested(t, server, ":GRAMMAR: grammar\n"), Environment: func(string) string { return "" },
					Tasks: []modeltest.Task{task}, Dialects: []string{dialect},
				}.Run(t.Context())
				if err != nil || len(results) != 1 {
					t.Fatalf("%s: %d results, and %v", task.Name, len(results), err)
				}
				if r := results[0]; !r.Passed || r.Input == 0 || r.Output == 0 || r.Seconds == 0 {
					t.Errorf("%s: %+v", task.Name, r)
				}
				held := strings.Contains(string(server.Requests()[0].Body), `"grammar":`)
				if held != (dialect == "constrained") {
					t.Errorf("%s: a grammar is sent: %v", task.Name, held)
				}
			}
		})
	}
}

// TestTasksUnderSchema: where the protocol takes a JSON schema, the dialect constrained is tested under it.
func TestTasksUnderSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	tasks, err := modeltest.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, task := range tasks { // one of each kind
		if done[task.Kind] {
			continue
		}
		done[task.Kind] = true
		var script []llmtest.Exchange
		for _, r := range task.Good()[0] {
			var calls []string
			for _, c := range r.Calls {
				calls = append(calls, fmt.Sprintf("{%q: %s}", c[0], c[1]))
			}
			said, err := json.Marshal(r.Text)
			if err != nil {
				t.Fatal(err)
			}
			script = append(script, llmtest.Exchange{Reply: fmt.Sprintf(`{"text": %s, "calls": [%s]}`, said, strings.Join(calls, ", "))})
		}
		server := llmtest.Start(t, script...)
		alone := tested(t, server, ":DRIVER: anthropic\n")
		alone.TakesSchema = true
		results, err := modeltest.Runner{
			Kernel: kernel, Model: alone, Environment: func(string) string { return "" }, Tasks: []modeltest.Task{task}, Dialects: []string{"constrained"},
		}.Run(t.Context())
		if err != nil || len(results) != 1 || !results[0].Passed || !strings.Contains(string(server.Requests()[0].Body), `"format":{`) {
			t.Errorf("%s: %+v, %v", task.Name, results, err)
		}
	}
}

// some returns tasks of the program by their names.
func some(t *testing.T, names ...string) (tasks []modeltest.Task) {
	t.Helper()
	all, err := modeltest.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range all {
		if slices.Contains(names, task.Name) {
			tasks = append(tasks, task)
		}
	}
	if len(tasks) != len(names) {
		t.Fatalf("of %s there are %d", names, len(tasks))
	}
	return tasks
}

// ran has tasks done in one dialect by a model with this script.
func ran(t *testing.T, dialect string, limit time.Duration, tasks []modeltest.Task, script ...llmtest.Exchange) []modeltest.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	server := llmtest.Start(t, script...)
	results, err := modeltest.Runner{
		Kernel: kernel, Model: tested(t, server, ""), Environment: func(string) string { return "" }, Tasks: tasks, Dialects: []string{dialect}, Limit: limit,
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// A model whose replies are the wrong ones of a task fails it, in a whole kernel too.
func TestWrongModel(t *testing.T) {
	for _, task := range some(t, "call-read", "data-tool", "edit-word", "stop-once", "talk-changed", "org-bold") {
		r := ran(t, "plist", 0, []modeltest.Task{task}, exchanges(t, "plist", task.Wrong()[0])...)
		if len(r) != 1 || r[0].Passed || r[0].Fault || len(r[0].Why) == 0 {
			t.Errorf("%s: %+v", task.Name, r)
		}
	}
}

// A model that is offered functions and never calls one does what needs none, and fails the rest for that reason.
func TestModelWithoutTools(t *testing.T) {
	tasks := some(t, "answer-capital", "call-weather", "two-files")
	results := ran(t, "native", 0, tasks, llmtest.Exchange{Reply: "* An answer\nParis has rain, and Ann is the older one.", Times: -1})
	for i, passed := range []bool{true, false, false} {
		if results[i].Passed != passed || !passed && !strings.Contains(strings.Join(results[i].Why, " "), "it did not call") {
			t.Errorf("%+v", results[i])
		}
	}
}

// A model that writes calls as it was trained to, in place of the way that it is asked in, is understood as in any
// conversation.
func TestForeignCalls(t *testing.T) {
	tasks := some(t, "call-weather")
	for _, written := range []string{
		"<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>",
		"<function=weather><parameter=city>Oslo</parameter></function>",
		"[weather(city='Oslo')]",
	} {
		for _, dialect := range []string{"plist", "native"} {
			results := ran(t, dialect, 0, tasks, llmtest.Exchange{Reply: written}, llmtest.Exchange{Reply: "* Oslo\nRain."})
			if !results[0].Passed {
				t.Errorf("%s, in %s: %+v", written, dialect, results[0])
			}
		}
	}
}

// A model that hangs loses its task when the time is up, and the others are done. It is not said to have failed.
func TestHangingModel(t *testing.T) {
	tasks := some(t, "answer-capital", "answer-sum")
	results := ran(t, "plist", 3*time.Second, tasks, llmtest.Exchange{Reply: "Par", Fault: llmtest.Fault{HangAfter: 1}}, llmtest.Exchange{Reply: "* It is\n42."})
	if len(results) != 2 || !results[0].Fault || !strings.Contains(results[0].Why[0], "longer than 3s") || !results[1].Passed {
		t.Errorf("%+v", results)
	}
}

// A server that refuses every request is asked three times in a dialect, and no more. Its words are told.
func TestRefusingServer(t *testing.T) {
	tasks := some(t, "answer-capital", "answer-sum", "call-weather", "stop-once", "org-bold")
	results := ran(t, "native", 0, tasks, llmtest.Exchange{Status: 400, Body: `{"error": {"message": "this model takes no tools"}}`, Times: -1})
	if len(results) != 3 {
		t.Fatalf("%d tasks were tried", len(results))
	}
	for _, r := range results {
		if !r.Fault || r.Passed || !strings.Contains(r.Why[0], "takes no tools") {
			t.Errorf("%+v", r)
		}
	}
	if got := modeltest.Recommend(modeltest.Tallies(results, []string{"native"}, 5)); got.Dialect != "" {
		t.Errorf("%+v is recommended", got)
	}
}

// A person who stops a test gets what was done. The task that ran is not counted.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	ctx, stop := context.WithCancel(t.Context())
	server := llmtest.Start(t, llmtest.Exchange{Reply: "* It is\nParis."}, llmtest.Exchange{Reply: "x", Fault: llmtest.Fault{HangAfter: -1}, Times: -1})
	var once sync.Once
	results, err := modeltest.Runner{
		Kernel: kernel, Model: tested(t, server, ""), Environment: func(string) string { return "" },
		Tasks: some(t, "answer-capital", "answer-sum"), Dialects: []string{"plist", "native"},
		Done: func(modeltest.Result) { once.Do(func() { time.AfterFunc(500*time.Millisecond, stop) }) },
	}.Run(ctx)
	if err != nil || len(results) != 1 || !results[0].Passed {
		t.Errorf("%+v, %v", results, err)
	}
}

// Nothing of a test stays behind, and what it takes is counted: of each reply of a conversation, with its price.
func TestMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	t.Setenv("TMPDIR", t.TempDir())
	usage := json.RawMessage(`{"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}`)
	tasks := some(t, "call-weather")
	call := exchanges(t, "plist", tasks[0].Good()[0])
	for i := range call {
		call[i].Usage = usage
	}
	server := llmtest.Start(t, call...)
	results, err := modeltest.Runner{
		Kernel: kernel, Model: tested(t, server, ":PRICE: 2 10\n"), Environment: func(string) string { return "" }, Tasks: tasks, Dialects: []string{"plist"},
	}.Run(t.Context())
	if err != nil || len(results) != 1 {
		t.Fatal(results, err)
	}
	if r := results[0]; r.Input != 2000 || r.Output != 20 || r.Cost == nil || math.Abs(*r.Cost-0.0042) > 1e-9 || len(r.Replies) != 2 {
		t.Errorf("%+v", r)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
