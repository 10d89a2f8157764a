package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// HeartbeatTask is the name of the task whose leases are the beats of the heartbeat.
const HeartbeatTask = "heartbeat"

// LeaseState is how far a task has come at a planned time.
type LeaseState string

// The states of a lease. The last three are final.
const (
	LeaseTaken   LeaseState = "leased"  // it is to begin
	LeaseRunning LeaseState = "running" // its event was accepted
	LeaseRetry   LeaseState = "retry"   // it failed and is tried again
	LeaseDone    LeaseState = "done"
	LeaseFailed  LeaseState = "failed"
	LeaseSkipped LeaseState = "skipped" // nothing was begun
)

// Final reports whether nothing more is begun.
func (s LeaseState) Final() bool {
	return s == LeaseDone || s == LeaseFailed || s == LeaseSkipped
}

// Lease is one planned time of a task. It has all that it takes to do the task, because the task may be changed or gone
// when a kernel starts again.
type Lease struct {
	Seq     int64     `json:"-"`
	Task    string    `json:"task"` // what tells the task from all others
	Planned time.Time `json:"planned"`
	// Covered is the last planned time for which this one stands, not before Planned.
	Covered time.Time     `json:"covered"`
	File    string        `json:"file"`
	Title   string        `json:"title"`
	Text    string        `json:"text"` // what to do, with the title
	Session string        `json:"session"`
	Skill   string        `json:"skill,omitempty"`
	Retries int           `json:"retries"`
	Backoff time.Duration `json:"backoff"`
	Silent  bool          `json:"silent,omitempty"`
	Route   string        `json:"route,omitempty"`   // where the result goes; "" for where the owner is
	Shared  bool          `json:"shared,omitempty"`  // the conversation is one that the person named
	Through int64         `json:"through,omitempty"` // the last queued event that a beat was shown

	State   LeaseState `json:"state"`
	Attempt int        `json:"attempt"` // from 1; one that the end of a kernel interrupted is not counted
	At      time.Time  `json:"at"`      // when it is tried again, or when it ended
	Note    string     `json:"note,omitempty"`
	Settled bool       `json:"settled,omitempty"` // nothing is left to be done, also in the file
}

// Event returns the id of the event. It is always the same, so that the event is accepted once.
func (l Lease) Event() string {
	sum := sha256.Sum256([]byte(l.Task))
	return fmt.Sprintf("task-%s-%d", hex.EncodeToString(sum[:8]), l.Planned.Unix())
}

// Armed is a task that is watched.
type Armed struct {
	Task string
	Rule string // when it is due, as it is written
	// Since is when the task was first seen with the rule. Last is its last lease, without what is done; its Planned is
	// zero if there is none.
	Since time.Time
	Last  Lease
}

// LeaseStore holds when tasks are due and were done. A planned time of a task is leased once, whatever the clock does and
// whenever the kernel ends.
type LeaseStore struct{ *database }

const armedQuery = `SELECT a.task, a.rule, a.since, coalesce(l.planned, 0), coalesce(l.covered, 0), coalesce(l.state, ''), coalesce(l.settled, 0) FROM armed AS a
	LEFT JOIN lease AS l ON l.seq = (SELECT seq FROM lease WHERE task = a.task ORDER BY planned DESC LIMIT 1)`

func scanArmed(row scanner) (a Armed, err error) {
	var since, planned, covered int64
	if err := row.Scan(&a.Task, &a.Rule, &since, &planned, &covered, &a.Last.State, &a.Last.Settled); err != nil {
		return a, err
	}
	a.Since = instant(since)
	if planned != 0 {
		a.Last.Task, a.Last.Planned, a.Last.Covered = a.Task, instant(planned), instant(covered)
	}
	return a, nil
}

// Arm records the tasks of which it does not know that they have their rule, as of a moment, and returns all by their
// names. Of the tasks only Task and Rule are read.
func (s *LeaseStore) Arm(ctx context.Context, tasks []Armed, at time.Time) (map[string]Armed, error) {
	known := map[string]Armed{}
	rows, err := collect(ctx, s.readers, scanArmed, armedQuery)
	if err != nil {
		return nil, s.failure(ctx, "read the tasks", err)
	}
	for _, a := range rows {
		known[a.Task] = a
	}
	var fresh []Armed
	all := make(map[string]Armed, len(tasks))
	for _, t := range tasks {
		a, found := known[t.Task]
		if !found || a.Rule != t.Rule {
			a.Task, a.Rule, a.Since = t.Task, t.Rule, instant(micros(at))
			fresh = append(fresh, a)
		}
		all[t.Task] = a
	}
	if len(fresh) == 0 {
		return all, nil
	}
	return all, s.transact(ctx, "note tasks", func(ctx context.Context, tx *writer) error {
		for _, a := range fresh {
			_, err := tx.ExecContext(ctx, "INSERT INTO armed (task, rule, since) VALUES (?, ?, ?) ON CONFLICT (task) DO UPDATE SET rule = excluded.rule, since = excluded.since",
				a.Task, a.Rule, micros(a.Since))
			if err != nil {
				return fmt.Errorf("note the task %s: %w", a.Task, err)
			}
		}
		return nil
	})
}

// leaseOverlap is how long after a planned time a lease may end that stands for it too. One that ends later has its end
// from a clock that was in the future.
const leaseOverlap = 24 * time.Hour

// Lease records that a task begins for a planned time, or that the time is left out. CodeConflict if it did already, by
// itself or among the times for which another one stands.
func (s *LeaseStore) Lease(ctx context.Context, lease Lease) (Lease, error) {
	if lease.Task == "" || lease.Planned.IsZero() || lease.Covered.Before(lease.Planned) || !protocol.ValidSession(lease.Session) {
		return lease, protocol.Errorf(protocol.CodeInvalidParams, "a lease needs a task, a planned time and a conversation, not %q, %v and %q", lease.Task, lease.Planned, lease.Session)
	}
	err := s.transact(ctx, "begin a task", func(ctx context.Context, tx *writer) error {
		planned := micros(lease.Planned)
		var taken bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM lease WHERE task = ?1 AND planned = ?2) OR coalesce((SELECT covered >= ?2 AND covered <= ?3 FROM lease
			WHERE task = ?1 AND planned <= ?2 ORDER BY planned DESC LIMIT 1), 0)`, lease.Task, planned, planned+leaseOverlap.Microseconds()).Scan(&taken)
		switch {
		case err != nil:
			return fmt.Errorf("look for a lease of %s: %w", lease.Task, err)
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the task %s was done for %v", lease.Title, lease.Planned)
		}
		row, err := record(ctx, tx, Entry{Kind: KindLease, Session: lease.Session, ID: lease.Event()}, lease)
		if err != nil {
			return err
		}
		lease.Seq = row.Seq
		_, err = tx.ExecContext(ctx, "INSERT INTO lease (seq, task, planned, covered, state, attempt, at, note, settled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			row.Seq, lease.Task, planned, micros(lease.Covered), string(lease.State), lease.Attempt, micros(lease.At), lease.Note, lease.Settled)
		return err
	})
	return lease, err
}

// SetLease records what has become of a lease: State, Attempt, At, Note and Settled. CodeNotFound if there is none.
func (s *LeaseStore) SetLease(ctx context.Context, lease Lease) error {
	return s.transact(ctx, "note what became of a task", func(ctx context.Context, tx *writer) error {
		result, err := tx.ExecContext(ctx, "UPDATE lease SET state = ?, attempt = ?, at = ?, note = ?, settled = ? WHERE seq = ?",
			string(lease.State), lease.Attempt, micros(lease.At), lease.Note, lease.Settled, lease.Seq)
		if err != nil {
			return fmt.Errorf("change the lease %d: %w", lease.Seq, err)
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			return protocol.Errorf(protocol.CodeNotFound, "there is no lease %d", lease.Seq)
		}
		_, err = record(ctx, tx, Entry{Kind: KindLeaseChange, Session: lease.Session, ID: lease.Event()}, leaseChange{lease.State, lease.Note, lease.Settled})
		return err
	})
}

// leaseChange is the data of a row of the kind lease-change.
type leaseChange struct {
	State   LeaseState `json:"state"`
	Note    string     `json:"note,omitempty"`
	Settled bool       `json:"settled,omitempty"`
}

const (
	leaseQuery     = "SELECT l.seq, l.planned, l.covered, l.state, l.attempt, l.at, l.note, l.settled, j.data FROM lease AS l JOIN journal AS j ON j.seq = l.seq "
	openLeaseQuery = leaseQuery + "WHERE l.settled = 0 AND (l.task = ?) = ? ORDER BY l.seq"
	leasesOfQuery  = leaseQuery + "WHERE l.task = ? ORDER BY l.planned DESC LIMIT ?"
)

func scanLease(row scanner) (l Lease, err error) {
	var seq, planned, covered, at int64
	var state, note string
	var attempt int
	var settled bool
	var data []byte
	if err := row.Scan(&seq, &planned, &covered, &state, &attempt, &at, &note, &settled, &data); err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("read the lease %d: %w", seq, err)
	}
	l.Seq, l.Planned, l.Covered, l.At = seq, instant(planned), instant(covered), instant(at)
	l.State, l.Attempt, l.Note, l.Settled = LeaseState(state), attempt, note, settled
	return l, nil
}

// OpenLeases returns the leases of tasks that are not settled, the oldest first.
func (s *LeaseStore) OpenLeases(ctx context.Context) ([]Lease, error) {
	return s.openLeases(ctx, false)
}

// OpenBeats returns the leases of the heartbeat that are not settled, the oldest first.
func (s *LeaseStore) OpenBeats(ctx context.Context) ([]Lease, error) { return s.openLeases(ctx, true) }

func (s *LeaseStore) openLeases(ctx context.Context, beats bool) ([]Lease, error) {
	open, err := collect(ctx, s.readers, scanLease, openLeaseQuery, HeartbeatTask, beats)
	return open, s.failure(ctx, "read what is at work", err)
}

// LeasesOf returns the last leases of a task, the latest first.
func (s *LeaseStore) LeasesOf(ctx context.Context, task string, limit int) ([]Lease, error) {
	found, err := collect(ctx, s.readers, scanLease, leasesOfQuery, task, limit)
	return found, s.failure(ctx, "read when a task was done", err)
}
