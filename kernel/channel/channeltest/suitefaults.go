package channeltest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// try sends a message, and checks that an error has no secret.
func try(t *testing.T, f Fixture, d channel.Driver, id string) error {
	t.Helper()
	_, err := d.Send(t.Context(), channel.Outgoing{ID: id, Chat: f.Chat(), Text: rich.Plain(id)})
	noSecrets(t, f, fmt.Sprintf("%v %+v %#v", err, err, err))
	return err
}

// limited: a server that wants to be asked later says when, and the sender hears it at once.
func (suite) limited(t *testing.T, f Fixture) {
	limiting, ok := f.(Limiting)
	if !ok {
		return
	}
	d := f.Driver(t)
	run(t, d, nil)
	limiting.Limit(t, 7*time.Second)
	began := time.Now()
	if got := failure(try(t, f, d, "one")); got.Class != channel.Temporary || got.RetryAfter <= 0 || got.RetryAfter > 8*time.Second {
		t.Errorf("a limited rate is %+v", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the sender hears of the limit after %v: it is the sender who waits", took)
	}
	id := send(t, d, channel.Outgoing{ID: "two", Chat: f.Chat(), Text: rich.Plain("two")})
	seen(t, f, 1, shows([]string{id}, []string{"two"}))
}

// outage: while the server is away, messages cannot be sent; then all goes on.
func (suite) outage(t *testing.T, f Fixture) {
	away, ok := f.(Outage)
	if !ok {
		return
	}
	d := f.Driver(t)
	r := run(t, d, nil)
	ids := say(t, f, "one")
	r.wait(t, channel.Said, 1)
	for i := range 2 {
		away.Stop(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience(t))
		_, err := d.Send(ctx, channel.Outgoing{ID: fmt.Sprintf("lost%d", i), Chat: f.Chat(), Text: rich.Plain("lost")})
		cancel()
		if class := failure(err).Class; err == nil || class != "" && class != channel.Temporary && class != channel.Unknown {
			t.Errorf("without a server, the error is %v, %q", err, class)
		}
		noSecrets(t, f, fmt.Sprintf("%v %+v %#v", err, err, err))
		select {
		case <-r.ended:
			t.Fatalf("Run has returned: %v", r.err)
		case <-time.After(50 * time.Millisecond):
		}
		away.Start(t)
		ids = append(ids, say(t, f, fmt.Sprint("again ", i))...)
		eventually(t, func() error { return has(r, ids[i+1]) })
	}
	same(t, f, r.messages(channel.Said), ids, []string{"one", "again 0", "again 1"})
	eventually(t, func() error { return try(t, f, d, "back") })
}

// dropped: connections end in the middle of anything, and nothing is lost.
func (suite) dropped(t *testing.T, f Fixture) {
	dropping, ok := f.(Dropping)
	if !ok {
		return
	}
	r := run(t, f.Driver(t), nil)
	texts := numbered(9)
	var ids []string
	for i, text := range texts {
		ids = append(ids, say(t, f, text)...)
		if i%3 == 1 {
			dropping.Drop(t)
		}
	}
	same(t, f, r.wait(t, channel.Said, len(texts)), ids, texts)
}

// lost: an answer of the server that is lost leaves open whether the message was sent, and the sender hears that. Where
// messages are idempotent, it appears once when it is sent again.
func (suite) lost(t *testing.T, f Fixture) {
	losing, ok := f.(Losing)
	if !ok {
		return
	}
	d := f.Driver(t)
	run(t, d, nil)
	losing.Lose(t)
	err := try(t, f, d, "one")
	class := failure(err).Class
	switch idempotent := d.Capabilities().Idempotent; {
	case err == nil: // the driver has found out by itself
	case class != channel.Unknown && !(idempotent && (class == channel.Temporary || class == "")):
		t.Errorf("a lost answer is %v, %q", err, class)
	case idempotent:
		eventually(t, func() error { return try(t, f, d, "one") })
	}
	seen(t, f, 1, func(all []Seen) error {
		if all[0].Text != "one" {
			return fmt.Errorf("the person sees %+v", all)
		}
		return nil
	})
}

// expired: a token that is not valid any more ends the channel, and says so without the token.
func (suite) expired(t *testing.T, f Fixture) {
	expiring, ok := f.(Expiring)
	if !ok {
		return
	}
	d := f.Driver(t)
	r := run(t, d, nil)
	f.Say(t, Line{Text: "hello"})
	r.wait(t, channel.Said, 1)
	expiring.Expire(t)
	if err := try(t, f, d, "one"); failure(err).Class != channel.Unauthorized {
		t.Errorf("without a token, the error is %v, %q", err, failure(err).Class)
	}
	select {
	case <-r.ended:
	case <-time.After(patience(t)):
		t.Fatal("Run goes on without a token")
	}
	if r.err == nil || errors.Is(r.err, context.Canceled) {
		t.Errorf("Run ends with %v", r.err)
	}
	noSecrets(t, f, fmt.Sprintf("%v %+v %#v", r.err, r.err, r.err))
	r.left(t)
	again := run(t, f.Driver(t), nil)
	select {
	case <-again.ended:
	case <-time.After(patience(t)):
		t.Fatal("a driver that is started without a token runs")
	}
	if again.err == nil {
		t.Error("a driver that is started without a token ends without an error")
	}
	noSecrets(t, f, fmt.Sprintf("%v %+v %#v", again.err, again.err, again.err))
}

// end: Run ends when its context does, also while a message is being taken and while it waits to deliver one again.
func (suite) end(t *testing.T, f Fixture) {
	run(t, f.Driver(t), nil).stop(t) // at once
	r := run(t, f.Driver(t), nil)
	f.Say(t, Line{Text: "one"})
	r.wait(t, channel.Said, 1)
	began := time.Now()
	r.stop(t) // idle
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("an idle driver ends after %v", took)
	}

	d := f.Driver(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taking, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- d.Run(ctx, func(ctx context.Context, m channel.Message) error {
			if m.Text != "two" {
				return nil
			}
			select {
			case taking <- struct{}{}:
			default:
			}
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	id := f.Say(t, Line{Text: "two"})
	select {
	case <-taking:
	case <-time.After(patience(t)):
		t.Fatal("the message is not delivered")
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run ends with its context, and with %v", err)
		}
	case <-time.After(patience(t)):
		t.Fatal("Run has not ended while a message was being taken: receive gets a context that ends")
	}
	last := run(t, f.Driver(t), nil)
	eventually(t, func() error { return has(last, id) })
}

// ended: a send whose context has ended does not wait.
func (suite) ended(t *testing.T, f Fixture) {
	d := f.Driver(t)
	run(t, d, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, err := d.Send(ctx, channel.Outgoing{ID: "a", Chat: f.Chat(), Text: rich.Plain("a")}); err == nil {
		t.Error("it was sent")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
