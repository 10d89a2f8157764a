package daemon_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// exchangesOf renders the model's replies in a script. The way changes where the person chooses the other model.
func exchangesOf(t *testing.T, w way, script []string) (all []llmtest.Exchange) {
	t.Helper()
	ids := 0
	for _, line := range script {
		does, rest, _ := strings.Cut(line, " ")
		switch does {
		case "other":
			w = w.other()
		case "<":
			var r reply
			for item := range strings.SplitSeq(rest, " | ") {
				r.read(t, strings.TrimSpace(item), &ids)
			}
			all = append(all, r.exchange(t, w))
		}
	}
	return all
}

// reply is one reply of a model as a script has it.
type reply struct {
	say   string
	calls []llmtest.Call
	raw   string // in a notation that nobody asked for, in every way
	cut   bool   // in the middle of the last call
	hang  bool   // before the first word
}

// read reads an item of a reply: "say TEXT", "raw TEXT", "call NAME JSON", "broken NAME", "again NAME JSON" for a
// call with the id of the one before, "cut", and "hang".
func (r *reply) read(t *testing.T, item string, ids *int) {
	t.Helper()
	does, rest, _ := strings.Cut(item, " ")
	name, arguments, _ := strings.Cut(rest, " ")
	switch does {
	case "say":
		r.say = strings.ReplaceAll(rest, `\n`, "\n")
	case "raw":
		r.raw = strings.ReplaceAll(rest, `\n`, "\n")
	case "cut":
		r.cut = true
	case "hang":
		r.hang = true
	case "call", "again", "broken":
		if does != "again" {
			*ids++
		}
		if does == "broken" {
			arguments = brokenArguments
		}
		r.calls = append(r.calls, llmtest.Call{ID: fmt.Sprintf("toolu_%d", *ids), Name: name, Arguments: arguments})
	default:
		t.Fatalf("a reply has %q", item)
	}
}

// brokenArguments are no JSON object, in a way that nobody can mend.
const brokenArguments = `["name" "garden"]`

// exchange renders the reply.
func (r *reply) exchange(t *testing.T, w way) llmtest.Exchange {
	t.Helper()
	e := llmtest.Exchange{Reply: r.say}
	if r.raw != "" {
		e.Reply = strings.TrimPrefix(r.say+"\n"+r.raw, "\n")
	}
	if r.hang {
		e.Fault.HangAfter = -1
	}
	if r.cut {
		e.Finish = map[string]string{"openai": "length", "anthropic": "max_tokens", "responses": "max_output_tokens"}[w.driver]
	}
	if w.dialect == "native" {
		e.Calls = r.calls
		if r.cut {
			last := &e.Calls[len(e.Calls)-1]
			last.Arguments = last.Arguments[:len(last.Arguments)/2]
		}
		return e
	}
	if w.structured() {
		return r.structured(t, e)
	}
	for _, action := range r.written(t) {
		e.Reply = strings.TrimPrefix(e.Reply+"\n"+action, "\n")
	}
	if r.cut {
		e.Reply = e.Reply[:len(e.Reply)*2/3]
	}
	if w.dialect == "constrained" && len(r.calls) == 0 && r.raw == "" && !r.hang && r.say != "" { // a grammar lets nothing else be written
		e.Reply = fmt.Sprintf(`(:type :response :text %s)`, plist.Print(plist.String(r.say)))
	}
	return e
}

// structured renders the reply as an object within the schema. A reply in another notation, and broken arguments, are
// what a server lets pass that holds the model to nothing.
func (r *reply) structured(t *testing.T, e llmtest.Exchange) llmtest.Exchange {
	t.Helper()
	calls := make([]string, 0, len(r.calls))
	for _, c := range r.calls {
		calls = append(calls, fmt.Sprintf("{%q: %s}", c.Name, c.Arguments))
	}
	said, err := json.Marshal(r.say)
	if err != nil {
		t.Fatal(err)
	}
	if r.raw == "" && !r.hang {
		e.Reply = fmt.Sprintf(`{"text": %s, "calls": [%s]}`, said, strings.Join(calls, ", "))
	}
	if r.cut {
		e.Reply = e.Reply[:len(e.Reply)*2/3]
	}
	return e
}

// reading are the tools of which several can be called together. As text that is a batch.
var reading = []string{"read", "use_skill"}

// written returns the calls as property lists.
func (r *reply) written(t *testing.T) (all []string) {
	t.Helper()
	together := len(r.calls) > 1
	var calls strings.Builder
	for _, c := range r.calls {
		if c.Arguments == brokenArguments {
			return []string{fmt.Sprintf(`(:type :request :target :tool :action :call :tool %q :args ("name" "garden"))`, c.Name)}
		}
		var fields protocol.Arguments
		if err := json.Unmarshal([]byte(c.Arguments), &fields); err != nil {
			t.Fatalf("the arguments %s: %v", c.Arguments, err)
		}
		args, err := plist.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		together = together && slices.Contains(reading, c.Name)
		call := fmt.Sprintf(`:tool %q :args %s`, c.Name, plist.Print(args))
		if len(fields) == 0 {
			call = fmt.Sprintf(`:tool %q`, c.Name)
		}
		calls.WriteString("(" + call + ")")
		all = append(all, "(:type :request :target :tool :action :call "+call+")")
	}
	if together {
		return []string{"(:type :request :target :tool :action :batch :calls (" + calls.String() + "))"}
	}
	return all
}
