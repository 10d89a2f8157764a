package agent

import (
	"strings"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/session"
)

// thoughts passes on what a model thinks, a batch at a time. It comes apart from
// the reply, or in it between tags.
type thoughts struct {
	run   *run
	apart strings.Builder // what came apart
	shown int             // bytes of it that were passed on
	tags  int             // bytes of what stands between tags that were passed on
}

func (t *thoughts) write(text string) { t.apart.WriteString(text) }

// flush passes on what is new; between is what came between tags so far.
func (t *thoughts) flush(between string) {
	t.pass(t.apart.String()[t.shown:])
	t.shown = t.apart.Len()
	if len(between) > t.tags {
		t.pass(between[t.tags:])
		t.tags = len(between)
	}
}

// pass passes on a piece. Those of several replies stand apart.
func (t *thoughts) pass(text string) {
	if text == "" {
		return
	}
	if t.run.thought && t.shown+t.tags == 0 {
		text = "\n\n" + text
	}
	t.run.thought = true
	t.run.turn.Thought(text)
}

// finish passes on the rest, when the whole reply is there.
func (t *thoughts) finish(reply string) {
	between := ""
	if strings.Contains(reply, "<") {
		between = plist.Recover(reply, plist.RecoverOptions{}).Thought
	}
	t.flush(between)
}

// showCall shows in the answer what the model had done, or wanted to.
func (r *run) showCall(res result, took time.Duration) {
	action, err := readAction(res.action)
	if err != nil {
		return
	}
	if len(res.calls) == 0 {
		r.turn.Called(session.Call{Line: callLine(action), Verdict: res.verdict, Result: res.text, Took: took})
		return
	}
	lines := callsOf(action)
	for i, c := range res.calls {
		call := session.Call{Line: c.Tool, Verdict: "performed", Result: c.Text, Took: c.Took}
		if i < len(lines) {
			call.Line = callLine(lines[i])
		}
		if c.Failed {
			call.Verdict = "failed"
		}
		r.turn.Called(call)
	}
}

// callLine is a call of a tool as "NAME ARGUMENTS", and any other action whole.
func callLine(action sexp.List) string {
	fields := fieldsOf(action)
	tool, ok := plist.Get(fields, "tool")
	name, isText := tool.(plist.String)
	if !ok || !isText {
		return plist.Print(action)
	}
	arguments, ok := plist.Get(fields, "args")
	if !ok {
		return string(name)
	}
	return string(name) + " " + plist.Print(arguments)
}

// callsOf are the calls of a batch.
func callsOf(action sexp.List) []sexp.List {
	fields := fieldsOf(action)
	var calls []sexp.List
	listed, _ := plist.Get(fields, "calls")
	items, _ := listed.(sexp.List)
	for _, item := range items {
		if call, ok := item.(sexp.List); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// fieldsOf is where the fields of an action stand: in its payload, or flat.
func fieldsOf(action sexp.List) sexp.List {
	if payload, ok := plist.Get(action, "payload"); ok {
		if list, ok := payload.(sexp.List); ok {
			return list
		}
	}
	return action
}
