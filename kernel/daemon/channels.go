package daemon

import (
	"context"
	"path/filepath"
	"sync"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/letter"
	"org-agent/kernel/channel/live"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/router"
	"org-agent/kernel/channel/stream"
	"org-agent/kernel/channel/typing"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/session"
)

// channels are the chats outside of editors, and what is between them and the conversations.
type channels struct {
	*live.Channels
	outbox  *outbox.Outbox
	post    *outbox.Post
	router  *router.Router // set before the channels run
	typing  *typing.Indicator
	stream  *stream.Stream
	letters *letter.Letters
}

// origins are the chats that turns come from.
type origins struct {
	*outbox.Post
	*stream.Stream
}

// known reports whether a name is that of a channel, and whether it is connected.
func (c *channels) known(name string) (known, connected bool) {
	_, connected = c.Find(name)
	return connected || channel.IsKnown(name), connected
}

// openChannels makes the channels of the settings and of the configuration.
func (d *daemon) openChannels(settings config.Settings, conversations *lateSessions) {
	c := &channels{Channels: live.New(live.Config{
		Fixed: d.config.Channels, Open: d.openDriver, Run: d.runChannel, Report: d.faults.Report, Logger: d.log,
	}, settings.Channels)}
	c.outbox = outbox.New(outbox.Config{Store: outgoingStore{d.journal.Outgoing, d.chatChanged}, Tell: d.undelivered, Logger: d.log, Now: d.config.Now})
	c.post = &outbox.Post{Outbox: c.outbox, Store: d.journal.Outgoing, Find: c.Find, Opened: c.Opened, Conversations: conversations, Now: d.config.Now}
	c.stream = stream.New(stream.Config{Find: c.Find, Outbox: c.outbox, Store: d.journal.Outgoing, Now: d.config.Now, Logger: d.log})
	c.post.Stop = c.stream.Stop
	c.typing = typing.New(c.Find, d.log)
	c.letters = d.openLetters(c)
	d.channels = c
}

// openRouter connects the channels with the conversations. It must be called before they run.
func (d *daemon) openRouter(intake service.Intake) {
	d.channels.router = router.New(router.Config{
		Take: intake.Take, Steer: session.Asides{Sessions: d.sessions}.Take, Chats: chatStore{d.journal.Chats, d.chatChanged}, Decide: d.access.guard.Decide, Redeem: d.access.pairings.Redeem, Inbox: d.inbox().Keep,
		Reply: func(ctx context.Context, name, chat, id, text string) error {
			return d.channels.post.Tell(ctx, protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(name), Chat: chat}, id, text)
		},
		Seen: d.contacts.Seen, Writing: d.channels.typing.Begin, Inert: d.inert, Pressed: d.channels.letters.Pressed,
		Keeper: router.Keeper{Directory: filepath.Join(d.paths.Sessions, "files")}, Now: d.persona.Now, Logger: d.log,
	})
}

// runChannel runs one channel: what it delivers, and what is sent to it.
func (d *daemon) runChannel(ctx context.Context, driver channel.Driver) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var sending sync.WaitGroup
	sending.Go(func() { d.channels.outbox.Run(ctx, driver) })
	err := d.channels.router.Run(ctx, driver)
	stop()
	sending.Wait()
	return err
}

// undelivered tells the owner that a message did not reach a chat, or may not have.
func (d *daemon) undelivered(ctx context.Context, m journal.Outgoing, why string) error {
	return d.inbox().Keep(ctx, protocol.InboxItem{
		ID: "undelivered-" + m.ID, Kind: protocol.InboxFailure, Session: m.Session, Title: "Not delivered to " + m.Chat + " on " + m.Channel,
		Text: why + ".\n\n#+begin_example\n" + org.Inert(outbox.Text(m)) + "\n#+end_example\n",
	})
}
