package agent

import (
	"strings"
	"time"

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
func (s *steps) showCall(res result, took time.Duration) {
	if res.action.IsZero() {
		return
	}
	if len(res.calls) == 0 {
		s.turn.Called(session.Call{Line: res.action.Line(), Verdict: res.verdict, Result: res.text, Took: took})
		return
	}
	calls := res.action.Calls()
	for i, c := range res.calls {
		call := session.Call{Line: c.Tool, Verdict: "performed", Result: c.Text, Took: c.Took}
		if i < len(calls) {
			call.Line = calls[i].Line()
		}
		if c.Failed {
			call.Verdict = "failed"
		}
		s.turn.Called(call)
	}
}
