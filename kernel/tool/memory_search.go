package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

//go:embed memory_search.md
var memorySearchManual string

// The limits of one search.
const (
	memoryHits     = 8
	memoryHitsMost = 50
	memoryHitText  = 800 // characters
	memoryTold     = 24 << 10
)

type memorySearchArguments struct {
	Query string   `doc:"the words to search for"`
	Tags  []string `doc:"tags that it must have" seldom:"true"`
	Since string   `doc:"only from this day on, such as 2026-11-22"`
	Until string   `doc:"only up to this day" seldom:"true"`
	Limit int      `doc:"the most results (default: 8)"`
}

func memorySearch(m Memory) Tool {
	return New(Definition[memorySearchArguments]{
		Name: "memory_search", Manual: memorySearchManual, Effect: protocol.ToolReads,
		Offered: m.there,
		Perform: func(ctx context.Context, by *Caller, a memorySearchArguments) (string, error) {
			c, err := by.conversation()
			if err != nil {
				return "", err
			}
			q := memory.Query{Text: a.Query, Tags: a.Tags, Limit: memoryHits}
			if a.Limit > 0 {
				q.Limit = min(a.Limit, memoryHitsMost)
			}
			var other error
			q.From, err = memory.Day(a.Since)
			q.To, other = memory.Day(a.Until)
			if err = errors.Join(err, other); err != nil {
				return "", err
			}
			whole := m.Await == nil || m.Await(ctx)
			found, err := m.search(ctx, c, q)
			if err != nil {
				return "", err
			}
			if len(found) == 0 && !whole {
				return "Nothing of what was read so far has any of that. The notes are being read: search again later, or tell the user that there may be something.", nil
			}
			if len(found) == 0 {
				return "Nothing that is kept has any of that.", nil
			}
			text := renderFound(found, memoryHitText)
			if len(text) > memoryTold {
				text = strings.ToValidUTF8(text[:memoryTold], "") + "\n[Cut here: look for less.]\n"
			}
			if !whole {
				text += "\n[The notes are being read: there may be more.]\n"
			}
			return fmt.Sprintf("%d found, the best first:\n%s", len(found), text), nil
		},
	})
}
