// Package contacts keeps contacts.org: who talked to the agent on which channel, and under which address they are found.
//
// Ownership: the file is the person's. They write headings, names, aliases, addresses and whatever else they want to have
// there. The kernel adds a heading for somebody who is not in the file, adds an address or a chat that a contact does not
// have, and changes LAST_ACTIVE, and nothing else. A heading that the person withholds from models is neither shown nor
// written. Blocking: [Book.Seen] never waits. [Book.Run] writes what was seen some seconds later, in one change, through the
// editor that has unsaved changes of the file. Ordering: a later moment replaces an earlier one, in whatever order they come.
package contacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/channel"
	"org-agent/kernel/openfile"
	"org-agent/kernel/text"
)

// The limits of what is kept.
const (
	sizeLimit  = 8 << 20          // bytes of the file
	seenLimit  = 2000             // people and groups that were seen and are remembered in memory
	settle     = 2 * time.Second  // between something new and its writing
	again      = time.Minute      // after a failure
	activeStep = 10 * time.Minute // between two changes of LAST_ACTIVE
	nameLimit  = 80               // characters of a name that somebody gave to themselves
)

// Contact is a person, or a group of people.
type Contact struct {
	ID        string // its :ID:, "" if it has none
	Name      string
	Aliases   []string
	Addresses []Address
	Active    time.Time // the zero time if it is not known
	// Source is where the person keeps it too, such as bbdb. "" is contacts.org alone.
	Source string
}

// Address is where a contact is reached.
type Address struct {
	Channel  string // in lower case
	Person   string // the id on the channel, "" for a group
	Username string
	Chat     string // the id of the chat; "" if there was none
	Group    bool
}

// Target is the id to which a message is sent.
func (a Address) Target() string {
	if a.Chat != "" {
		return a.Chat
	}
	return a.Person
}

// Config configures a book.
type Config struct {
	// File is contacts.org, which need not be there.
	File openfile.File
	// Channels are the names of the channels that there may be. A property of another name is no address.
	Channels func() []string
	// Now is the person's clock.
	Now func() time.Time
	// NewID returns the :ID: of a new heading.
	NewID func() string
	// Report is told why the file cannot be read or written, and with nil that it can. It may be nil.
	Report func(problems []string)
	Logger *slog.Logger
}

// Book is the address book. It is safe for many goroutines. A nil book has nobody in it.
type Book struct {
	config Config
	wake   chan struct{}
	once   sync.Mutex // one change of the file at a time

	mu   sync.Mutex
	seen map[key]*sighting
}

// key names a person or a group on a channel.
type key struct{ channel, person, group string }

// sighting is what was last seen of somebody.
type sighting struct {
	name, username, chat string
	at                   time.Time
	written              bool // the file has it
}

// New returns the book of a file. It reads nothing yet.
func New(c Config) *Book {
	return &Book{config: c, wake: make(chan struct{}, 1), seen: map[key]*sighting{}}
}

// Seen records that somebody wrote on a channel at that time. The router calls it for people who may talk to the agent.
func (b *Book) Seen(channelName string, who channel.Person, where channel.Chat, at time.Time) {
	if b == nil || channelName == "" || who.ID == "" {
		return
	}
	channelName = strings.ToLower(channelName)
	b.mu.Lock()
	chat := where.ID
	if where.Group {
		chat = "" // others read it
		b.record(key{channel: channelName, group: where.ID}, sighting{name: name(where.Title), chat: where.ID, at: at})
	}
	b.record(key{channel: channelName, person: who.ID}, sighting{name: name(who.Name), username: strings.TrimPrefix(name(who.Username), "@"), chat: chat, at: at})
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// name returns a name that somebody gave to themselves as the book has it.
func name(of string) string { return text.PlainLine(of, nameLimit) }

// record keeps a sighting. The caller holds mu.
func (b *Book) record(k key, s sighting) {
	former := b.seen[k]
	if former == nil {
		if len(b.seen) >= seenLimit {
			b.forget()
		}
		b.seen[k] = &s
		return
	}
	if s.at.Before(former.at) {
		return
	}
	if s.chat == "" {
		s.chat = former.chat
	}
	s.written = former.written && s.chat == former.chat && s.at.Sub(former.at) < activeStep
	if s.written {
		s.at = former.at // the file says this one
	}
	b.seen[k] = &s
}

// forget forgets who was seen first and is written. The caller holds mu.
func (b *Book) forget() {
	var oldest key
	for k, s := range b.seen {
		if o := b.seen[oldest]; s.written && (o == nil || s.at.Before(o.at)) {
			oldest = k
		}
	}
	if _, found := b.seen[oldest]; !found {
		for oldest = range b.seen { // nothing can be written: any
			break
		}
	}
	delete(b.seen, oldest)
}

// Run writes what is seen until ctx ends, and what is left then.
func (b *Book) Run(ctx context.Context) error {
	failed := false
	for {
		pause := settle
		if failed {
			pause = again
		} else {
			select {
			case <-ctx.Done():
			case <-b.wake:
			}
		}
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), settle)
			defer stop()
			if err := b.Flush(last); err != nil {
				b.config.Logger.Warn("contacts not written", "err", err)
			}
			return nil
		case <-time.After(pause):
		}
		err := b.Flush(ctx)
		if err != nil && ctx.Err() == nil {
			b.config.Logger.Warn("contacts not written", "err", err)
		}
		if b.config.Report != nil && failed != (err != nil) {
			var problems []string
			if err != nil {
				problems = []string{err.Error()}
			}
			b.config.Report(problems)
		}
		failed = err != nil
	}
}

// Flush writes what was seen and is not written. It returns when the file has it.
func (b *Book) Flush(ctx context.Context) error {
	b.once.Lock()
	defer b.once.Unlock()
	news := b.news()
	if len(news) == 0 {
		return nil
	}
	for tries := 3; ; tries-- {
		err := b.config.File.Change(ctx, func(source string) (string, error) { return b.update(source, news) })
		if errors.Is(err, atomicfile.ErrChanged) && tries > 1 {
			continue
		}
		if err != nil {
			return fmt.Errorf("write who was seen: %w", err)
		}
		b.markWritten(news)
		return nil
	}
}

// news returns what is not written, the oldest first.
func (b *Book) news() []seenEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var news []seenEntry
	for k, s := range b.seen {
		if !s.written {
			news = append(news, seenEntry{k, *s})
		}
	}
	slices.SortFunc(news, func(x, y seenEntry) int {
		if c := x.at.Compare(y.at); c != 0 {
			return c
		}
		return strings.Compare(x.key.channel+x.key.person+x.key.group, y.key.channel+y.key.person+y.key.group)
	})
	return news
}

// seenEntry is a sighting and of whom it is.
type seenEntry struct {
	key
	sighting
}

// markWritten marks what the file has now.
func (b *Book) markWritten(news []seenEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range news {
		if s := b.seen[n.key]; s != nil && s.chat == n.chat {
			if s.written = s.at.Sub(n.at) < activeStep; s.written {
				s.at = n.at
			}
		}
	}
}

// Any reports whether there may be contacts.
func (b *Book) Any() bool {
	info, err := os.Stat(b.config.File.Path)
	return err == nil && info.Size() > 0
}

// source returns the text of the file on the disk.
func (b *Book) source() (string, error) {
	info, err := os.Stat(b.config.File.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the contacts: %w", err)
	case !info.Mode().IsRegular() || info.Size() > sizeLimit:
		return "", fmt.Errorf("%s is no file of at most %d MB, so no contacts are read from it", b.config.File.Path, sizeLimit>>20)
	}
	content, err := os.ReadFile(b.config.File.Path)
	if err != nil {
		return "", fmt.Errorf("read the contacts: %w", err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n"), nil
}

// All returns the contacts that may be shown to a model, with those that were seen and are not written yet, the last active
// ones first.
func (b *Book) All() ([]Contact, error) {
	if b == nil {
		return nil, nil
	}
	source, err := b.source()
	if err != nil {
		return nil, err
	}
	if news := b.news(); len(news) > 0 {
		if source, err = b.update(source, news); err != nil {
			return nil, err
		}
	}
	all := b.read(source).contacts
	slices.SortStableFunc(all, func(x, y Contact) int { return y.Active.Compare(x.Active) })
	return all, nil
}
