package daemon_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestHeartbeat: a heartbeat asks no model while nothing is to be done. An event that no skill is for waits for it, also across a restart, and
// is shown to the model as data. What the model answers is told where the person wrote last, and the token is told nobody.
func TestHeartbeat(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Match: "hello", Reply: "Hello."},
		llmtest.Exchange{Match: `rain: wet[\s\S]*There is: 1 event`, Reply: "It rains, take an umbrella."},
		llmtest.Exchange{Match: "There is: 1 event", Reply: "**HEARTBEAT_OK**"},
		llmtest.Exchange{Match: "There is: 1 check", Reply: "The disk is full."},
	)
	in.write(t, "skills/every.org", answering("every", ":warmth", "20"))
	k := in.start(t)
	report := func(e *rpctest.Editor, id, sensor, text string) (result protocol.EventResult) {
		t.Helper()
		params := protocol.Object{{Key: "id", Value: id}, {Key: "sensor", Value: protocol.Keyword(sensor)}, {Key: "text", Value: text}, {Key: "channel", Value: protocol.Keyword("cli")}}
		if err := e.Call(within(t), protocol.MethodEvent, params, &result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	beat := func(e *rpctest.Editor) error {
		var result protocol.ScheduleRunResult
		time.Sleep(1100 * time.Millisecond) // one beat a second
		return e.Call(within(t), protocol.MethodScheduleRun, protocol.ScheduleRunParams{Task: "Heartbeat"}, &result)
	}
	listed := func(e *rpctest.Editor) protocol.ScheduledTask {
		t.Helper()
		var result protocol.ScheduleListResult
		if err := e.Call(within(t), protocol.MethodScheduleList, protocol.ScheduleListParams{}, &result); err != nil {
			t.Fatal(err)
		}
		if len(result.Tasks) != 1 {
			return protocol.ScheduledTask{}
		}
		return result.Tasks[0]
	}
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "hello")
	if r := report(e, "r0", "rain", "wet"); r.Waits || listed(e).Title != "" {
		t.Errorf("without a checklist %+v, %+v", r, listed(e))
	}
	in.write(t, "HEARTBEAT.org", "#+TITLE: Heartbeat\n- [X] done\n")
	if err := beat(e); err == nil || !strings.Contains(err.Error(), "nothing to do") {
		t.Errorf("with nothing to do: %v", err)
	}
	if r := report(e, "r1", "rain", "wet"); !r.Waits {
		t.Errorf("%+v", r)
	}
	if r := report(e, "r2", "warmth", "30"); r.Waits || r.Turn == "" {
		t.Errorf("what a skill is for: %+v", r)
	}
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	if err := beat(e); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the alert", func() bool {
		return strings.Contains(e.Text(), "* Heartbeat") && strings.Contains(e.Text(), "It rains, take an umbrella.")
	})
	until(t, "it to be noted", func() bool { return strings.Contains(listed(e).Note, "told: It rains") })
	if l := listed(e); l.Next == "" || l.State != "planned" || !strings.HasSuffix(l.File, "/HEARTBEAT.org") || l.When != "every 30m 08:00-22:00" {
		t.Errorf("%+v", l)
	}
	report(e, "r3", "wind", "still")
	if err := beat(e); err != nil {
		t.Fatal(err)
	}
	until(t, "it to be noted", func() bool { return strings.HasSuffix(listed(e).Note, "asked about 1 event: nothing needs you") })
	in.write(t, "skills/disk.org", "#+TITLE: Disk\n#+begin_src lisp\n(heartbeat-when full (event) (progn event \"the disk is full\"))\n#+end_src\n")
	until(t, "the check", func() bool { return beat(e) == nil })
	see(t, e, "the other alert", func() bool { return strings.Contains(e.Text(), "The disk is full.") })
	if strings.Contains(e.Text(), "HEARTBEAT_OK") {
		t.Errorf("the token is told:\n%s", e.Text())
	}
	turns := 0
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindModelRequest}}) {
		if row.Session == "Heartbeat" {
			turns++
		}
	}
	if turns != 3 {
		t.Errorf("a model was asked %d times", turns)
	}
}

// TestHeartbeatKilled: a kernel that is killed again and again while events are reported, each of which is urgent. Each that was
// acknowledged is shown to a model in a turn that was answered, and each answer is told once.
func TestHeartbeatKilled(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Match: "There is: ", Reply: "The cellar is wet, as far as I can see.", Chunk: 4, Delay: llmtest.Duration(20 * time.Millisecond), Times: -1})
	in.write(t, "HEARTBEAT.org", "- [X] done\n")
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	acknowledged := 0
	for i := range 7 {
		p := in.spawn(t)
		e := in.editor(t, rpctest.Config{}) // in which nobody writes, so that alerts are in the inbox
		params := protocol.Object{
			{Key: "id", Value: fmt.Sprint("flood-", i)}, {Key: "sensor", Value: protocol.Keyword("flood")}, {Key: "text", Value: fmt.Sprint("water ", i)},
			{Key: "channel", Value: protocol.Keyword("cli")}, {Key: "urgent", Value: true},
		}
		var result protocol.EventResult
		if err := e.Call(within(t), protocol.MethodEvent, params, &result); err != nil || !result.Waits {
			t.Fatalf("%+v, %v", result, err)
		}
		acknowledged++
		time.Sleep(time.Duration(200+random.IntN(700)) * time.Millisecond)
		p.kill()
	}
	k := in.start(t)
	open := func() (waiting []journal.QueuedEvent, leases []journal.Lease, told []protocol.InboxItem) {
		j, err := journal.Open(t.Context(), in.paths.Journal)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		var errs [3]error
		waiting, errs[0] = j.Queue.Waiting(t.Context())
		leases, errs[1] = j.Leases.OpenBeats(t.Context())
		told, errs[2] = j.Inbox.Items(t.Context())
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		return waiting, leases, told
	}
	until(t, "all to be told", func() bool {
		waiting, leases, _ := open()
		return len(waiting)+len(leases) == 0
	})
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	_, _, told := open()
	alerts := map[string]bool{}
	for _, item := range told {
		if item.Kind == protocol.InboxAlert {
			alerts[item.ID] = true
		}
	}
	answered, shown := 0, ""
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindTurn}}) {
		if row.Session == "Heartbeat" && strings.Contains(string(row.Data), `"state":"answered"`) {
			answered++
		}
	}
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindModelRequest}}) {
		shown += string(row.Data)
	}
	for i := range acknowledged {
		if !strings.Contains(shown, fmt.Sprint("water ", i)) {
			t.Errorf("the event %d is lost", i)
		}
	}
	if answered == 0 || len(alerts) != answered {
		t.Errorf("%d answers, and %d are told", answered, len(alerts))
	}
}

// A skill that matches everything takes no heartbeat: it would ask a model at each.
func TestHeartbeatIsNotForEverything(t *testing.T) {
	in := newInstance(t)
	in.write(t, "HEARTBEAT.org", "- [X] done\n")
	in.write(t, "skills/always.org", "#+begin_src lisp\n(defskill :always :trigger (lambda (c) (declare (ignore c)) t) :neuro (lambda (c) (declare (ignore c)) \"What now?\"))\n#+end_src\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var result protocol.ScheduleRunResult
	err := e.Call(within(t), protocol.MethodScheduleRun, protocol.ScheduleRunParams{Task: "Heartbeat"}, &result)
	if err == nil || !strings.Contains(err.Error(), "nothing to do") {
		t.Errorf("%+v, %v", result, err)
	}
}
