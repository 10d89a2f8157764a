package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Consent is a task outside of tasks.org that the person armed. It is a row of the table armed whose rule is JSON, which
// no rule of a task is.
type Consent struct {
	Task  string `json:"-"` // what tells the task from all others
	Title string `json:"title"`
	File  string `json:"file"`
	// Hash is that of what the person saw. A task with another one is not done.
	Hash string `json:"hash"`
	// Tag and Sequences are how the file was read: the tag of its tasks, and the TODO keywords.
	Tag       string   `json:"tag"`
	Sequences []string `json:"sequences,omitempty"`
	// Withdrawn says why the task is not armed any more, "" if it is.
	Withdrawn string `json:"withdrawn,omitempty"`

	Since time.Time `json:"-"` // when it was armed
	Last  Lease     `json:"-"` // as in [Armed]
}

// Consents returns what the person armed, also what is not armed any more because it was changed.
func (s *LeaseStore) Consents(ctx context.Context) (map[string]Consent, error) {
	rows, err := collect(ctx, s.readers, scanArmed, armedQuery+" WHERE a.rule LIKE '{%'")
	if err != nil {
		return nil, s.failure(ctx, "read which tasks are armed", err)
	}
	all := make(map[string]Consent, len(rows))
	for _, a := range rows {
		c := Consent{}
		if err := json.Unmarshal([]byte(a.Rule), &c); err != nil {
			return nil, fmt.Errorf("read what was armed as %s: %w", a.Task, err)
		}
		c.Task, c.Since, c.Last = a.Task, a.Since, a.Last
		all[a.Task] = c
	}
	return all, nil
}

// SetConsent records that the person armed a task at the moment Since, or that the consent is withdrawn.
func (s *LeaseStore) SetConsent(ctx context.Context, c Consent) error {
	rule, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("arm a task: %w", err)
	}
	return s.transact(ctx, "arm a task", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO armed (task, rule, since) VALUES (?, ?, ?) ON CONFLICT (task) DO UPDATE SET rule = excluded.rule, since = excluded.since",
			c.Task, string(rule), micros(c.Since))
		if err != nil {
			return fmt.Errorf("arm the task %s: %w", c.Title, err)
		}
		_, err = record(ctx, tx, Entry{Kind: KindConsent, ID: c.Task}, c)
		return err
	})
}

// Forget records that a task is not armed, and why.
func (s *LeaseStore) Forget(ctx context.Context, c Consent) error {
	return s.transact(ctx, "disarm a task", func(ctx context.Context, tx *writer) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM armed WHERE task = ? AND rule LIKE '{%'", c.Task); err != nil {
			return fmt.Errorf("disarm the task %s: %w", c.Title, err)
		}
		_, err := record(ctx, tx, Entry{Kind: KindConsent, ID: c.Task}, c)
		return err
	})
}

// TaskTags returns the tags that were ever recorded with [LeaseStore.AddTaskTag].
func (s *LeaseStore) TaskTags(ctx context.Context) ([]string, error) {
	tags, err := collect(ctx, s.readers, textColumn, "SELECT DISTINCT id FROM journal WHERE kind = ?", string(KindTaskTag))
	return tags, s.failure(ctx, "read the tags of tasks", err)
}

// AddTaskTag records a tag by which headings outside of tasks.org are tasks.
func (s *LeaseStore) AddTaskTag(ctx context.Context, tag string) error {
	return s.transact(ctx, "record the tag of tasks", func(ctx context.Context, tx *writer) error {
		_, err := record(ctx, tx, Entry{Kind: KindTaskTag, ID: tag}, struct{}{})
		return err
	})
}
