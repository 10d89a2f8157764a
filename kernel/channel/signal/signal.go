// Package signal is the channel of Signal. It speaks with an external signal-cli that runs as a daemon, over its socket
// and in its JSON-RPC, one object a line. signal-cli has the keys of the account; no secret is here.
//
// Ordering: what signal-cli reports is delivered in the order in which it is reported, one message after the other. An
// answer to a call never waits for the messages before it, unless the room for messages is full. Blocking: Send and
// its likes wait for signal-cli's answer, which waits for Signal's servers. Ownership: Run waits for all goroutines that
// it starts; the reader of an attachment has its content already and needs no connection.
//
// What is lost, and what is not: signal-cli tells Signal's servers that a message has arrived as soon as it has written
// it to the socket, and never reports it again. So a message that receive does not take is kept here and delivered again,
// before those that came later. When the room for them is full, nothing more is read, and signal-cli stops fetching.
// When Run ends, the rest is kept in the state and delivered first by the next Run. A daemon in the mode "on-start"
// fetches messages while nobody is connected, and they are gone. It should be started with "--receive-mode manual", or
// "on-connection", in which they wait at Signal's servers for this package. The package finds out by itself which mode
// it is.
//
// The names: a private chat is the other person's UUID, or "+" and the number where Signal does not tell the UUID. A
// group is "group." and its id in the URL's alphabet of base64. A message is "AUTHOR:TIMESTAMP" with the time at which
// its author's phone sent it, in milliseconds, by which Signal itself names messages. The agent's own messages have the
// configured account as their author.
package signal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/lru"
)

// Name is the name of the channel.
const Name = "signal"

// Config configures the channel.
type Config struct {
	Name string // of the channel, in lower case; "" is [Name]
	// Account is the agent's: "+" and the number in international form, or the UUID of an account without a number.
	Account string
	// Address is where the daemon listens: the absolute path of its socket, or HOST:PORT. Whoever reaches it reads and
	// writes everything of the account, and TCP is not encrypted: HOST belongs to this machine or to a network of its own.
	Address string
	// State keeps what was not delivered when Run ended. nil: that is lost.
	State  channel.State
	Logger *slog.Logger // nil: nothing is logged
	// Pause is the first pause before connecting again, and LongestPause the longest. 0: one second, and five minutes.
	Pause, LongestPause time.Duration
}

// limits bound what is in memory. Signal takes files of 100 MB, and one of 48 MB is a line of 64 MB to signal-cli, of
// which there is one at a time.
type limits struct {
	file int64 // bytes of a file
	box  int   // bytes of what waits for receive
}

// line is the length of a line of signal-cli with a file in base64.
func (l limits) line() int { return int(l.file)/3*4 + 1<<16 }

// The bounds of what is known of earlier messages.
const (
	quoteBound = 1 << 20 // of the texts for replies
	nameBound  = 1 << 18 // of the names for mentions
)

// textLimit is the length from which on Signal's programs show the beginning of a text only.
const textLimit = 2000

// Driver is the channel. Make it with [New].
type Driver struct {
	config Config
	log    *slog.Logger
	limits limits
	files  chan struct{} // holds one value while an attachment is fetched, so that only one is in memory

	uuid atomic.Pointer[string] // of the account, once it is known

	link  atomic.Pointer[connection] // that of this moment, nil without one
	first chan struct{}              // closed when the first attempt of Run has succeeded or failed
	once  sync.Once                  // closes it

	edits  edits
	quotes *lru.Cache[string, string] // texts by the ids of their messages
	names  *lru.Cache[string, string] // what people call themselves, by their ids
}

var (
	_ channel.Driver  = (*Driver)(nil)
	_ channel.Editor  = (*Driver)(nil)
	_ channel.Deleter = (*Driver)(nil)
	_ channel.Reactor = (*Driver)(nil)
	_ channel.Typist  = (*Driver)(nil)
)

// New returns the channel. Nothing is dialled before Run or Check.
func New(c Config) *Driver {
	c.Pause, c.LongestPause = cmp.Or(c.Pause, time.Second), cmp.Or(c.LongestPause, 5*time.Minute)
	d := &Driver{
		config: c, log: cmp.Or(c.Logger, slog.New(slog.DiscardHandler)), limits: limits{48 << 20, 8 << 20}, first: make(chan struct{}), files: make(chan struct{}, 1),
		quotes: lru.New[string, string](quoteBound), names: lru.New[string, string](nameBound),
	}
	if validUUID(c.Account) {
		d.config.Account = strings.ToLower(c.Account)
		d.uuid.Store(&d.config.Account)
	}
	return d
}

// Name implements [channel.Driver].
func (d *Driver) Name() string { return cmp.Or(d.config.Name, Name) }

// Capabilities implements [channel.Driver]. A message that is sent again appears twice: Signal gives each its own time.
func (d *Driver) Capabilities() channel.Capabilities {
	return channel.Capabilities{TextLimit: textLimit, FileLimit: d.limits.file, Voice: true}
}

// Check connects once and returns the account. Its errors say what to do.
func (d *Driver) Check(ctx context.Context) (channel.Person, error) {
	if err := d.config.check(); err != nil {
		return channel.Person{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, err := d.dial(ctx)
	if err != nil {
		return channel.Person{}, err
	}
	var reading sync.WaitGroup
	reading.Go(func() { c.read(func(notification) {}) })
	defer func() {
		c.close(nil)
		reading.Wait()
	}()
	if err := d.greet(ctx, c); err != nil {
		return channel.Person{}, err
	}
	person := channel.Person{ID: d.config.Account}
	if strings.HasPrefix(d.config.Account, "+") {
		person.Username = d.config.Account
	}
	return person, nil
}

// check reports what is wrong with the settings.
func (c *Config) check() error {
	if !validNumber(c.Account) && !validUUID(c.Account) {
		return fmt.Errorf("the Signal account %q is neither a number such as +4915112345678 nor a UUID", c.Account)
	}
	if _, _, err := c.endpoint(); err != nil {
		return err
	}
	return nil
}

// endpoint returns the network and the address of the daemon.
func (c *Config) endpoint() (network, address string, err error) {
	if filepath.IsAbs(c.Address) {
		return "unix", c.Address, nil
	}
	if host, port, err := net.SplitHostPort(c.Address); err == nil && host != "" && port != "" {
		return "tcp", c.Address, nil
	}
	return "", "", fmt.Errorf("the address %q of signal-cli is neither the absolute path of a socket nor HOST:PORT", c.Address)
}

// Run implements [channel.Driver]. It returns nil when ctx ends. An error means that the account cannot be used.
func (d *Driver) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	defer d.tried(nil)
	if err := d.config.check(); err != nil {
		return err
	}
	box := newBox(d.limits.box)
	d.restore(ctx, box)
	d.recall(ctx)
	delivering, stop := context.WithCancel(ctx)
	var delivery sync.WaitGroup
	delivery.Go(func() { d.deliver(delivering, box, receive) })
	err := d.connect(ctx, box)
	stop()
	delivery.Wait()
	d.keep(ctx, box)
	return err
}

// connect connects, again and again, until ctx ends or the account cannot be used.
func (d *Driver) connect(ctx context.Context, box *box) error {
	pauses := pauses{first: d.config.Pause, longest: d.config.LongestPause}
	for away := false; ; {
		began := time.Now()
		connected, err := d.converse(ctx, box)
		if ctx.Err() != nil {
			return nil
		}
		var failure *channel.Failure
		if errors.As(err, &failure) && failure.Class == channel.Unauthorized {
			return err
		}
		d.tried(nil)
		if connected && time.Since(began) > pauses.last {
			pauses.last, away = 0, false
		}
		pause := pauses.next()
		level := slog.LevelDebug
		if !away {
			level, away = slog.LevelWarn, true
		}
		d.log.Log(ctx, level, "signal-cli is not connected", "channel", d.Name(), "err", err, "pause", pause)
		if sleep(ctx, pause) != nil {
			return nil
		}
	}
}

// converse connects once and returns when the connection has ended, with the reason. connected says whether the daemon
// answered.
func (d *Driver) converse(ctx context.Context, box *box) (connected bool, err error) {
	c, err := d.dial(ctx)
	if err != nil {
		return false, err
	}
	intake := intake{driver: d, connection: c, box: box}
	var working sync.WaitGroup
	working.Go(func() {
		c.read(func(n notification) { intake.take(ctx, n, &working) })
	})
	defer working.Wait()
	defer c.close(nil)

	err = d.greet(ctx, c)
	if err == nil {
		err = c.subscribe(ctx)
	}
	if err != nil {
		return false, cmp.Or(c.fatal(), err)
	}
	d.tried(c)
	defer d.tried(nil)
	d.log.Info("connected to signal-cli", "channel", d.Name())
	select {
	case <-c.ended:
	case <-ctx.Done():
		// What was written before signal-cli knows of the end is still read, and kept.
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		if err := c.unsubscribe(last); err != nil {
			d.log.Debug("end the subscription", "channel", d.Name(), "err", err)
		}
	}
	return true, c.reason()
}

// pauses are the growing times between two attempts.
type pauses struct{ first, longest, last time.Duration }

// next returns the next pause: twice the last one, and by chance up to a quarter less, so that not all who lost a server
// come back at once.
func (p *pauses) next() time.Duration {
	p.last = min(max(2*p.last, p.first), p.longest)
	return p.last - jitter(p.last/4)
}

// sleep waits, and returns early with an error when ctx ends.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
