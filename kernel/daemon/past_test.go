package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// What was said elsewhere and earlier a model finds when it looks, as far back as the result
// says; not the question that it is looking for, and where others listen nothing of anywhere
// else, whatever it asks for.
func TestPastIsLookedUp(t *testing.T) {
	said := func(match, arguments string) llmtest.Exchange {
		call := calling("search_messages", arguments)
		call.Match = match
		return call
	}
	list := calling("list_conversations", "")
	list.Match = "^list"
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: `:result`, Reply: insertion("* Found"), Times: -1},
		said("^look here", `:query "samovar"`), said("^look as far", `:query "samovar" :since "all"`),
		said("^look into", `:query "samovar since:2001-01-01"`), said("^others", `:query "samovar" :since "all"`),
		said("^peek", `:query "samovar" :session "main" :since "all"`), said("^peer", `:query "samovar" :session "nowhere"`), list, list,
		llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "USER.org", "- Timezone :: Australia/Lord_Howe\n")
	in.start(t)
	send := func(session, id, text string, group bool) string {
		t.Helper()
		e := in.editor(t, rpctest.Config{Session: session})
		defer e.Close()
		var taken protocol.EventResult
		if err := e.Call(within(t), protocol.MethodEvent, protocol.Object{{Key: "id", Value: id}, {Key: "session", Value: session},
			{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: text}, {Key: "group", Value: group}}, &taken); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the answer to "+id, func() bool { return strings.Contains(e.Text(), id) || len(e.Acts()) > 0 })
		if finished, err := e.WaitTurn(within(t), taken.Turn); err != nil || finished.State != protocol.TurnAnswered {
			t.Fatalf("%s ended %+v, %v", id, finished, err)
		}
		return lastTold(model)
	}
	send("main", "q1", "The samovar is in the attic", false)
	send("club", "q2", "A samovar is what they want", true)
	zone, err := time.LoadLocation("Australia/Lord_Howe")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(zone)
	week, today := `:since "`+now.AddDate(0, 0, -7).Format(time.DateOnly), now.Format(time.DateOnly)+" "
	for i, c := range []struct {
		session, text string
		group         bool
		has           []string
		not           string
	}{
		{"work", "look here for the samovar", false, []string{"2 found", week, "7 days", "user in main: The samovar is in", "- " + today}, "look here"},
		{"work", "look as far as the samovar", false, []string{"3 found", `:since "all"`}, "look as far"},
		{"work", "look into the samovar", false, []string{"4 found", `:since "2001-01-01"`}, "look into"},
		{"work", "list all", false, []string{week, "- work (" + today, "- club (", "- main ("}, "samovar?"},
		{"work", "peer", false, []string{`there is no session "nowhere"`, ": failed"}, "samovar is"},
		{"club", "others have a samovar?", true, []string{"1 found", "A samovar is what"}, "attic"},
		{"club", "peek at the samovar", true, []string{"others listen here", ": failed"}, "attic"},
		{"club", "list all", true, []string{"- club ("}, "main"},
	} {
		got := send(c.session, fmt.Sprint("look", i), c.text, c.group)
		for _, want := range c.has {
			if _, text, _ := strings.Cut(got, " result of "); !strings.Contains(text, want) || strings.Contains(text, c.not) {
				t.Errorf("%s: the model is told %q, want %q and not %q", c.text, text, want, c.not)
			}
		}
	}
}
