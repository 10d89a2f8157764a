package daemon

import (
	"context"

	"org-agent/kernel/channel/access"
	"org-agent/kernel/channel/letter"
	"org-agent/kernel/protocol"
)

// openLetters returns what shows owners what waits, in the chats in which they decide.
func (d *daemon) openLetters(c *channels) *letter.Letters {
	return letter.New(letter.Config{
		Asks: d.journal.Asks, Turns: d.journal.Turns, Chats: d.journal.Chats, Drivers: c.All, State: d.channelState,
		Rows: func() []access.Deciding { return d.access.file.Rules().Deciding() },
		Decide: func(ctx context.Context, p protocol.AskDecideParams, client string) (protocol.AskDecideResult, error) {
			return d.asks().Decide(ctx, p, client)
		},
		Tell: c.post.Tell, Inbox: d.inbox().Keep, Now: d.persona.Now, Logger: d.log,
	})
}
