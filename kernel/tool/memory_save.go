package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

//go:embed memory_save.md
var memorySaveManual string

type memorySaveArguments struct {
	Text    string   `doc:"the text to save" required:"true"`
	Title   string   `doc:"its heading (default: made from the text)"`
	Tags    []string `doc:"tags to find it by" seldom:"true"`
	Lasting bool     `doc:"it will always be worth knowing, not only for a few days"`
	Here    bool     `doc:"use it only in this conversation" seldom:"true"`
}

// record returns the record that the arguments describe.
func (a memorySaveArguments) record(c Conversation) memory.Record {
	r := memory.Record{Title: a.Title, Text: a.Text, Tags: a.Tags, Scope: c.Scope(), Source: c.source()}
	if a.Here {
		r.Scope = c.Name
	}
	return r
}

func memorySave(m Memory) Tool {
	return New(Definition[memorySaveArguments]{
		Name: "memory_save", Manual: memorySaveManual, Own: true, Effect: protocol.ToolKeeps,
		Offered: m.there,
		Preview: func(ctx context.Context, by *Caller, a memorySaveArguments) (Preview, error) {
			c, err := by.conversation()
			if err != nil {
				return Preview{}, err
			}
			r, err := m.Store.Clean(a.record(c))
			if err != nil {
				return Preview{}, err
			}
			return Preview{
				Summary: "Keep for later: " + r.Title, Text: r.String(),
				Effects: []string{"later conversations are reminded of it", "it adds a heading of the agent's own to what is kept, and can be taken back"},
			}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a memorySaveArguments) (string, error) {
			c, err := by.conversation()
			if err != nil {
				return "", err
			}
			r := a.record(c)
			known, path, err := m.Store.Equal(r)
			if err != nil {
				return "", err
			}
			if known.ID != "" {
				return fmt.Sprintf("It is kept already, as %q [id %s], in %s:%d.", known.Title, known.ID, path, known.Line), nil
			}
			if !by.countSaved(savedPerTurn) {
				return "", fmt.Errorf("%d things were kept in this turn, which is all it may: answer now", savedPerTurn)
			}
			saved, change, err := m.Store.Save(ctx, c.Turn, r, a.Lasting)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("Kept as %q [id %s], in %s. The user is told, and can take it back.", saved.Title, saved.ID, change.Path), nil
		},
	})
}
