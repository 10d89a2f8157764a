package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed schedule_delete.md
var scheduleDeleteManual string

type scheduleDeleteArguments struct {
	Task   string `doc:"the task's :ID: or title, from schedule_list" required:"true"`
	Change string `doc:"the hash of the change" internal:"true"`
}

// plan returns the change that the call makes.
func (a scheduleDeleteArguments) plan(ctx context.Context, s Schedule, by *Caller) (planning, error) {
	return s.plan(ctx, by, a.Change, func(p *planning) (after string, line int, err error) {
		e, err := p.find(a.Task)
		if err != nil {
			return "", 0, err
		}
		p.summary, p.did = "Remove the task "+e.Title, fmt.Sprintf("it removes %s, %s, with all that is below it", e.Title, whose(e))
		return p.before[:e.Start] + p.before[e.End:], 0, nil
	})
}

func scheduleDelete(s Schedule) Tool {
	return New(Definition[scheduleDeleteArguments]{
		Name: "schedule_delete", Manual: scheduleDeleteManual, Private: true, Offered: s.there,
		Reach: func(ctx context.Context, by *Caller, a *scheduleDeleteArguments) ([]protocol.Reach, error) {
			if err := by.alone(); err != nil {
				return nil, err
			}
			p, err := a.plan(ctx, s, by)
			return s.reach(p, err, &a.Change)
		},
		Preview: func(ctx context.Context, by *Caller, a scheduleDeleteArguments) (Preview, error) {
			p, err := a.plan(ctx, s, by)
			return s.preview(p, err)
		},
		Stale: func(ctx context.Context, by *Caller, a scheduleDeleteArguments) error {
			_, err := a.plan(ctx, s, by)
			return err
		},
		Change: func(ctx context.Context, by *Caller, a scheduleDeleteArguments) (string, files.Change, error) {
			p, err := a.plan(ctx, s, by)
			return s.write(ctx, by, p, err)
		},
	})
}
