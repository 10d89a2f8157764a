package tool_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

const tasksFile = "#+TODO: NEXT | DONE\n* NEXT Mine\nSCHEDULED: <2026-03-03 Tue 09:00 +1d>\nof my own\n* NEXT Secret :noagent:\nSCHEDULED: <2026-03-03 Tue 09:00>\n"

// planner returns the tools for tasks, with the text of their file, "" for none, and the file.
func planner(t *testing.T, emacs tool.Emacs, text string) (r *tool.Registry, file string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(home, "tasks.org")
	if text != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	notes := tool.Notes{Files: tool.Files{Home: home}, Emacs: emacs, NewID: func() string { return "new-1" }, Now: func() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, berlin) }}
	r, err = tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }, Schedule: tool.Schedule{
		Notes: notes, File: file,
		List: func(_ context.Context, p protocol.ScheduleListParams) (protocol.ScheduleListResult, error) {
			return protocol.ScheduleListResult{Tasks: []protocol.ScheduledTask{{Title: "Mine", File: file, Line: 2, When: "<2026-03-03 Tue 09:00 +1d>", State: "planned", Times: []string{"Tuesday 3 March 2026 09:00 CET"}}}}, nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r.For(&tool.Caller{Conversation: tool.Conversation{Session: "main", Alone: true}}), file
}

// object returns arguments from keys and values.
func object(parts ...any) (o protocol.Object) {
	for i := 0; i+1 < len(parts); i += 2 {
		o = append(o, protocol.Field{Key: parts[i].(string), Value: parts[i+1]})
	}
	return o
}

// perform judges, previews and performs a call. What is shown is what is written.
func perform(t *testing.T, r *tool.Registry, file, name string, arguments protocol.Object) (shown tool.Preview, text string) {
	t.Helper()
	resolved, reach, err := r.Reach(t.Context(), name, arguments)
	if err != nil || len(reach) == 0 || reach[len(reach)-1].Kind != protocol.ReachWrites || reach[len(reach)-1].Path != file {
		t.Fatalf("%s %v reaches %v, %v", name, arguments, reach, err)
	}
	if shown, _, err = r.Preview(t.Context(), name, resolved); err != nil {
		t.Fatal(err)
	}
	if text, _, err = r.Call(t.Context(), name, resolved); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != shown.After {
		t.Errorf("the file is\n%s\nand shown was\n%s", after, shown.After)
	}
	return shown, text
}

// A task is proposed with its next times in words, and written as it was shown, also into a home without any.
func TestScheduleCreate(t *testing.T) {
	for _, before := range []string{"", tasksFile} {
		r, file := planner(t, nil, before)
		shown, text := perform(t, r, file, "schedule_create", object("title", "Report", "text", "of the *day*", "when", "2026-03-03 9:00 ++1w", "runs", int64(3)))
		keyword := "TODO"
		if before != "" {
			keyword = "NEXT"
		}
		want := before + "* " + keyword + " Report\nSCHEDULED: <2026-03-03 Tue 09:00 ++1w>\n:PROPERTIES:\n:ID:       new-1\n:CREATED_BY: agent\n:MAX_RUNS: 3\n:END:\nof the *day*\n"
		if !strings.HasPrefix(shown.After, want) {
			t.Errorf("the file becomes\n%s", shown.After)
		}
		times := "on Tuesday 3 March 2026 09:00, Tuesday 10 March 2026 09:00, Tuesday 17 March 2026 09:00, Tuesday 24 March 2026 09:00, Tuesday 31 March 2026 09:00 and so on (CET)"
		if !strings.Contains(strings.Join(shown.Effects, "\n"), "it is done "+times) || !strings.Contains(text, times) || !strings.Contains(text, "new-1") {
			t.Errorf("shown is %q, and told %q", shown.Effects, text)
		}
	}
	r, file := planner(t, nil, tasksFile)
	shown, _ := perform(t, r, file, "schedule_create", object("title", "Water", "cron", "0 9 * * 1-5", "zone", "America/New_York"))
	if !strings.Contains(shown.After, ":CRON:     0 9 * * 1-5\n") || !strings.Contains(strings.Join(shown.Effects, "\n"), "on Monday 2 March 2026 09:00, Tuesday 3 March 2026 09:00") || !strings.Contains(strings.Join(shown.Effects, "\n"), "(EST)") {
		t.Errorf("shown is %q for\n%s", shown.Effects, shown.After)
	}
}

// What cannot be done is refused before anybody is asked, and the refusal says what to do.
func TestScheduleRefused(t *testing.T) {
	for _, c := range []struct {
		tool      string
		arguments protocol.Object
		want      string
	}{
		{"schedule_create", object("title", "T"), "either :when or :cron"},
		{"schedule_create", object("title", "T", "when", "+1d", "cron", "@daily"), "either :when or :cron"},
		{"schedule_create", object("title", "T", "cron", "61 * * * *"), `"61 * * * *" is no rule`},
		{"schedule_create", object("title", "T", "when", "soon"), `"soon" is no date`},
		{"schedule_create", object("title", "T", "when", "2026-03-01 09:00"), "is over: the time is to be after 2026-03-02 12:00 CET"},
		{"schedule_create", object("title", "T", "when", "+1d 09:00", "zone", "Atlantis"), `"Atlantis" is no time zone`},
		{"schedule_create", object("title", "T\n* U", "when", "+1d 09:00"), "one line"},
		{"schedule_create", object("title", "T", "when", "+1d 09:00", "session", "a/b"), "names no conversation"},
		{"schedule_update", object("task", "Mine", "cron", "every day"), "is no rule"},
		{"schedule_update", object("task", "Other", "enabled", "no"), `there is no task "Other"`},
		{"schedule_update", object("task", "Secret", "enabled", "no"), `there is no task "Secret"`},
		{"schedule_update", object("task", "Mine"), "so already"},
		{"schedule_delete", object("task", "Secret"), `there is no task "Secret"`},
	} {
		r, file := planner(t, nil, tasksFile)
		_, _, err := r.Reach(t.Context(), c.tool, c.arguments)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, not %s", c.tool, c.arguments, err, c.want)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != tasksFile {
			t.Errorf("%s %v: the file is\n%s", c.tool, c.arguments, after)
		}
	}
}

// A task is changed and removed as it was shown, and the person is told that it is theirs. What was judged for another text of
// the file is not done.
func TestScheduleUpdate(t *testing.T) {
	r, file := planner(t, nil, tasksFile)
	shown, _ := perform(t, r, file, "schedule_update", object("task", "Mine", "when", "2026-03-04 10:00 +1w", "text", "of ours", "enabled", "no"))
	want := "#+TODO: NEXT | DONE\n* NEXT Mine\nSCHEDULED: <2026-03-04 Wed 10:00 +1w>\n:PROPERTIES:\n:ENABLED:  nil\n:END:\nof ours\n* NEXT Secret :noagent:\nSCHEDULED: <2026-03-03 Tue 09:00>\n"
	if shown.After != want || !strings.Contains(shown.Effects[0], "a task of your own") || !strings.Contains(strings.Join(shown.Effects, "\n"), "not done until it is enabled") {
		t.Errorf("shown is %q for\n%s", shown.Effects, shown.After)
	}
	shown, _ = perform(t, r, file, "schedule_update", object("task", "Mine", "enabled", "yes", "cron", "@daily"))
	if !strings.Contains(shown.After, "* NEXT Mine\n:PROPERTIES:\n:CRON:     @daily\n:END:\nof ours\n") || !strings.Contains(strings.Join(shown.Effects, "\n"), "on Tuesday 3 March 2026 00:00,") {
		t.Errorf("shown is %q for\n%s", shown.Effects, shown.After)
	}
	judged, _, err := r.Reach(t.Context(), "schedule_delete", object("task", "Mine"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(tasksFile, "of my own", "changed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Call(t.Context(), "schedule_delete", judged); err == nil || !strings.Contains(err.Error(), "not what it was when this was judged") {
		t.Errorf("removed is another text: %v", err)
	}
	shown, _ = perform(t, r, file, "schedule_delete", object("task", "Mine"))
	if shown.After != "#+TODO: NEXT | DONE\n* NEXT Secret :noagent:\nSCHEDULED: <2026-03-03 Tue 09:00>\n" {
		t.Errorf("left is\n%s", shown.After)
	}
}

// A file with changes in Emacs that are not saved is changed there.
func TestScheduleInEmacs(t *testing.T) {
	emacs := &desk{}
	r, file := planner(t, emacs, tasksFile)
	emacs.notes.Unsaved = []protocol.EmacsText{{File: file, Text: "* NEXT Unsaved\n" + tasksFile}}
	resolved, _, err := r.Reach(t.Context(), "schedule_delete", object("task", "Mine"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Call(t.Context(), "schedule_delete", resolved); err != nil || len(emacs.edited) != 2 || !strings.Contains(emacs.edited[0], "of my own") {
		t.Errorf("edited is %q, %v", emacs.edited, err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != tasksFile {
		t.Errorf("the file is\n%s", after)
	}
}

// Tasks are listed for a person who is alone with the agent.
func TestScheduleList(t *testing.T) {
	r, _ := planner(t, nil, tasksFile)
	listed, _, err := r.Call(t.Context(), "schedule_list", nil)
	if err != nil || !strings.Contains(listed, "- Mine (<2026-03-03 Tue 09:00 +1d>), planned, tasks.org:2, next Tuesday 3 March 2026 09:00 CET\n") {
		t.Errorf("listed is %q, %v", listed, err)
	}
	others := r.For(&tool.Caller{Conversation: tool.Conversation{Session: "group"}})
	if _, _, err := others.Call(t.Context(), "schedule_list", nil); err == nil {
		t.Error("tasks are listed for others")
	}
}
