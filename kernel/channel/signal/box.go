package signal

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/channel"
)

// box holds what signal-cli reported, in order, until it is delivered. It is safe for one who puts and one who takes.
type box struct {
	limit int

	mutex sync.Mutex
	lines []string
	size  int
	old   int // how many of the first lines are in the state

	filled, emptied chan struct{} // have room for one value, which tells that something changed
}

func newBox(limit int) *box {
	return &box{limit: limit, filled: make(chan struct{}, 1), emptied: make(chan struct{}, 1)}
}

// put adds a line. It waits while the box is full, until ctx ends. A line that is larger than the box fits when the box
// is empty.
func (b *box) put(ctx context.Context, line string) {
	for !b.add(line, ctx.Err() != nil) {
		select {
		case <-b.emptied:
		case <-ctx.Done():
		}
	}
}

// add adds a line if there is room or if it has to, and reports whether it did.
func (b *box) add(line string, must bool) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !must && len(b.lines) > 0 && b.size+len(line) > b.limit {
		return false
	}
	b.lines, b.size = append(b.lines, line), b.size+len(line)
	tell(b.filled)
	return true
}

// first waits for a line, and leaves it in the box.
func (b *box) first(ctx context.Context) (string, error) {
	for {
		b.mutex.Lock()
		if len(b.lines) > 0 {
			defer b.mutex.Unlock()
			return b.lines[0], ctx.Err()
		}
		b.mutex.Unlock()
		select {
		case <-b.filled:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// drop removes the first line. lastOld says that it was the last one that is in the state.
func (b *box) drop() (lastOld bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.size -= len(b.lines[0])
	b.lines[0] = ""
	b.lines = b.lines[1:]
	tell(b.emptied)
	b.old--
	return b.old == 0
}

// tell leaves a value in a channel with room for one.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pendingKey is the key of the state for what was not delivered, one line each.
const pendingKey = "pending"

// restore puts what the last Run did not deliver into the box.
func (d *Driver) restore(ctx context.Context, box *box) {
	pauses := pauses{first: d.config.Pause, longest: d.config.LongestPause}
	for d.config.State != nil {
		kept, err := d.config.State.Load(ctx, pendingKey)
		if err == nil {
			if kept != "" {
				box.lines, box.size = strings.Split(kept, "\n"), len(kept)
				box.old = len(box.lines)
			}
			return
		}
		d.log.Warn("load what was not delivered", "channel", d.Name(), "err", err)
		if sleep(ctx, pauses.next()) != nil {
			return
		}
	}
}

// keep stores what is left in the box, after everybody who uses it has ended.
func (d *Driver) keep(ctx context.Context, box *box) {
	if len(box.lines) == 0 {
		return
	}
	if d.config.State == nil {
		d.log.Error("messages were not delivered and are lost", "channel", d.Name(), "count", len(box.lines))
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	if err := d.config.State.Store(ctx, pendingKey, strings.Join(box.lines, "\n")); err != nil {
		d.log.Error("store what was not delivered", "channel", d.Name(), "count", len(box.lines), "err", err)
	}
}

// deliver hands over what is in the box, one after the other, until ctx ends.
func (d *Driver) deliver(ctx context.Context, box *box, receive func(context.Context, channel.Message) error) {
	for {
		line, err := box.first(ctx)
		if err != nil {
			return
		}
		if m, ok := d.message(ctx, line); ok && !d.handOver(ctx, m, receive) {
			return
		}
		if box.drop() {
			if err := d.config.State.Store(ctx, pendingKey, ""); err != nil {
				d.log.Warn("forget what was delivered; it may be delivered again", "channel", d.Name(), "err", err)
			}
		}
	}
}

// handOver has receive take a message. It tries again until receive does, and returns false when ctx ends before.
func (d *Driver) handOver(ctx context.Context, m channel.Message, receive func(context.Context, channel.Message) error) bool {
	pauses := pauses{first: d.config.Pause / 10, longest: d.config.LongestPause / 10}
	for failed := false; ; failed = true {
		err := receive(ctx, m)
		if err == nil {
			return true
		}
		if !failed {
			d.log.Warn("a message was not taken; it is tried again", "channel", d.Name(), "err", err)
		}
		if sleep(ctx, pauses.next()) != nil {
			return false
		}
	}
}

// jitter returns a random time below the given one.
func jitter(below time.Duration) time.Duration {
	if below <= 0 {
		return 0
	}
	return rand.N(below)
}
