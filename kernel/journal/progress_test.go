package journal_test

import (
	"encoding/json"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// How far a turn had come is what was done since it was asked, or asked again, and the kernel's
// end does not count: neither does what was answered, stopped or failed.
func TestProgress(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	state := func(state protocol.TurnState) {
		t.Helper()
		if _, err := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	retry := func() {
		t.Helper()
		if _, err := j.Turns.Retry(ctx, turn.ID, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	row := func(kind journal.Kind, id, data string) int64 {
		t.Helper()
		e, err := j.Records.Append(ctx, journal.Entry{Kind: kind, Session: "main", Turn: turn.ID, ID: id, Data: json.RawMessage(data)})
		must(t, err)
		return e.Seq
	}
	progress := func() journal.Progress {
		t.Helper()
		p, err := j.Turns.Progress(ctx, turn.ID)
		must(t, err)
		return p
	}
	state(protocol.TurnRunning)
	row(journal.KindToolStep, "a0", `{"action":"(zero)"}`)
	state(protocol.TurnFailed)
	retry()
	if p := progress(); p.Answer != "" || len(p.Steps) > 0 || p.First() != 0 {
		t.Errorf("after a failure: %+v", p)
	}

	state(protocol.TurnRunning)
	first := row(journal.KindModelRequest, "", `{"For":"x","System":"long"}`)
	must(t, j.Acts.PutAct(ctx, journal.Act{ID: "act1", Session: "main", Turn: turn.ID, Kind: journal.ActAction, Action: "(one)"}))
	if p := progress(); p.Acting != "(one)" {
		t.Errorf("while something is done: %+v", p)
	}
	must(t, j.Asks.PutAsk(ctx, questioning("f1", turn)))
	if _, err := j.Asks.Decide(ctx, "f1", protocol.AskOutcome{Decision: protocol.Declined, Client: "cli"}); err != nil {
		t.Fatal(err)
	}
	if p := progress(); p.Acting != "" || len(p.UnshownAnswers) != 1 || p.UnshownAnswers[0] != "f1" {
		t.Errorf("after an answer: %+v", p)
	}
	row(journal.KindToolStep, "a1", `{"said":"meanwhile"}`)
	row(journal.KindToolStep, "a1", `{"action":"(one)","verdict":"denied","took":5}`)
	row(journal.KindModelRequest, "", `{}`)
	must(t, j.Asks.PutAsk(ctx, questioning("f2", turn)))
	state(protocol.TurnInterrupted)
	retry()
	p := progress()
	if p.Answer != "a1" || len(p.UnshownAnswers) > 0 || p.Acting != "" || p.First() != first || p.Requests[0].For != "x" || p.Requests[1].Steps != 2 {
		t.Errorf("after the kernel's end: %+v", p)
	}
	if len(p.Steps) != 2 || p.Steps[0].Question != "" || p.Steps[1].Question != "f1" || p.Steps[1].Verdict != "denied" || p.Steps[1].Took != 5 {
		t.Errorf("its rounds are %+v", p.Steps)
	}

	state(protocol.TurnRunning)
	must(t, j.Acts.PutAct(ctx, journal.Act{ID: "a1", Session: "main", Turn: turn.ID, Kind: journal.ActAnswer, Raw: "the beg…", Final: true}))
	state(protocol.TurnInterrupted)
	retry()
	if p := progress(); p.Answer != "" || len(p.Steps) != 2 {
		t.Errorf("after a part of the answer: %+v", p)
	}
	state(protocol.TurnCancelled)
	retry()
	if p := progress(); len(p.Steps)+len(p.Requests) > 0 {
		t.Errorf("after it was stopped: %+v", p)
	}
}
