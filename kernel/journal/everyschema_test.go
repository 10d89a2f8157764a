package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// TestEverySchema: a journal of each schema that there was becomes one of today, with all that was in it, and
// a copy of it stays. The files of testdata/older have the scripts of the time in which the schema was
// the newest.
func TestEverySchema(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "older", "*.sql"))
	must(t, err)
	seen := map[int]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		number, _, _ := strings.Cut(name, "-")
		version, err := strconv.Atoi(number)
		must(t, err)
		seen[version] = true
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(file)
			must(t, err)
			h := newStateHome(t)
			makeDatabase(t, h.path, string(script)+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", journal.ApplicationID, version))
			j, told := h.start(t)
			if told != "" {
				t.Errorf("told %q", told)
			}
			if copies := h.kept(t, fmt.Sprint("schema-", version)); len(copies) != 1 {
				t.Errorf("the copies are %v", copies)
			}
			checkWhole(t, j)
			checkStory(t, j, version)
			accepted(t, j, "new", "main", "goes on")
		})
	}
	for version := 1; version < journal.SchemaVersion; version++ {
		if !seen[version] {
			t.Errorf("there is no journal of schema %d in testdata/older", version)
		}
	}
}

// checkStory checks what each file of testdata/older tells, as far as its schema could.
func checkStory(t *testing.T, j *journal.Journal, version int) {
	t.Helper()
	ctx, session := t.Context(), "port"
	if version < 2 {
		session = "main"
	}
	turn, err := j.Turns.Turn(ctx, "t1")
	must(t, err)
	if turn.Session != session || turn.State != protocol.TurnAnswered || turn.Question.Text != "where is the harbour" || turn.Answer != "a1" && version >= 4 || turn.Model != "big" {
		t.Errorf("the first turn is %+v", turn)
	}
	if other, err := j.Turns.Turn(ctx, "t2"); err != nil || other.State != protocol.TurnWaiting {
		t.Errorf("the second turn is %+v, %v", other, err)
	}
	if act, err := j.Acts.Act(ctx, "a1"); err != nil || act.Plain != "by the lighthouse" || !act.Saved {
		t.Errorf("the answer is %+v, %v", act, err)
	}
	if n, err := j.Asks.Waiting(ctx); err != nil || n != 1 {
		t.Errorf("%d wait, %v", n, err)
	}
	if ask, err := j.Asks.Ask(ctx, "p0"); err != nil || ask.Decision != protocol.AllowAlways || ask.Summary != "Do it" {
		t.Errorf("the decided approval is %+v, %v", ask, err)
	}
	if total, err := j.Usage.Sum(ctx, protocol.UsageTotal, session, time.Time{}, 0); err != nil || len(total) != 1 || total[0].Input != 10 || total[0].Output != 5 || total[0].Cost == nil {
		t.Errorf("the usage is %+v, %v", total, err)
	}
	for word, want := range map[string]string{"harbour": "q1", "lighthouse": "a1", "ferry": "q2"} {
		if got := found(t, j, word, ""); got != want {
			t.Errorf("%s finds %q", word, got)
		}
	}
	open, err := j.Leases.OpenLeases(ctx)
	if must(t, err); version >= 20 && (len(open) != 1 || open[0].Title != "Report" || open[0].State != journal.LeaseRunning) {
		t.Errorf("at work is %+v", open)
	}
	unread, err := j.Inbox.Unread(ctx)
	if must(t, err); version >= 21 && unread != 1 {
		t.Errorf("%d of the inbox are unread", unread)
	}
	sessions, err := j.Sessions.List(ctx)
	if err != nil || !slices.ContainsFunc(sessions, func(s protocol.SessionInfo) bool { return s.Name == session && s.Turns == 2 }) {
		t.Errorf("the sessions are %+v, %v", sessions, err)
	}
}
