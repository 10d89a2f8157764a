package live_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/live"
	"org-agent/kernel/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSettings checks that the channels of the settings run: new ones begin, changed ones end and begin again, others go on, and
// what has given up begins again with the next change.
func TestSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var happened []string
		broken := true
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			happened = append(happened, what)
		}
		said := func() string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(happened)
			all := strings.Join(happened, " ")
			happened = nil
			return all
		}
		made := func(name, token string) config.Channel {
			return config.Channel{Name: name, Driver: "telegram", Properties: map[string]string{"URL": token}}
		}
		c := live.New(live.Config{
			Fixed: []channel.Driver{&channeltest.Memory{Channel: "fixed"}},
			Open: func(_ context.Context, s config.Channel) (channel.Driver, error) {
				if s.Properties["URL"] == "nowhere" {
					return nil, errors.New("no key")
				}
				return &channeltest.Memory{Channel: s.Name}, nil
			},
			Run: func(ctx context.Context, d channel.Driver) error {
				note("+" + d.Name())
				defer note("-" + d.Name())
				if d.Name() == "broken" && broken {
					return errors.New("token")
				}
				<-ctx.Done()
				return ctx.Err()
			},
			Report: func(subject string, faults []string) {
				if len(faults) > 0 {
					note("!" + strings.TrimPrefix(subject, "channel "))
				}
			},
			Logger: slog.New(slog.DiscardHandler),
		}, []config.Channel{made("a", "1"), made("broken", "1"), made("unknown", "nowhere")})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { c.Run(ctx); close(ended) }()
		if got := said(); got != "!broken !unknown +a +broken +fixed -broken" {
			t.Errorf("it began with %s", got)
		}
		if c.Fault("broken") != "token" || c.Fault("unknown") != "no key" || c.Fault("a") != "" {
			t.Errorf("the faults are %q, %q, %q", c.Fault("broken"), c.Fault("unknown"), c.Fault("a"))
		}
		broken = false
		c.Set([]config.Channel{made("a", "1"), made("b", "1"), made("broken", "1")})
		if got := said(); got != "+b +broken" || c.Fault("broken") != "" {
			t.Errorf("then came %s", got)
		}
		if _, ok := c.Find("unknown"); ok || len(c.All()) != 4 {
			t.Errorf("there are %v", c.All())
		}
		c.Set([]config.Channel{made("a", "2")})
		if got := said(); got != "+a -a -b -broken" {
			t.Errorf("then came %s", got)
		}
		stop()
		<-ended
		if got := said(); got != "-a -fixed" {
			t.Errorf("it ended with %s", got)
		}
	})
}

// TestOpened: who needs a channel that is being opened waits for that, also after the settings have changed, and nobody waits when
// nothing runs any more.
func TestOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goes := make(chan struct{})
		c := live.New(live.Config{
			Open: func(ctx context.Context, s config.Channel) (channel.Driver, error) {
				select {
				case <-goes:
				case <-ctx.Done():
				}
				return &channeltest.Memory{Channel: s.Name}, ctx.Err()
			},
			Run:    func(ctx context.Context, _ channel.Driver) error { <-ctx.Done(); return ctx.Err() },
			Report: func(string, []string) {}, Logger: slog.New(slog.DiscardHandler),
		}, []config.Channel{{Name: "a"}})
		waits := func() (over func() bool) {
			ended := make(chan struct{})
			go func() { c.Opened(t.Context()); close(ended) }()
			return func() bool {
				synctest.Wait()
				select {
				case <-ended:
					return true
				default:
					return false
				}
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		early := waits()
		ended := make(chan struct{})
		go func() { c.Run(ctx); close(ended) }()
		if early() {
			t.Error("it does not wait for a channel that is being opened")
		}
		goes <- struct{}{}
		if !early() || !waits()() || len(c.All()) != 1 {
			t.Error("it waits for a channel that is there")
		}
		c.Set([]config.Channel{{Name: "a"}, {Name: "b"}})
		changed := waits()
		if changed() {
			t.Error("it does not wait for a channel that was added")
		}
		goes <- struct{}{}
		if !changed() || len(c.All()) != 2 {
			t.Error("it waits for an added channel that is there")
		}
		c.Set([]config.Channel{{Name: "c"}})
		late := waits()
		if late() {
			t.Error("it does not wait for another channel")
		}
		stop()
		if <-ended; !late() || !waits()() {
			t.Error("it waits for what does not run any more")
		}
	})
}
