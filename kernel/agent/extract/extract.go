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
	// leaveQueueSize is how many left conversations may wait for Run. Further ones are extracted when
	// they have been quiet.
	leaveQueueSize = 16
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
	leaving chan string
	quiet   chan time.Duration // holds a new quiet time until Run takes it

	mu   sync.Mutex // held while the quiet time is set
	last time.Duration
}

// New returns an extractor. It does nothing before [Extractor.Run].
func New(c Config) *Extractor {
	x := &Extractor{config: c, leaving: make(chan string, leaveQueueSize), quiet: make(chan time.Duration, 1)}
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
	if quiet == x.last {
		return
	}
	x.last = quiet
	select {
	case <-x.quiet: // the former one was not taken yet
	default:
	}
	x.quiet <- quiet
}

// Leave schedules the extraction of a conversation that a person has left. It never blocks.
func (x *Extractor) Leave(session string) {
	select {
	case x.leaving <- session:
	default:
	}
}

// Run extracts from conversations that have become quiet or were left. It blocks until ctx ends, and
// then ends at once: the next kernel extracts the rest.
func (x *Extractor) Run(ctx context.Context) {
	seen := map[string]string{} // the state of each session at its last extraction
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	quiet := Off
	var idle idleQueue
	for {
		select {
		case <-ctx.Done():
			return
		case quiet = <-x.quiet:
			tick.Reset(min(checkInterval, max(quiet/4, 10*time.Millisecond)))
			if quiet < 0 {
				tick.Stop()
				idle = idleQueue{}
			}
		case session := <-x.leaving:
			if quiet >= 0 {
				idle.add(session, time.Now().Add(quiet/leaveShare))
			}
		case <-idle.due:
			x.extractLeft(ctx, idle.next())
		case <-tick.C:
			x.extractQuiet(ctx, quiet, seen)
		}
	}
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

// idleQueue has the left sessions in their order, with the times of their extractions. The zero value
// is empty.
type idleQueue struct {
	sessions []string
	at       []time.Time
	due      <-chan time.Time // the time of the first; nil if there is none
}

// add adds a session, unless it is in the queue.
func (q *idleQueue) add(session string, at time.Time) {
	if !slices.Contains(q.sessions, session) {
		q.sessions, q.at = append(q.sessions, session), append(q.at, at)
	}
	q.due = time.After(time.Until(q.at[0]))
}

// next removes the first session and returns it.
func (q *idleQueue) next() string {
	session := q.sessions[0]
	if q.sessions, q.at, q.due = q.sessions[1:], q.at[1:], nil; len(q.at) > 0 {
		q.due = time.After(time.Until(q.at[0]))
	}
	return session
}
