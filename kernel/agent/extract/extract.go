// Package extract finds in conversations what the memory should keep. An [Extractor] decides when:
// after a conversation has been quiet for a while, or a person has left it. A [Proposer] asks a model
// for proposals. Nothing is kept before a person accepts it.
package extract

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

const (
	// defaultQuiet is the quiet time before an extraction, if none is configured.
	defaultQuiet = 10 * time.Minute
	// maximumAge is the largest age of a conversation's last message. Older conversations are not
	// extracted.
	maximumAge = 2 * 24 * time.Hour
	// checkInterval is the longest time between two searches for quiet conversations.
	checkInterval = time.Minute
	// extractionsPerCheck is the largest number of extractions in one search.
	extractionsPerCheck = 3
	// leaveShare is the divisor of the quiet time after which a left conversation is extracted. A
	// person who closed it by mistake has that time to open it again.
	leaveShare = 60
	// maximumLeft is how many left conversations may wait for their time. Further ones are extracted
	// when they have been quiet.
	maximumLeft = 64
)

// Conversations lists the conversations, the latest first.
type Conversations interface {
	List(ctx context.Context) ([]protocol.SessionInfo, error)
}

// Model makes proposals from the new turns of a session, and returns their number. A [Proposer] is one.
type Model interface {
	Extract(ctx context.Context, session string) (int, error)
}

// Proposals returns the proposals that wait for a person.
type Proposals interface {
	Proposals(ctx context.Context) ([]memory.Proposal, error)
}

// Off is the quiet time of an [Extractor] that extracts nothing, as every negative time is.
const Off time.Duration = -1

// Config configures an [Extractor]. All fields except Quiet are required.
type Config struct {
	Conversations Conversations
	Model         Model
	Proposals     Proposals
	// Quiet is the quiet time before an extraction, to begin with; by default 10 minutes. [Off] means
	// that nothing is extracted.
	Quiet time.Duration
	// HasModel reports whether there is a model that may read the conversations.
	HasModel func() bool
	// OnProposals is called after new proposals, with the number of all that wait.
	OnProposals func(session string, waiting int)
	// Hide removes secrets from log messages.
	Hide   func(string) string
	Logger *slog.Logger
}

// Extractor extracts from conversations. Make one with [New].
type Extractor struct {
	config  Config
	changed chan struct{} // tells Run that the quiet time or the first of idle is another one

	mu    sync.Mutex
	quiet time.Duration
	idle  []leftConversation // in the order of their times
}

// leftConversation is a conversation that a person has left, and when to extract from it.
type leftConversation struct {
	session string
	at      time.Time
}

// New returns an extractor. It does nothing before [Extractor.Run].
func New(c Config) *Extractor {
	x := &Extractor{config: c, changed: make(chan struct{}, 1)}
	x.SetQuiet(c.Quiet)
	return x
}

// SetQuiet sets the quiet time, as [Config] has it. It never blocks. An extraction that runs is
// finished. The conversations that were left before are extracted at the times that were meant for
// them, unless the new time is [Off].
func (x *Extractor) SetQuiet(quiet time.Duration) {
	if quiet == 0 {
		quiet = defaultQuiet
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.quiet = quiet; quiet < 0 {
		x.idle = nil
	}
	x.wake()
}

// Leave schedules the extraction of a conversation that a person has left. It never blocks. It may be
// called before [Extractor.Run].
func (x *Extractor) Leave(session string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	waits := slices.ContainsFunc(x.idle, func(l leftConversation) bool { return l.session == session })
	if x.quiet < 0 || waits || len(x.idle) == maximumLeft {
		return
	}
	left := leftConversation{session, time.Now().Add(x.quiet / leaveShare)}
	behind := slices.IndexFunc(x.idle, func(l leftConversation) bool { return l.at.After(left.at) })
	if behind < 0 {
		behind = len(x.idle)
	}
	x.idle = slices.Insert(x.idle, behind, left)
	x.wake()
}

func (x *Extractor) wake() {
	select {
	case x.changed <- struct{}{}:
	default: // Run has not looked since the last time
	}
}

// Run extracts from conversations that have become quiet or were left. It blocks until ctx ends, and
// then ends at once: the next kernel extracts the rest.
func (x *Extractor) Run(ctx context.Context) {
	seen := map[string]string{} // the state of each session at its last extraction
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	var former time.Duration
	for {
		quiet, due := x.next()
		if quiet < 0 {
			tick.Stop()
		} else if quiet != former {
			tick.Reset(min(checkInterval, max(quiet/4, 10*time.Millisecond)))
		}
		former = quiet
		select {
		case <-ctx.Done():
			return
		case <-x.changed:
		case <-due:
			if session, ok := x.takeLeft(); ok {
				x.extractLeft(ctx, session)
			}
		case <-tick.C:
			x.extractQuiet(ctx, quiet, seen)
		}
	}
}

// next returns the quiet time, and a channel that tells when to extract from the first conversation
// that was left.
func (x *Extractor) next() (quiet time.Duration, due <-chan time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.idle) > 0 {
		due = time.After(time.Until(x.idle[0].at))
	}
	return x.quiet, due
}

// takeLeft removes the first conversation that was left, if its time has come.
func (x *Extractor) takeLeft() (session string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.idle) == 0 || x.idle[0].at.After(time.Now()) {
		return "", false
	}
	session, x.idle = x.idle[0].session, x.idle[1:]
	return session, true
}

// extractQuiet extracts from the conversations that have been quiet long enough.
func (x *Extractor) extractQuiet(ctx context.Context, quietTime time.Duration, seen map[string]string) {
	if quietTime < 0 || !x.config.HasModel() {
		return
	}
	sessions, err := x.config.Conversations.List(ctx)
	if err != nil {
		x.config.Logger.Warn("no extraction from quiet conversations", "err", err)
		return
	}
	now, asked := time.Now(), 0
	for _, s := range sessions {
		updated, err := time.Parse(time.RFC3339, s.Updated)
		quiet := now.Sub(updated)
		if err != nil || quiet > maximumAge {
			return // the latest come first
		}
		state := fmt.Sprint(s.Updated, " ", s.Turns)
		if !s.State.Final() || quiet < quietTime || seen[s.Name] == state || asked == extractionsPerCheck {
			continue
		}
		seen[s.Name], asked = state, asked+1
		x.extract(ctx, s.Name)
	}
}

// extractLeft extracts from a conversation that a person left, unless it has an unfinished turn.
func (x *Extractor) extractLeft(ctx context.Context, name string) {
	if !x.config.HasModel() {
		return
	}
	sessions, err := x.config.Conversations.List(ctx)
	if err != nil {
		x.config.Logger.Warn("no extraction from a conversation", "session", name, "err", err)
		return
	}
	for _, s := range sessions {
		if s.Name == name && s.State.Final() {
			x.extract(ctx, name)
		}
	}
}

// extract extracts from one conversation, and reports new proposals.
func (x *Extractor) extract(ctx context.Context, session string) {
	proposed, err := x.config.Model.Extract(ctx, session)
	if err != nil && ctx.Err() == nil {
		x.config.Logger.Warn("extraction failed", "session", session, "err", x.config.Hide(err.Error()))
	}
	if proposed == 0 {
		return
	}
	waiting, err := x.config.Proposals.Proposals(ctx)
	if err != nil {
		x.config.Logger.Warn("proposals cannot be counted", "err", err)
		return
	}
	x.config.OnProposals(session, len(waiting))
}
