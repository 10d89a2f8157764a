package journal_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// nine is a planned time.
var nine = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

func lease(task string, planned, covered time.Time) journal.Lease {
	return journal.Lease{
		Task: task, Planned: planned, Covered: covered, File: "tasks.org", Title: "Report", Text: "Report\nbe short", Session: "Report 1", Skill: "chat",
		Retries: 2, Backoff: time.Minute, State: journal.LeaseTaken, Attempt: 1, At: planned,
	}
}

// A planned time is leased once, also after a restart, also when many ask for it at once, and also if it is among those for
// which another one stood. What a clock in the future covered does not count.
func TestLeasedOnce(t *testing.T) {
	j := fresh(t)
	taken, err := j.Leases.Lease(t.Context(), lease("a", nine, nine.Add(3*time.Hour)))
	must(t, err)
	var tries sync.WaitGroup
	results := make(chan error, 20)
	for range cap(results) {
		tries.Go(func() {
			_, err := j.Leases.Lease(t.Context(), lease("b", nine, nine))
			results <- err
		})
	}
	tries.Wait()
	once := 0
	for range cap(results) {
		if err := <-results; err == nil {
			once++
		} else if protocol.ErrorCode(err) != protocol.CodeConflict {
			t.Error(err)
		}
	}
	if once != 1 {
		t.Errorf("leased %d times", once)
	}
	_, err = j.Leases.Lease(t.Context(), lease("future", nine, nine.AddDate(4, 0, 0)))
	must(t, err)

	j = reopen(t, closed(t, j))
	for _, c := range []struct {
		task    string
		planned time.Time
		want    protocol.Code
	}{
		{"a", nine, protocol.CodeConflict}, {"a", nine.Add(2 * time.Hour), protocol.CodeConflict}, {"a", nine.Add(3 * time.Hour), protocol.CodeConflict},
		{"a", nine.Add(4 * time.Hour), 0}, {"a", nine.Add(-time.Hour), 0}, {"b", nine, protocol.CodeConflict}, {"c", nine, 0}, {"future", nine.AddDate(0, 0, 1), 0}, {"", nine, protocol.CodeInvalidParams},
	} {
		_, err := j.Leases.Lease(t.Context(), lease(c.task, c.planned, c.planned))
		if got := protocol.ErrorCode(err); err == nil && c.want != 0 || err != nil && got != c.want {
			t.Errorf("%s at %v: %v", c.task, c.planned, err)
		}
	}
	open, err := j.Leases.OpenLeases(t.Context())
	if err != nil || len(open) != 7 || open[0].Seq != taken.Seq || open[0].Text != "Report\nbe short" || !open[0].Covered.Equal(nine.Add(3*time.Hour)) || open[0].State != journal.LeaseTaken {
		t.Errorf("%+v, %v", open, err)
	}
}

// What became of a lease is kept, and one that is settled waits no more.
func TestSetLease(t *testing.T) {
	j := fresh(t)
	one, err := j.Leases.Lease(t.Context(), lease("a", nine, nine))
	must(t, err)
	one.State, one.Attempt, one.At, one.Note = journal.LeaseRetry, 2, nine.Add(time.Minute), "no answer"
	must(t, j.Leases.SetLease(t.Context(), one))
	j = reopen(t, closed(t, j))
	open, err := j.Leases.OpenLeases(t.Context())
	if err != nil || len(open) != 1 || open[0].State != journal.LeaseRetry || open[0].Attempt != 2 || open[0].Note != "no answer" || !open[0].At.Equal(nine.Add(time.Minute)) || open[0].Event() != one.Event() {
		t.Errorf("%+v, %v", open, err)
	}
	one.State, one.Settled = journal.LeaseDone, true
	must(t, j.Leases.SetLease(t.Context(), one))
	if open, err := j.Leases.OpenLeases(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("%+v, %v", open, err)
	}
	if of, err := j.Leases.LeasesOf(t.Context(), "a", 5); err != nil || len(of) != 1 || !of[0].State.Final() {
		t.Errorf("%+v, %v", of, err)
	}
	if err := j.Leases.SetLease(t.Context(), journal.Lease{Seq: 99, State: journal.LeaseDone}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
}

// A task is known since it had its rule, across restarts, with its last lease.
func TestArm(t *testing.T) {
	j := fresh(t)
	arm := func(rule string, at time.Time) journal.Armed {
		t.Helper()
		armed, err := j.Leases.Arm(t.Context(), []journal.Armed{{Task: "a", Rule: rule}, {Task: "b", Rule: "@daily"}}, at)
		must(t, err)
		if len(armed) != 2 {
			t.Errorf("%+v", armed)
		}
		return armed["a"]
	}
	if a := arm("@hourly", nine); !a.Since.Equal(nine) || !a.Last.Planned.IsZero() {
		t.Errorf("%+v", a)
	}
	for i := range 3 {
		at := nine.Add(time.Duration(i) * time.Hour)
		_, err := j.Leases.Lease(t.Context(), lease("a", at, at))
		must(t, err)
	}
	j = reopen(t, closed(t, j))
	if a := arm("@hourly", nine.AddDate(0, 0, 1)); !a.Since.Equal(nine) || !a.Last.Planned.Equal(nine.Add(2*time.Hour)) || a.Last.State != journal.LeaseTaken {
		t.Errorf("%+v", a)
	}
	if a := arm("@daily", nine.AddDate(0, 0, 2)); !a.Since.Equal(nine.AddDate(0, 0, 2)) || a.Last.Planned.IsZero() {
		t.Errorf("%+v", a)
	}
}

// BenchmarkArm arms 10,000 tasks that are known.
func BenchmarkArm(b *testing.B) {
	j := fresh(b)
	tasks := make([]journal.Armed, 10_000)
	for i := range tasks {
		tasks[i] = journal.Armed{Task: fmt.Sprint("/home/tasks.org::Task ", i), Rule: "@daily"}
	}
	for b.Loop() {
		if armed, err := j.Leases.Arm(b.Context(), tasks, nine); err != nil || len(armed) != len(tasks) {
			b.Fatal(err)
		}
	}
}

// closed closes a journal and returns its path.
func closed(t *testing.T, j *journal.Journal) string {
	t.Helper()
	must(t, j.Close())
	return j.Path()
}
