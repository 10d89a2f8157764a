package journal_test

import (
	"slices"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// What is handed on is kept whole, follows its conversation when that is renamed, and is reported
// once.
func TestSubagentIsReportedOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "look after flights")
	spawn := journal.Subagent{ID: "s1", Session: "main", Turn: turn.ID, Event: "q1", Conversation: "main.flights", Label: "flights", Task: "Find flights.", Skill: "chat",
		Tools: []string{"read"}, Outside: "what a command wrote", Wait: true, Settings: protocol.TurnSettings{{Name: "MODEL", Value: "m"}}}
	must(t, j.Subagents.PutSubagent(ctx, spawn))
	again := spawn
	again.ID = "s2"
	wantCode(t, j.Subagents.PutSubagent(ctx, again), protocol.CodeConflict) // the conversation is taken
	again.Conversation, again.Turn = "main.other", "none"
	wantCode(t, j.Subagents.PutSubagent(ctx, again), protocol.CodeNotFound)
	_, err := j.Subagents.Subagent(ctx, "nothing")
	wantCode(t, err, protocol.CodeNotFound)

	_, ok, err := j.Subagents.TurnOfSubagent(ctx, "s1")
	if must(t, err); ok {
		t.Error("it has a turn before its event was accepted")
	}
	task := message("s1", "main.flights", spawn.Task)
	task.Sensor = protocol.SensorSubagent
	_, _, err = j.Turns.Accept(ctx, task, "ts1")
	must(t, err)
	_, err = j.Sessions.Rename(ctx, "main", "travel")
	must(t, err)
	got, err := j.Subagents.Subagent(ctx, "s1")
	must(t, err)
	if got.Session != "travel" || got.Task != spawn.Task || got.Outside != spawn.Outside || !slices.Equal(got.Tools, spawn.Tools) || got.Requested.IsZero() || got.Settings.Value("MODEL") != "m" {
		t.Errorf("it is kept as %+v", got)
	}
	sessions, err := j.Sessions.List(ctx)
	must(t, err)
	for _, s := range sessions {
		if child := s.Name == "main.flights"; s.Subagent != child || child && s.Parent != "travel" {
			t.Errorf("the list has %+v", s)
		}
	}
	stopped, err := j.Subagents.CancelSubagent(ctx, "s1")
	if must(t, err); stopped {
		t.Error("what has a turn is stopped by that")
	}
	for _, want := range [][]string{{"s1"}, nil} {
		fresh, err := j.Subagents.Report(ctx, "r1", "s1")
		if must(t, err); !slices.Equal(fresh, want) {
			t.Errorf("reported %v, want %v", fresh, want)
		}
	}
	unsent, err := j.Subagents.UnsentReports(ctx)
	if must(t, err); len(unsent) != 1 || unsent[0].Reported != "r1" {
		t.Errorf("unsent are %+v", unsent)
	}
	accepted(t, j, "r1", "travel", "The subagent flights is done.")
	unsent, err = j.Subagents.UnsentReports(ctx)
	if must(t, err); len(unsent) != 0 {
		t.Errorf("unsent are %+v behind the report", unsent)
	}
}
