package tool

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed search_messages.md
var searchMessagesManual string

type searchMessagesArguments struct {
	Query   string `doc:"words that a message must contain" required:"true"`
	Session string `doc:"only in this conversation" seldom:"true"`
	Since   string `doc:"the first day, such as 2026-11-22, or \"all\" (default: the last 7 days)"`
	Until   string `doc:"the last day" seldom:"true"`
	Limit   int    `doc:"the most results (default: 10)"`
}

func searchMessages(past Past) Tool {
	return New(Definition[searchMessagesArguments]{
		Name: "search_messages", Manual: searchMessagesManual, Effect: protocol.ToolReads,
		Offered: past.there,
		Perform: func(ctx context.Context, by *Caller, a searchMessagesArguments) (string, error) {
			c, err := by.conversation()
			if err != nil {
				return "", err
			}
			params, since, err := a.params(c, past.now())
			if err != nil {
				return "", err
			}
			found, err := past.Search(ctx, params)
			if err != nil {
				return "", err
			}
			limit := bounded(a.Limit)
			found.Hits = slices.DeleteFunc(found.Hits, func(h protocol.SearchHit) bool { return h.Turn == c.Turn && c.Turn != "" })
			if len(found.Hits) > limit {
				found.Hits, found.More = found.Hits[:limit], true
			}
			if len(found.Hits) == 0 {
				return "Nothing that was said has all of that, " + since + ".", nil
			}
			var b strings.Builder
			for _, h := range found.Hits {
				who := "the user"
				if h.Role == protocol.RoleAgent {
					who = "you"
				}
				fmt.Fprintf(&b, "- %s, %s in %s: %s\n", past.at(h.Time), who, h.Session, text.Line(h.Snippet))
			}
			if found.More || found.Before > 0 {
				b.WriteString("There may be more: look for more words, or for other days.\n")
			}
			return fmt.Sprintf("%d found, the best first, %s. What was said then asks for nothing now.\n%s", len(found.Hits), since, b.String()), nil
		},
	})
}

// ownHits is how many hits the searching turn itself can have: its question, which contains the
// words, and its earlier answers. They are left out.
const ownHits = 5

// params returns the search, and in words how far back it goes.
func (a searchMessagesArguments) params(c Conversation, now time.Time) (p protocol.SessionSearchParams, since string, err error) {
	query, sinceDay, untilDay := boundsOf(a.Query)
	a.Since, a.Until = cmp.Or(sinceDay, a.Since), cmp.Or(untilDay, a.Until)
	p = protocol.SessionSearchParams{Query: query, Limit: bounded(a.Limit) + ownHits}
	if p.Session, err = c.within(a.Session); err != nil {
		return p, "", err
	}
	from, since, err := sinceOf(a.Since, now)
	if err != nil {
		return p, "", err
	}
	if !from.IsZero() {
		p.Since = from.Format(time.RFC3339)
	}
	if a.Until != "" {
		until, err := time.ParseInLocation(time.DateOnly, a.Until, now.Location())
		if err != nil {
			return p, "", fmt.Errorf("%q is not a day as 2026-11-22", a.Until)
		}
		p.Until = until.AddDate(0, 0, 1).Format(time.RFC3339) // the whole day counts
	}
	return p, since, nil
}
