//go:build race

package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// An event that is no message is for every skill that matches, each in a turn of its own with an
// answer of its own; sent again it is answered once. A message is for the best skill alone, and an
// event that no skill is for is acknowledged and shown to nobody.
func TestBroadcast(t *testing.T) {
	in := newInstance(t)
	in.write(t, "skills/one.org", answering("one", ":heartbeat", "70"))
	in.write(t, "skills/two.org", answering("two", ":heartbeat", "20"))
	in.write(t, "skills/other.org", answering("other", ":chat-message", "90"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	send := func(id, sensor string) (result protocol.EventResult) {
		t.Helper()
		params := protocol.Object{{Key: "id", Value: id}, {Key: "sensor", Value: protocol.Keyword(sensor)}, {Key: "text", Value: "tick"}}
		if err := e.Call(within(t), protocol.MethodEvent, params, &result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := send("beat", "heartbeat")
	see(t, e, "both answers", func() bool {
		return strings.Contains(e.Text(), "one saw it") && strings.Contains(e.Text(), "two saw it")
	})
	if strings.Index(e.Text(), "one saw it") > strings.Index(e.Text(), "two saw it") || strings.Contains(e.Text(), "other saw it") {
		t.Errorf("the buffer is\n%s", e.Text())
	}
	if again := send("beat", "heartbeat"); again.Event != "beat" || again.Turn != first.Turn {
		t.Errorf("it was taken as %+v and then as %+v", first, again)
	}
	if got := ask(t, e, "q1", "hello"); got.state != "answered" {
		t.Errorf("the message ended %+v", got)
	}
	if none := send("nobody", "weather"); none.Event != "nobody" || none.Turn != "" {
		t.Errorf("an event for nobody is taken as %+v", none)
	}
	if n := len(in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}})); n != 3 {
		t.Errorf("%d events are kept", n)
	}
	if n := strings.Count(e.Text(), "saw it"); n != 3 {
		t.Errorf("%d answers are shown:\n%s", n, e.Text())
	}
}
