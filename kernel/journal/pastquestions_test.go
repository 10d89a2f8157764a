package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// What was asked is told the latest first and once, of commands only the command, and
// nothing that came over a channel.
func TestAskedOnceAndLatestFirst(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	count := 0
	ask := func(session string, channel protocol.Channel, text, command, arguments string) {
		count++
		event := message(fmt.Sprint("q", count), session, text)
		event.Route = protocol.RouteOf(protocol.SensorChatMessage, channel, "")
		if command != "" {
			event.Sensor, event.Command, event.Arguments = protocol.SensorUserCommand, command, arguments
		}
		_, _, err := j.Turns.Accept(ctx, event, fmt.Sprint("t", count))
		must(t, err)
	}
	emacs, cli := protocol.ChannelEmacs, protocol.ChannelCLI
	ask("one", emacs, "Which notes mention Samarkand?", "", "")
	ask("two", cli, "several\nlines", "", "")
	ask("one", emacs, "/rewrite shorter\nOn lines 3-9 of notes.txt, 80 characters", "rewrite", "shorter")
	ask("one", protocol.Channel("telegram"), "somebody else's words", "", "")
	ask("two", emacs, "Which notes mention Samarkand?", "", "")
	ask("three", emacs, "long "+strings.Repeat("x", journal.QuestionLength), "", "")
	texts := func(query, except string, limit int) string {
		t.Helper()
		turns, err := j.Search.PastQuestions(ctx, query, except, limit)
		must(t, err)
		var list []string
		for _, turn := range turns {
			list = append(list, turn.Session+":"+journal.QuestionText(turn.Question))
		}
		return strings.Join(list, "|")
	}
	for _, test := range []struct {
		query, except string
		limit         int
		want          string
	}{
		{"", "", 0, "two:Which notes mention Samarkand?|one:/rewrite shorter|two:several\nlines"},
		{"", "two", 0, "one:/rewrite shorter|one:Which notes mention Samarkand?"},
		{"", "", 1, "two:Which notes mention Samarkand?"},
		{"samar*", "two", 0, "one:Which notes mention Samarkand?"},
		{"lines", "", 0, "one:/rewrite shorter|two:several\nlines"},
		{"samarkand nowhere", "", 0, ""},
	} {
		got := texts(test.query, test.except, test.limit)
		if test.query == "lines" { // ranked, in whatever order
			if len(got) != len(test.want) || !strings.Contains(got, "several\nlines") {
				t.Errorf("%+v: %q", test, got)
			}
		} else if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
	_, err := j.Search.PastQuestions(ctx, "?!", "", 0)
	wantCode(t, err, protocol.CodeInvalidParams)
}
