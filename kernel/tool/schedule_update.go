package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

//go:embed schedule_update.md
var scheduleUpdateManual string

type scheduleUpdateArguments struct {
	Task    string  `doc:"the task's :ID: or title, from schedule_list" required:"true"`
	Title   *string `doc:"its new title"`
	Text    *string `doc:"the new text below the title"`
	When    *string `doc:"when, as for schedule_create"`
	Cron    *string `doc:"a rule of cron, instead of :when"`
	Enabled string  `doc:"whether it is done at all" words:"yes no"`
	Runs    int     `doc:"how often at most"`
	Zone    string  `doc:"the time zone" seldom:"true"`
	Skill   string  `doc:"the skill that does it" seldom:"true"`
	Change  string  `doc:"the hash of the change" internal:"true"`
}

// properties returns the properties that change.
func (a scheduleUpdateArguments) properties(e orgquery.Entry) (all []orgquery.Setting) {
	for _, p := range []orgquery.Setting{{Name: "TZ", Value: a.Zone}, {Name: "SKILL", Value: a.Skill}} {
		if p.Value != "" {
			all = append(all, p)
		}
	}
	if a.Runs != 0 {
		all = append(all, orgquery.Setting{Name: "MAX_RUNS", Value: fmt.Sprint(a.Runs)})
	}
	_, set := e.Property("ENABLED")
	switch {
	case a.Enabled == "no":
		all = append(all, orgquery.Setting{Name: "ENABLED", Value: "nil"})
	case a.Enabled == "yes" && set:
		all = append(all, orgquery.Setting{Name: "ENABLED"})
	}
	return all
}

// plan returns the change that the call makes.
func (a scheduleUpdateArguments) plan(ctx context.Context, s Schedule, by *Caller) (planning, error) {
	return s.plan(ctx, by, a.Change, func(p *planning) (after string, line int, err error) {
		e, err := p.find(a.Task)
		if err != nil {
			return "", 0, err
		}
		c := orgquery.Change{Title: a.Title, Properties: a.properties(e), Body: a.Text, Now: s.Notes.Now()}
		none := ""
		switch {
		case a.When != nil && a.Cron != nil:
			return "", 0, protocol.ToolErrorf(protocol.ToolArguments, "a task has either :when or :cron")
		case a.When != nil:
			c.Scheduled, c.Rule = a.When, &none
		case a.Cron != nil:
			c.Scheduled, c.Deadline, c.Rule = &none, &none, a.Cron
		}
		after, did, err := p.notes.Apply(e, c)
		p.summary, p.did = "Change the task "+e.Title, fmt.Sprintf("%s, %s: %s", e.Title, whose(e), strings.Join(did, "; "))
		return after, e.Line, err
	})
}

func scheduleUpdate(s Schedule) Tool {
	return New(Definition[scheduleUpdateArguments]{
		Name: "schedule_update", Manual: scheduleUpdateManual, Private: true, Offered: s.there,
		Reach: func(ctx context.Context, by *Caller, a *scheduleUpdateArguments) ([]protocol.Reach, error) {
			if err := by.alone(); err != nil {
				return nil, err
			}
			p, err := a.plan(ctx, s, by)
			return s.reach(p, err, &a.Change)
		},
		Preview: func(ctx context.Context, by *Caller, a scheduleUpdateArguments) (Preview, error) {
			p, err := a.plan(ctx, s, by)
			return s.preview(p, err)
		},
		Stale: func(ctx context.Context, by *Caller, a scheduleUpdateArguments) error {
			_, err := a.plan(ctx, s, by)
			return err
		},
		Change: func(ctx context.Context, by *Caller, a scheduleUpdateArguments) (string, files.Change, error) {
			p, err := a.plan(ctx, s, by)
			return s.write(ctx, by, p, err)
		},
	})
}
