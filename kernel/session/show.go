package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
)

// Delivery is something that a tool puts into the conversation of a running turn before its answer.
type Delivery struct {
	ID    string   // its :ID:
	Text  string   // a model's; may be empty
	Files []string // absolute, in their order
}

// headingFiles is how many files the heading of a delivery names.
const headingFiles = 3

// subtree returns the delivery as Org below a question of that level: a heading, the text, and a link for each file, in this
// order. The text of a model is inert, and the links are the kernel's.
func (d Delivery) subtree(level int, tags []string, names func() *org.Names) string {
	c := org.NewConverter(org.Options{
		QuestionLevel: level, Answer: true, File: names, Tags: tags,
		Properties: []org.Property{{Key: "ID", Value: d.ID}, {Key: "SENT", Value: "t"}},
	})
	text, heading := strings.TrimSpace(d.Text), ""
	if text == "" {
		var names []string
		for i, path := range d.Files {
			if i == headingFiles {
				names = append(names, fmt.Sprintf("and %d more", len(d.Files)-i))
				break
			}
			names = append(names, filepath.Base(path))
		}
		heading = "* " + org.Shorten(strings.Join(names, ", "), headingWidth-level-len(" :agent:"))
	}
	subtree := c.Write(heading+text) + c.Close()
	for i, path := range d.Files {
		if i == 0 && text != "" {
			subtree += "\n" // a paragraph of their own
		}
		subtree += org.FileLink(path) + "\n"
	}
	return subtree
}

// Show puts the delivery into the conversation of a running turn, before its answer. When it returns nil the journal has it,
// and it is being sent to every attached client that shows Org.
func (d Delivery) Show(ctx context.Context, in *Sessions, session, turn string) error {
	in.mu.Lock()
	s := in.open[session]
	in.mu.Unlock()
	if s != nil {
		if running := s.queue.current(); running != nil && running.Record.ID == turn {
			return running.show(ctx, d)
		}
	}
	return fmt.Errorf("turn %s is not running any more", turn)
}

func (t *Turn) show(ctx context.Context, d Delivery) error {
	s := t.session
	act := journal.Act{
		ID: d.ID, Session: s.name(), Turn: t.Record.ID, Event: t.Record.Event, Kind: journal.ActSent, Raw: d.Text,
		Text: t.subtreeOf(d), Plain: strings.TrimSpace(d.Text + "\n" + strings.Join(d.Files, "\n")),
	}
	err := s.retryWrite(ctx, func() error { return s.sessions.config.Journal.Acts.PutAct(ctx, act) })
	if err != nil {
		return err
	}
	s.send(ctx, act, t.Record)
	return nil
}

// subtreeOf returns a delivery as Org below the question of the turn.
func (t *Turn) subtreeOf(d Delivery) string {
	t.preview.mu.Lock() // names is the preview's
	defer t.preview.mu.Unlock()
	return d.subtree(t.Record.Level, t.session.sessions.config.heldTags(), t.names)
}
