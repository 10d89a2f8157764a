package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/memory"
	"org-agent/kernel/text"
)

// Memory is the dependency of the tools for memory. Without both fields they are not offered.
type Memory struct {
	Store *memory.Store
	Index *memory.Index
	// Await waits for a moment while the index is made, and reports whether it is whole. nil: it is.
	Await func(context.Context) bool
}

// there reports whether records can be stored.
func (m Memory) there() bool { return m.Store != nil && m.Index != nil }

// savedPerTurn is how many records one turn may store. It limits the effect of a message that makes
// a model store everything.
const savedPerTurn = 10

// own returns the agent's own record with an id, its file, and the turn of the call. A record that
// may not be mentioned in the conversation counts as unknown.
func (m Memory) own(by *Caller, id string) (r memory.Record, path, turn string, err error) {
	c, err := by.conversation()
	if err != nil {
		return r, "", "", err
	}
	r, path, err = m.Store.Record(strings.TrimSpace(strings.TrimPrefix(id, "id:")))
	if err == nil && slices.Contains(c.Scopes(), r.Scope) {
		return r, path, c.Turn, ownOnly(r)
	}
	return memory.Record{}, "", "", fmt.Errorf("there is no record with the id %q here; memory_search tells the ids of what is kept", id)
}

func ownOnly(r memory.Record) error {
	if !r.Own {
		return fmt.Errorf("%q was written or changed by the person: it is theirs, and only they change it; tell them what should be different", r.Title)
	}
	return nil
}

// source returns the source of a record: the conversation and the question.
func (c Conversation) source() string { return c.Session + "#" + c.Event }

// renderFound returns the found records, with at most limit characters of each text.
func renderFound(found []memory.Found, limit int) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "- %s", f.Title)
		if f.ID != "" && f.Own {
			fmt.Fprintf(&b, " [id %s]", f.ID)
		}
		fmt.Fprintf(&b, " (%s", f.Place())
		if f.Day != "" {
			b.WriteString(", " + f.Day)
		}
		if len(f.Tags) > 0 {
			b.WriteString(", :" + strings.Join(f.Tags, ":") + ":")
		}
		b.WriteString(")\n")
		if text := text.Clip(f.Text, limit); text != "" {
			b.WriteString("  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}

// search looks for records with all of the words, and if there are none for records with some of
// them.
func (m Memory) search(ctx context.Context, c Conversation, q memory.Query) ([]memory.Found, error) {
	q.Scopes = c.Scopes()
	found, err := m.Index.SearchAlike(ctx, q, memory.MeaningText(q.Text))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && strings.Contains(strings.TrimSpace(q.Text), " ") && !q.Any {
		q.Any = true
		return m.Index.SearchAlike(ctx, q, memory.MeaningText(q.Text))
	}
	return found, nil
}
