package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/files"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

//go:embed schedule_create.md
var scheduleCreateManual string

type scheduleCreateArguments struct {
	Title   string `doc:"what is to be done, in one line" required:"true"`
	Text    string `doc:"more of what is to be done: you will see this and the title, and nothing of this conversation"`
	When    string `doc:"when, such as 2026-12-01 08:00 or +1d 08:00; with +1d, ++1w or .+1m behind it for a task that comes again"`
	Cron    string `doc:"instead of :when: a rule of cron with five fields, @daily or @every 90m"`
	Runs    int    `doc:"how often at most"`
	Zone    string `doc:"the time zone, such as Europe/Berlin (default: the user's)" seldom:"true"`
	Skill   string `doc:"the skill that does it" seldom:"true"`
	Session string `doc:"the conversation in which it is done (default: a new one each time)" seldom:"true"`
	Silent  bool   `doc:"the result is told nobody" seldom:"true"`
	NewID   string `doc:"the task's :ID:" internal:"true"`
	Change  string `doc:"the hash of the change" internal:"true"`
}

// properties returns the properties of the new task.
func (a scheduleCreateArguments) properties() []orgquery.Setting {
	all := []orgquery.Setting{{Name: createdBy, Value: agentName}}
	for _, p := range []orgquery.Setting{{Name: "TZ", Value: a.Zone}, {Name: "SKILL", Value: a.Skill}, {Name: "SESSION", Value: a.Session}} {
		if p.Value != "" {
			all = append(all, p)
		}
	}
	if a.Runs != 0 {
		all = append(all, orgquery.Setting{Name: "MAX_RUNS", Value: fmt.Sprint(a.Runs)})
	}
	if a.Silent {
		all = append(all, orgquery.Setting{Name: "SILENT", Value: "t"})
	}
	return all
}

// plan returns the change that the call makes.
func (a scheduleCreateArguments) plan(ctx context.Context, s Schedule, by *Caller) (planning, error) {
	return s.plan(ctx, by, a.Change, func(p *planning) (after string, line int, err error) {
		if (a.When == "") == (a.Cron == "") {
			return "", 0, protocol.ToolErrorf(protocol.ToolArguments, "a task has either :when or :cron")
		}
		entry := orgquery.New{Title: a.Title, Scheduled: a.When, Properties: a.properties(), ID: a.NewID, Body: a.Text, Now: s.Notes.Now()}
		if a.Cron != "" {
			entry.Rule = &a.Cron
		} else if len(p.notes.Starts) > 0 {
			entry.Todo = p.notes.Starts[0]
		}
		if after, err = p.notes.Below(nil, entry); err != nil {
			return "", 0, err
		}
		p.summary, p.did = "Plan the task "+a.Title, "it plans the task "+a.Title
		made := orgquery.Read(orgquery.Source{Path: p.path, Text: after, Sequences: p.notes.Sequences}).Entries
		return after, made[len(made)-1].Line, nil
	})
}

func scheduleCreate(s Schedule) Tool {
	return New(Definition[scheduleCreateArguments]{
		Name: "schedule_create", Manual: scheduleCreateManual, Private: true, Offered: s.there,
		Reach: func(ctx context.Context, by *Caller, a *scheduleCreateArguments) ([]protocol.Reach, error) {
			if err := by.alone(); err != nil {
				return nil, err
			}
			if a.NewID == "" {
				a.NewID = s.Notes.NewID()
			}
			p, err := a.plan(ctx, s, by)
			return s.reach(p, err, &a.Change)
		},
		Preview: func(ctx context.Context, by *Caller, a scheduleCreateArguments) (Preview, error) {
			p, err := a.plan(ctx, s, by)
			return s.preview(p, err)
		},
		Stale: func(ctx context.Context, by *Caller, a scheduleCreateArguments) error {
			_, err := a.plan(ctx, s, by)
			return err
		},
		Change: func(ctx context.Context, by *Caller, a scheduleCreateArguments) (string, files.Change, error) {
			p, err := a.plan(ctx, s, by)
			text, change, err := s.write(ctx, by, p, err)
			return text + " Its :ID: is " + a.NewID + ".", change, err
		},
	})
}
