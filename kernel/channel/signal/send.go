package signal

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// do calls a method over the connection of this moment. Without one nothing was done, and may be later. A channel that has
// just begun is given the time to connect. If the account cannot be used any more, the channel ends.
func (d *Driver) do(ctx context.Context, method string, p params, file *dataURI, result any) error {
	c, err := d.connection(ctx)
	if err != nil {
		return err
	}
	err = c.callWith(ctx, method, p, file, result)
	var failure *channel.Failure
	if errors.As(err, &failure) && failure.Class == channel.Unauthorized {
		c.close(err)
	}
	return err
}

// startLimit is how long a message waits for a channel that has not connected yet.
const startLimit = 10 * time.Second

// connection returns the connection of this moment.
func (d *Driver) connection(ctx context.Context) (*connection, error) {
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case <-d.first:
	case <-timer.C:
	case <-ctx.Done():
		return nil, temporary(ctx.Err())
	}
	if c := d.link.Load(); c != nil {
		return c, nil
	}
	return nil, temporary(errors.New("signal-cli is not connected"))
}

// tried says that there is a connection, or that there is none.
func (d *Driver) tried(c *connection) {
	d.link.Store(c)
	d.once.Do(func() { close(d.first) })
}

// compose returns the parameters of a text to a chat.
func compose(chat string, t rich.Text) (params, error) {
	p, err := destination(chat)
	if err != nil {
		return nil, err
	}
	text, styled := render(t)
	p["message"] = text
	if len(styled) > 0 {
		p["textStyle"] = styled
	}
	return p, nil
}

// Send implements [channel.Driver].
func (d *Driver) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	p, err := compose(out.Chat, out.Text)
	if err != nil {
		return "", err
	}
	if out.Text.Plain == "" && out.File == nil {
		return "", refused(errors.New("there is nothing in the message"))
	}
	if out.ReplyTo != "" {
		author, timestamp, err := splitID(out.ReplyTo)
		if err != nil {
			return "", err
		}
		p["quoteTimestamp"], p["quoteAuthor"] = timestamp, author
		p["quoteMessage"], _ = d.quotes.Get(out.ReplyTo)
	}
	var file *dataURI
	if out.File != nil {
		if out.File.Size > d.limits.file {
			return "", tooLarge(out.File, d.limits.file)
		}
		file = &dataURI{out.File, d.limits.file}
		if out.File.Voice {
			p["voiceNote"] = true
		}
	}
	id, err := d.send(ctx, out.Chat, p, file)
	if err == nil {
		d.remember(id, out.Text.Plain)
	}
	return id, err
}

// send sends a text, and returns the id of the message. In a group it counts as sent if one member gets it: Signal
// delivers to each by themselves.
func (d *Driver) send(ctx context.Context, chat string, p params, file *dataURI) (string, error) {
	var o outcome
	if err := d.do(ctx, "send", p, file, &o); err != nil {
		return "", err
	}
	if o.Timestamp <= 0 {
		return "", unknown(errors.New("send: signal-cli answered without the time of the message"))
	}
	for _, r := range o.Results {
		if r.Type != "SUCCESS" && r.Type != "" {
			d.log.Warn("a member of the group does not get the message", "channel", d.Name(), "chat", chat, "type", r.Type)
		}
	}
	return messageID(d.config.Account, o.Timestamp), nil
}

// mine returns the time of a message of the account.
func (d *Driver) mine(id string) (int64, error) {
	author, timestamp, err := splitID(id)
	if err == nil && !d.self(address{legacy: author}) {
		err = refused(errors.New("only messages of the account itself are changed or taken back on Signal"))
	}
	return timestamp, err
}

// Edit implements [channel.Editor]. Signal takes edits for a day, and keeps each former text for people to see.
func (d *Driver) Edit(ctx context.Context, chat, id string, text rich.Text) error {
	timestamp, err := d.mine(id)
	if err != nil {
		return err
	}
	p, err := compose(chat, text)
	if err != nil {
		return err
	}
	p["editTimestamp"] = timestamp
	edited, err := d.send(ctx, chat, p, nil)
	if err != nil {
		return err
	}
	d.edited(ctx, edited, id)
	d.remember(id, text.Plain)
	return nil
}

// Delete implements [channel.Deleter].
func (d *Driver) Delete(ctx context.Context, chat, id string) error {
	timestamp, err := d.mine(id)
	if err != nil {
		return err
	}
	p, err := destination(chat)
	if err != nil {
		return err
	}
	p["targetTimestamp"] = timestamp
	return d.do(ctx, "remoteDelete", p, nil, nil)
}

// React implements [channel.Reactor]. A message has one reaction of the account; another emoji takes its place.
func (d *Driver) React(ctx context.Context, r channel.Reaction) error {
	author, timestamp, err := splitID(r.ID)
	if err != nil {
		return err
	}
	p, err := destination(r.Chat)
	if err != nil {
		return err
	}
	p["emoji"], p["targetAuthor"], p["targetTimestamp"] = r.Emoji, author, timestamp
	if r.Remove {
		p["remove"] = true
	}
	return d.do(ctx, "sendReaction", p, nil, nil)
}

// Typing implements [channel.Typist]. Signal shows it for 15 seconds.
func (d *Driver) Typing(ctx context.Context, chat string, on bool) error {
	p, err := destination(chat)
	if err != nil {
		return err
	}
	if !on {
		p["stop"] = true
	}
	return d.do(ctx, "sendTyping", p, nil, nil)
}
