// Package live runs the channels that the person's settings have, and others when the settings change.
//
// Ordering: a channel that changed has ended before it begins again. Blocking: [Channels.Set] never waits, and [Channels.Opened]
// does. Ownership: [Channels.Run] owns all goroutines of channels, and returns when they have ended.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/drivers"
	"org-agent/kernel/config"
)

// Config configures [Channels]. All fields but Fixed are required.
type Config struct {
	// Fixed are channels that the settings do not know.
	Fixed []channel.Driver
	// Open returns the driver of a channel of the settings.
	Open func(ctx context.Context, c config.Channel) (channel.Driver, error)
	// Run runs a channel until ctx ends, or until its driver gives up.
	Run func(ctx context.Context, d channel.Driver) error
	// Report takes the current faults of a subject, none when it is in order again.
	Report func(subject string, faults []string)
	Logger *slog.Logger
}

// Channels are the channels that run. They are safe for many goroutines. Make them with [New].
type Channels struct {
	config  Config
	changed chan struct{}

	mu      sync.Mutex
	wanted  []config.Channel
	again   bool          // those that have given up are to begin again
	opening chan struct{} // closed when those of the settings have been opened
	drivers channel.Drivers
	faults  map[string]string // of the channels that have given up
}

// New returns the channels of the settings. None of them runs yet.
func New(c Config, wanted []config.Channel) *Channels {
	return &Channels{config: c, changed: make(chan struct{}, 1), wanted: wanted, opening: make(chan struct{}), drivers: slices.Clone(c.Fixed), faults: map[string]string{}}
}

// Set has the channels of new settings run. What has given up begins again, because what it lacked may be there now.
func (c *Channels) Set(wanted []config.Channel) {
	c.mu.Lock()
	c.wanted, c.again = wanted, true
	if isClosed(c.opening) {
		c.opening = make(chan struct{})
	}
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Opened waits until the channels of the settings that were set last have been opened, or cannot be, or until ctx or
// [Channels.Run] ends. Turns of the last kernel end and have answers before its channels are there.
func (c *Channels) Opened(ctx context.Context) {
	c.mu.Lock()
	opening := c.opening
	c.mu.Unlock()
	select {
	case <-opening:
	case <-ctx.Done():
	}
}

// Find returns the driver of a channel that runs or has given up.
func (c *Channels) Find(name string) (channel.Driver, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drivers.Find(name)
}

// Fault returns why a channel has given up, "" for one that runs.
func (c *Channels) Fault(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults[name]
}

// All returns the drivers that run or have given up.
func (c *Channels) All() channel.Drivers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.drivers)
}

// running is a channel that runs or has given up.
type running struct {
	config config.Channel
	stop   context.CancelFunc
	ended  chan struct{} // closed when it does not run any more
}

// Run runs the channels until ctx ends.
func (c *Channels) Run(ctx context.Context) {
	var fixed sync.WaitGroup
	for _, d := range c.config.Fixed {
		fixed.Go(func() { c.run(ctx, d) })
	}
	var now []running
	for ctx.Err() == nil {
		now = c.renew(ctx, now)
		c.opened()
		select {
		case <-ctx.Done():
		case <-c.changed:
		}
	}
	for _, r := range now {
		r.stop()
		<-r.ended
	}
	fixed.Wait()
	c.mu.Lock()
	c.again = false // nothing is opened any more
	c.mu.Unlock()
	c.opened()
}

// opened has those go on who wait for the channels, unless there are newer settings.
func (c *Channels) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.again && !isClosed(c.opening) {
		close(c.opening)
	}
}

// renew ends and begins what the settings say.
func (c *Channels) renew(ctx context.Context, now []running) (next []running) {
	c.mu.Lock()
	wanted, again := c.wanted, c.again
	c.again = false
	c.mu.Unlock()
	var configs []config.Channel
	for _, r := range now {
		configs = append(configs, r.config)
	}
	end, begin := drivers.Changes(configs, wanted)
	for _, r := range now {
		same := func(e config.Channel) bool { return e.Name == r.config.Name }
		switch {
		case slices.ContainsFunc(end, same):
			r.stop()
			<-r.ended
			c.remove(r.config.Name)
			c.config.Report(subject(r.config.Name), nil)
		case again && isClosed(r.ended):
			begin = append(begin, r.config)
			c.remove(r.config.Name)
		default:
			next = append(next, r)
		}
	}
	for _, w := range begin {
		next = append(next, c.begin(ctx, w))
	}
	return next
}

func isClosed(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// begin opens a channel and runs it. A channel that cannot be opened is one that has given up.
func (c *Channels) begin(ctx context.Context, w config.Channel) running {
	ctx, stop := context.WithCancel(ctx)
	r := running{config: w, stop: stop, ended: make(chan struct{})}
	d, err := c.config.Open(ctx, w)
	if err != nil {
		close(r.ended)
		c.gaveUp(ctx, w.Name, err)
		return r
	}
	c.mu.Lock()
	c.drivers = append(c.drivers, d)
	c.mu.Unlock()
	c.config.Report(subject(w.Name), nil)
	go func() {
		defer close(r.ended)
		c.run(ctx, d)
	}()
	return r
}

func (c *Channels) run(ctx context.Context, d channel.Driver) {
	c.config.Logger.Info("channel begins", "channel", d.Name())
	err := c.config.Run(ctx, d)
	if err == nil {
		err = errors.New("it ended by itself")
	}
	c.gaveUp(ctx, d.Name(), err)
}

// gaveUp reports that a channel does not run.
func (c *Channels) gaveUp(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	c.config.Logger.Error("channel ended", "channel", name, "err", err)
	c.mu.Lock()
	c.faults[name] = err.Error()
	c.mu.Unlock()
	c.config.Report(subject(name), []string{fmt.Sprintf("%s has stopped: %v", name, err)})
}

func (c *Channels) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.faults, name)
	c.drivers = slices.DeleteFunc(c.drivers, func(d channel.Driver) bool { return d.Name() == name })
}

// subject is what the faults of a channel are about.
func subject(name string) string { return "channel " + name }
