package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed schedule_list.md
var scheduleListManual string

type scheduleListArguments struct {
	Task  string `doc:"only the task with this :ID: or title"`
	Times int    `doc:"how many of the next times of each, up to 20 (default: 1)"`
}

const (
	scheduleTimes = 20  // maximum number of times of a task in an answer
	scheduleRows  = 200 // maximum number of tasks in an answer
)

func scheduleList(s Schedule) Tool {
	return New(Definition[scheduleListArguments]{
		Name: "schedule_list", Manual: scheduleListManual, Effect: protocol.ToolReads, Private: true, Offered: s.there,
		Perform: func(ctx context.Context, by *Caller, a scheduleListArguments) (string, error) {
			if err := by.alone(); err != nil {
				return "", err
			}
			if a.Times < 0 || a.Times > scheduleTimes {
				return "", protocol.ToolErrorf(protocol.ToolArguments, "the argument :times is a number from 1 to %d", scheduleTimes)
			}
			result, err := s.List(ctx, protocol.ScheduleListParams{Task: a.Task, Times: a.Times, Text: a.Task != ""})
			if err != nil {
				return "", err
			}
			return s.render(result), nil
		},
	})
}

// render returns what is planned, a line for each task.
func (s Schedule) render(result protocol.ScheduleListResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "It is %s. %s:\n", s.Notes.Now().Format("Monday 2 January 2006 15:04 MST"), text.Count(len(result.Tasks), "task"))
	for i, t := range result.Tasks {
		if i == scheduleRows {
			fmt.Fprintf(&b, "[%d more]\n", len(result.Tasks)-i)
			break
		}
		fmt.Fprintf(&b, "- %s (%s%s), %s, %s:%d", text.Line(t.Title), text.Line(t.When), identified(t.ID), t.State, s.Notes.short(t.File), t.Line)
		if len(t.Times) > 0 {
			b.WriteString(", next " + strings.Join(t.Times, ", "))
		}
		b.WriteString("\n")
		if t.Text != "" {
			b.WriteString("  " + strings.ReplaceAll(text.Clip(t.Text, queryBody), "\n", "\n  ") + "\n")
		}
	}
	for _, fault := range result.Faults {
		b.WriteString("[" + text.Line(fault) + "]\n")
	}
	return b.String()
}
