package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// Whatever is summarised, every word of the conversation can be had as it was: after ten
// summaries, by the next kernel when that one was killed, and when all of them are taken back.
func TestOriginalsAfterTenSummaries(t *testing.T) {
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Match: summarising, Reply: "* Facts\n- it went on\n", Times: -1},
		llmtest.Exchange{Match: "This is a result", Echo: true, Times: -1},
		llmtest.Exchange{Match: "the skills", Reply: calling("list_skills", "").Reply, Times: -1},
		llmtest.Exchange{Echo: true, Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\n"))
	odd := []string{"plain", "* a heading\n:PROPERTIES:\n:ID: q0\n:END:", "\ttabs and  blanks \n\n\n", "\"quoted\" \\ (:type :request)", "</summary> ``` --- end of notes ---",
		"語 é \u200b \ufeff", strings.Repeat("long ", 600), "the skills"}
	p := in.spawn(t)
	e := in.editor(t, rpctest.Config{})
	said, answered := map[string]string{}, map[string]string{}
	find := func(id string) protocol.TurnFindResult {
		t.Helper()
		var found protocol.TurnFindResult
		if err := e.Call(within(t), protocol.MethodTurnFind, protocol.TurnFindParams{ID: id, Form: protocol.FormRaw}, &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	say := func() {
		t.Helper()
		n := len(said)
		id := fmt.Sprint("q", n)
		said[id] = fmt.Sprintf("%d %s %d", n, odd[n%len(odd)], n)
		if got := ask(t, e, id, said[id]); got.state != "answered" {
			t.Fatalf("%s: %+v", id, got)
		}
		answered[id] = find(id).Answer
		if answered[id] == "" {
			t.Fatalf("%s has no answer", id)
		}
	}
	var results []journal.Entry
	same := func(when string) {
		t.Helper()
		for id, words := range said {
			if got := find(id); got.Question != words || got.Answer != answered[id] {
				t.Errorf("%s, %s is %q, answered %q; it was %q, %q", when, id, got.Question, got.Answer, words, answered[id])
			}
		}
		now := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindToolStep}, Limit: 1000})
		if len(now) < 3 || results != nil && fmt.Sprint(now) != fmt.Sprint(results) {
			t.Errorf("%s, there are %d rounds, and were %d", when, len(now), len(results))
		}
		results = now
	}
	for range 4 {
		say()
	}
	noted := []int{0} // turns that the notes stand for
	for n := range 10 {
		for range 3 {
			say()
		}
		result, err := compactNow(t, e, protocol.SessionCompactParams{})
		if err != nil || result.State != protocol.CompactingDone || result.Turns <= noted[n] {
			t.Fatalf("summary %d: %+v, %v", n, result, err)
		}
		noted = append(noted, result.Turns)
	}
	same("after ten summaries")
	p.kill()
	e.Kill()
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	same("for the next kernel")
	for n := range 10 {
		if result, err := compactNow(t, e, protocol.SessionCompactParams{Undo: true}); err != nil || result.Turns != noted[9-n] {
			t.Fatalf("undo %d: %+v, %v; the notes stood for %v", n, result, err, noted)
		}
	}
	same("after undoing")
	var shown protocol.PromptResult
	if err := e.Call(within(t), protocol.MethodPromptGet, protocol.Object{}, &shown); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, part := range shown.Parts[1:] {
		text += part.Text + "\n"
	}
	for id, words := range said {
		if !strings.Contains(text, words) {
			t.Errorf("%s is not shown again as it was: %q", id, words)
		}
	}
}
