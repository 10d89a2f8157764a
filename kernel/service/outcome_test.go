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
type told struct{ texts []string }

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

// TestOutcomes: results go into the main conversation, where the task says, or nowhere else than where the person has
// them; failures say why and where.
func TestOutcomes(t *testing.T) {
	lease := journal.Lease{Task: "a", Planned: time.Unix(9, 0), Title: "Report", State: journal.LeaseDone}
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
		o := service.Outcomes{Acts: where, Posts: where, Channels: func(name string) (bool, bool) { return name == "pigeon" || name == "telegram", name == "pigeon" }, Send: where.send}
		if err := o.Deliver(t.Context(), l, journal.Turn{ID: "t", Session: "Report 1"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(where.texts, "|"); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
