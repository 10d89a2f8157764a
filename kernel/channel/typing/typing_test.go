package typing_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/typing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// typist counts how often it shows that somebody is writing, by chat.
type typist struct {
	channel.Driver
	mu    sync.Mutex
	shown map[string]int
	hang  bool
}

func (d *typist) Typing(ctx context.Context, chat string, on bool) error {
	d.mu.Lock()
	if on {
		d.shown[chat]++
	}
	hang := d.hang
	d.mu.Unlock()
	if hang {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (d *typist) count(chat string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown[chat]
}

// TestTyping checks that a chat shows that the agent is writing while a message is answered, renewed as long as that takes, but
// not for ever, and that a chat that does not answer holds up nobody.
func TestTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &typist{shown: map[string]int{}}
		i := typing.New(func(name string) (channel.Driver, bool) { return d, name == "dove" }, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { i.Run(ctx); close(ended) }()
		i.Begin("q1", "dove", "loft")
		i.Begin("q2", "dove", "loft")
		i.Begin("q3", "owl", "barn")
		time.Sleep(time.Second)
		if n := d.count("loft"); n < 1 || n > 2 {
			t.Errorf("it is shown %d times at first", n)
		}
		before := d.count("loft")
		time.Sleep(20 * time.Second)
		if n := d.count("loft") - before; n < 4 || n > 6 {
			t.Errorf("it is renewed %d times in 20 seconds", n)
		}
		i.End("q1")
		i.End("q2")
		i.End("nobody")
		before = d.count("loft")
		time.Sleep(time.Minute)
		if n := d.count("loft") - before; n > 1 {
			t.Errorf("it is shown %d times after the end", n)
		}
		d.mu.Lock()
		d.hang = true
		d.mu.Unlock()
		i.Begin("q4", "dove", "tower")
		time.Sleep(time.Hour)
		after := d.count("tower")
		time.Sleep(time.Hour)
		if n := d.count("tower"); after == 0 || n != after {
			t.Errorf("it is shown %d times in an hour, and %d in the next", after, n-after)
		}
		cancel()
		<-ended
	})
}
