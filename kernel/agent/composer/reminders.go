package composer

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/text"
)

// Bounds of the reminders of a turn.
const (
	recallItems  = 6
	recallTokens = 450
	recallText   = 360 // characters of one
	// recallTimeout is how long a turn waits for them.
	recallTimeout = 300 * time.Millisecond
)

// Reminders is the journal's record of the reminders of a turn.
type Reminders struct {
	Items []protocol.ContextItem `json:"items,omitempty"`
	Err   string                 `json:"err,omitempty"`
}

// findReminders finds records and notes that may matter to the message. It searches once in a turn, and not
// again when the turn is answered again. Texts that the system prompt has are left out. isNew is set if
// this call searched.
func (t *Turn) findReminders(ctx context.Context, ask skill.Ask, system string) (found Reminders, isNew bool, err error) {
	c := t.composer
	if c.Index == nil || ask.NoStream || ask.NoContext || t.Record.Question.Sensor != protocol.SensorChatMessage {
		return Reminders{}, false, nil
	}
	if t.reminders == nil && t.program.Reminders != nil {
		if t.reminders, err = t.program.Reminders(ctx); err != nil {
			return Reminders{}, false, err
		}
	}
	if t.reminders != nil {
		return *t.reminders, false, nil
	}
	within, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	records, err := c.Index.Recall(within, t.Record.Question.Text, Conversation(t.Record).Scopes(), 2*recallItems)
	t.reminders = &Reminders{Items: c.selectReminders(records, system)}
	if err != nil {
		if ctx.Err() != nil {
			return Reminders{}, false, context.Cause(ctx)
		}
		t.reminders.Err = err.Error()
		c.Sources.Logger.Warn("no reminders found", "err", err)
	}
	return *t.reminders, len(t.reminders.Items) > 0 || err != nil, nil
}

// selectReminders returns as many of the found records as there is room for, in an order that suits
// models: the best first, the second best last.
func (c *Composer) selectReminders(found []memory.Found, system string) []protocol.ContextItem {
	var items []protocol.ContextItem
	room := recallTokens
	for _, f := range found {
		content := f.Text
		if utf8.RuneCountInString(content) > recallText {
			content = f.Snippet
		}
		content = cmp.Or(content, f.Title)
		if strings.Contains(system, content) && strings.Contains(system, f.Title) {
			continue
		}
		name := f.Title
		if f.Day != "" {
			name += ", " + f.Day
		}
		item := protocol.ContextItem{Kind: protocol.ContextMemory, Name: text.Line(name), Place: text.Line(c.shortPlace(f)), Text: content, Bytes: len(content)}
		if room -= prompt.Tokens(item.Describe() + content); room < 0 || len(items) == recallItems {
			break
		}
		items = append(items, item)
	}
	var front, back []protocol.ContextItem
	for i, item := range items {
		if i%2 == 0 {
			front = append(front, item)
		} else {
			back = append(back, item)
		}
	}
	slices.Reverse(back)
	return append(front, back...)
}

// shortPlace returns FILE:LINE. A file of the home is relative to it.
func (c *Composer) shortPlace(f memory.Found) string {
	if path, err := filepath.Rel(c.Home, f.Path); err == nil && !strings.HasPrefix(path, "..") {
		f.Path = path
	}
	return f.Place()
}
