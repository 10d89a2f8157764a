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
	inbox []string
	known string // the event that was told
	asked []journal.Turn
	// silent is set if the turn has no answer.
	silent bool
}

func (o *told) ActsOf(context.Context, ...string) ([]journal.Act, error) {
	if o.silent {
		return nil, nil
	}
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

func (o *told) Keep(_ context.Context, item protocol.InboxItem) error {
	o.inbox = append(o.inbox, fmt.Sprintf("%s: %s: %s", item.Kind, item.Title, item.Text))
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

// nowhere is no place for results.
func nowhere() string { return "" }

// TestOutcomes: results go into the conversation in which the person wrote last in Emacs, where the task says, or nowhere else than where the person has
// them; failures say why and where, and are kept in the inbox.
func TestOutcomes(t *testing.T) {
	lease := journal.Lease{Task: "a", Planned: time.Unix(9, 0), Title: "Report", State: journal.LeaseDone}
	here := &told{asked: []journal.Turn{asked("shell", protocol.ChannelCLI), asked("Garden", protocol.ChannelEmacs), asked("older", protocol.ChannelEmacs)}}
	o := service.Outcomes{Acts: here, Posts: here, Known: here, Asked: here, Inbox: here, Default: nowhere, Channels: func(string) (bool, bool) { return false, false }}
	if err := o.Deliver(t.Context(), lease, journal.Turn{ID: "t"}); err != nil || len(here.texts) != 1 || !strings.Contains(here.texts[0], " in Garden: ") {
		t.Errorf("told is %q, %v", here.texts, err)
	}
	if len(here.inbox) > 0 {
		t.Errorf("what was told is in the inbox: %q", here.inbox)
	}
	garden := []journal.Turn{asked("Garden", protocol.ChannelEmacs)}
	for _, c := range []struct {
		change      func(*journal.Lease)
		asked       []journal.Turn
		elsewhere   string // the default
		want, inbox string
	}{
		{func(*journal.Lease) {}, nil, "", "", "result: Report: All is well."},
		{func(*journal.Lease) {}, nil, "Daily", " in Daily: * Report\nAll is well.", ""},
		{func(*journal.Lease) {}, nil, "pigeon loft 7", "to loft 7 of pigeon: * Report\nAll is well.", ""},
		{func(*journal.Lease) {}, nil, "telegram 7", "", "result: Report: All is well."},
		{func(*journal.Lease) {}, garden, "Daily", " in Garden: * Report\nAll is well.", ""},
		{func(l *journal.Lease) { l.Route = "Daily" }, nil, "", " in Daily: * Report\nAll is well.", ""},
		{func(l *journal.Lease) { l.Route = "pigeon loft 7" }, garden, "", "to loft 7 of pigeon: * Report\nAll is well.", ""},
		{func(l *journal.Lease) { l.Route = "../x" }, garden, "", " in Garden: * Report\nAll is well.", ""},
		{func(l *journal.Lease) { l.Route = "telegram 7" }, garden, "", " in Garden: * Report\nAll is well.", ""},
		{func(l *journal.Lease) { l.Shared = true }, garden, "", "", ""},
		{func(l *journal.Lease) { l.Silent = true }, garden, "", "", ""},
		{func(l *journal.Lease) { l.State, l.Note = journal.LeaseFailed, "no model" }, garden, "", " in Garden: * Report: failed\nno model. More is in the conversation \"Report 1\".", "failure: Report: failed: no model."},
		{func(l *journal.Lease) { l.State, l.Note = journal.LeaseFailed, "no model" }, nil, "", "", "failure: Report: failed: no model."},
		{func(l *journal.Lease) { l.State, l.Note, l.Silent = journal.LeaseFailed, "no model", true }, garden, "", "", "failure: Report: failed: no model."},
		{func(l *journal.Lease) { l.State, l.Note, l.Shared = journal.LeaseFailed, "no model", true }, garden, "", "", "failure: Report: failed: no model."},
	} {
		l, where := lease, &told{asked: c.asked}
		c.change(&l)
		o := service.Outcomes{
			Acts: where, Posts: where, Known: where, Asked: where, Channels: func(name string) (bool, bool) { return name == "pigeon" || name == "telegram", name == "pigeon" }, Send: where.send,
			Inbox: where, Default: func() string { return c.elsewhere },
		}
		if err := o.Deliver(t.Context(), l, journal.Turn{ID: "t", Session: "Report 1"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(where.texts, "|"); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, not %q", got, c.want)
		}
		if len(where.inbox) > 0 != (c.inbox != "") || c.inbox != "" && where.inbox[0] != c.inbox {
			t.Errorf("the inbox has %q, not %q", where.inbox, c.inbox)
		}
		where.known = l.Event() + "+" + string(l.State)
		if err := o.Deliver(t.Context(), l, journal.Turn{ID: "t", Session: "Report 1"}); err != nil || len(where.texts) > 1 {
			t.Errorf("told again: %q, %v", where.texts, err)
		}
	}
}

// TestReacted: what a skill says in a reaction is in the inbox, and so is why it failed.
func TestReacted(t *testing.T) {
	for state, want := range map[protocol.TurnState]string{
		protocol.TurnAnswered: "result: Reaction of tidy: All is well.", protocol.TurnFailed: "failure: Reaction of tidy: failed: no model", protocol.TurnCancelled: "",
	} {
		where := &told{}
		o := service.Outcomes{Acts: where, Inbox: where}
		turn := journal.Turn{ID: "t", Event: "e+tidy", Session: "reactions-of-tidy", Skill: "tidy@3f9c", State: state, Notice: "no model"}
		if err := o.Reacted(t.Context(), turn); err != nil || strings.Join(where.inbox, "|") != want {
			t.Errorf("%s: %q, %v", state, where.inbox, err)
		}
	}
	silent := &told{silent: true}
	if err := (service.Outcomes{Acts: silent, Inbox: silent}).Reacted(t.Context(), journal.Turn{State: protocol.TurnAnswered}); err != nil || len(silent.inbox) > 0 {
		t.Errorf("a skill that said nothing: %q, %v", silent.inbox, err)
	}
}
