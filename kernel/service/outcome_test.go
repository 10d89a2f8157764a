package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// told is where outcomes go.
type told struct {
	texts []string
	known string // the event that was told
	asked []journal.Turn
}

func (o *told) ActsOf(context.Context, ...string) ([]journal.Act, error) {
	return []journal.Act{{Kind: journal.ActNotice, Raw: "late"}, {Kind: journal.ActAnswer, Raw: "All is well."}}, nil
}

func (o *told) Post(_ context.Context, id, session, text string) error {
	o.texts = append(o.texts, fmt.Sprintf("%s in %s: %s", strings.TrimPrefix(id, "task-"), session, text))
	return nil
}

func (o *told) send(_ context.Context, route protocol.Route, _, text string) error {
	o.texts = append(o.texts, fmt.Sprintf("to %s of %s: %s", route.Chat, route.Channel, text))
	return nil
}

func (o *told) TurnOfEvent(_ context.Context, event string) (journal.Turn, error) {
	if event == o.known {
		return journal.Turn{Event: event}, nil
	}
	return journal.Turn{}, protocol.Errorf(protocol.CodeNotFound, "no such event")
}

func (o *told) PastQuestions(context.Context, string, string, int) ([]journal.Turn, error) {
	return o.asked, nil
}

// asked is a question of the person's.
func asked(session string, channel protocol.Channel) journal.Turn {
	return journal.Turn{Session: session, Question: protocol.Event{Route: protocol.LocalRoute(channel)}}
}

// TestOutcomes: results go into the conversation in which the person wrote last in Emacs, where the task says, or nowhere else than where the person has
// them; failures say why and where.
func TestOutcomes(t *testing.T) {
	lease := journal.Lease{Task: "a", Planned: time.Unix(9, 0), Title: "Report", State: journal.LeaseDone}
	here := &told{asked: []journal.Turn{asked("shell", protocol.ChannelCLI), asked("Garden", protocol.ChannelEmacs), asked("older", protocol.ChannelEmacs)}}
	o := service.Outcomes{Acts: here, Posts: here, Known: here, Asked: here, Channels: func(string) (bool, bool) { return false, false }}
	if err := o.Deliver(t.Context(), lease, journal.Turn{ID: "t"}); err != nil || len(here.texts) != 1 || !strings.Contains(here.texts[0], " in Garden: ") {
		t.Errorf("told is %q, %v", here.texts, err)
	}
	for _, c := range []struct {
		change func(*journal.Lease)
		want   string
	}{
		{func(*journal.Lease) {}, " in main: * Report\nAll is well."},
		{func(l *journal.Lease) { l.Route = "Daily" }, " in Daily: * Report\nAll is well."},
		{func(l *journal.Lease) { l.Route = "pigeon loft 7" }, "to loft 7 of pigeon: * Report\nAll is well."},
		{func(l *journal.Lease) { l.Route = "../x" }, " in main: * Report\nAll is well."},
		{func(l *journal.Lease) { l.Route = "telegram 7" }, " in main: * Report\nAll is well."},
		{func(l *journal.Lease) { l.Shared = true }, ""},
		{func(l *journal.Lease) { l.State, l.Note = journal.LeaseFailed, "no model" }, " in main: * Report: failed\nno model. More is in the conversation \"Report 1\"."},
	} {
		l, where := lease, &told{}
		c.change(&l)
		o := service.Outcomes{Acts: where, Posts: where, Known: where, Asked: where, Channels: func(name string) (bool, bool) { return name == "pigeon" || name == "telegram", name == "pigeon" }, Send: where.send}
		if err := o.Deliver(t.Context(), l, journal.Turn{ID: "t", Session: "Report 1"}); err != nil {
			t.Fatal(err)
		}
		where.known = l.Event() + "+" + string(l.State)
		if err := o.Deliver(t.Context(), l, journal.Turn{ID: "t", Session: "Report 1"}); err != nil || len(where.texts) > 1 {
			t.Errorf("told again: %q, %v", where.texts, err)
		}
		if got := strings.Join(where.texts, "|"); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
