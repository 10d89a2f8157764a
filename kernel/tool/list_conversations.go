package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed list_conversations.md
var listConversationsManual string

type listConversationsArguments struct {
	Query string `doc:"words that occur in the name or the first words"`
	Since string `doc:"the first day, such as 2026-11-22, or \"all\" (default: the last 7 days)" seldom:"true"`
	Limit int    `doc:"the most conversations (default: 10)"`
}

func listConversations(past Past) Tool {
	return New(Definition[listConversationsArguments]{
		Name: "list_conversations", Manual: listConversationsManual, Own: true, Effect: protocol.ToolReads,
		Offered: past.there,
		Perform: func(ctx context.Context, by *Caller, a listConversationsArguments) (string, error) {
			c, err := by.conversation()
			if err != nil {
				return "", err
			}
			only, err := c.within("")
			if err != nil {
				return "", err
			}
			from, since, err := sinceOf(a.Since, past.now())
			if err != nil {
				return "", err
			}
			list, err := past.Sessions(ctx)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			count, left := 0, list.Left
			for _, s := range list.Sessions {
				updated, err := time.Parse(time.RFC3339, s.Updated)
				if s.Turns == 0 || err != nil || updated.Before(from) || only != "" && s.Name != only || !matches(strings.ToLower(s.Name+" "+s.Words), a.Query) {
					continue
				}
				if count++; count > bounded(a.Limit) {
					left++
					continue
				}
				fmt.Fprintf(&b, "- %s (%s, %s): %s\n", s.Name, past.at(s.Updated), text.Count(s.Turns, "turn"), s.Words)
			}
			if count == 0 {
				return "There is no such conversation, " + since + ".", nil
			}
			if left > 0 {
				fmt.Fprintf(&b, "and %d more: ask with a query or a limit\n", left)
			}
			return "The latest first, " + since + ":\n" + b.String(), nil
		},
	})
}
