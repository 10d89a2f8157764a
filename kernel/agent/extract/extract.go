// Package extract has conversations looked at for what to keep of them. An [Extractor] decides when:
// when a conversation has been quiet for a while, or a person has left it. A [Proposer] asks a model
// what is worth keeping. Nothing is kept before a person accepts it.
package extract

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

const (
	// usualQuiet is how long a conversation must have been quiet, if nothing is set.
	usualQuiet = 10 * time.Minute
	// oldest is how old the last words of a conversation may be: what was said before this was
	// there stays as it is.
	oldest = 2 * 24 * time.Hour
	// lookEvery bounds how long it takes until a quiet conversation is seen.
	lookEvery = time.Minute
	// atOnce is how many conversations are looked at before the next pause.
	atOnce = 3
	// leaveShare is the part of the quiet time after which a conversation that was left is
	// looked at: who closes one by mistake opens it again.
	leaveShare = 60
	// leftLimit is how many conversations can be left before they are noted. Further ones are
	// looked at when they have been quiet.
	leftLimit = 16
)

// Conversations lists what was said where, the latest first.
type Conversations interface {
	List(ctx context.Context) ([]protocol.SessionInfo, error)
}

// Model proposes what to keep of what was said in a session since it was asked last, and
// returns how many proposals there are. A [Proposer] is one.
type Model interface {
	Extract(ctx context.Context, session string) (int, error)
}

// Proposals are those that wait for a person.
type Proposals interface {
	Proposals(ctx context.Context) ([]memory.Proposal, error)
}

// Config is what an [Extractor] works with. All of it is required, but for Quiet.
type Config struct {
	Conversations Conversations
	Model         Model
	Proposals     Proposals
	// Quiet is how long a conversation must have been quiet; by default 10 minutes.
	Quiet time.Duration
	// May reports whether there is a model that may be told what was said.
	May func() bool
	// Proposed is called when something was proposed, with how many proposals wait.
	Proposed func(session string, waiting int)
	// Hide takes secrets out of what is logged.
	Hide   func(string) string
	Logger *slog.Logger
}

// Extractor looks at conversations. It is made by [New].
type Extractor struct {
	config  Config
	leaving chan string
}

// New returns an extractor, which does nothing before it runs.
func New(c Config) *Extractor {
	if c.Quiet <= 0 {
		c.Quiet = usualQuiet
	}
	return &Extractor{config: c, leaving: make(chan string, leftLimit)}
}

// Left has a conversation looked at soon that a person has left. It never blocks.
func (x *Extractor) Left(session string) {
	select {
	case x.leaving <- session:
	default:
	}
}

// Run looks at conversations that have become quiet, or were left, until ctx ends. When it
// ends it asks nothing, since somebody waits for that: the next kernel takes up what was said.
func (x *Extractor) Run(ctx context.Context) {
	seen := map[string]string{} // how a session was when it was looked at
	tick := time.NewTicker(min(lookEvery, max(x.config.Quiet/4, 10*time.Millisecond)))
	defer tick.Stop()
	var idle idleQueue
	for {
		select {
		case <-ctx.Done():
			return
		case session := <-x.leaving:
			idle.add(session, time.Now().Add(x.config.Quiet/leaveShare))
		case <-idle.due:
			x.lookAtLeft(ctx, idle.next())
		case <-tick.C:
			x.lookAtQuiet(ctx, seen)
		}
	}
}

// lookAtQuiet looks at the conversations that have been quiet for so long.
func (x *Extractor) lookAtQuiet(ctx context.Context, seen map[string]string) {
	if !x.config.May() {
		return
	}
	sessions, err := x.config.Conversations.List(ctx)
	if err != nil {
		x.config.Logger.Warn("conversations are not looked at for what to keep", "err", err)
		return
	}
	now, asked := time.Now(), 0
	for _, s := range sessions {
		updated, err := time.Parse(time.RFC3339, s.Updated)
		quiet := now.Sub(updated)
		if err != nil || quiet > oldest {
			return // they are listed the latest first
		}
		state := fmt.Sprint(s.Updated, " ", s.Turns)
		if !s.State.Final() || quiet < x.config.Quiet || seen[s.Name] == state || asked == atOnce {
			continue
		}
		seen[s.Name], asked = state, asked+1
		x.look(ctx, s.Name)
	}
}

// lookAtLeft looks at a conversation that somebody left, if nobody waits for an answer in it.
func (x *Extractor) lookAtLeft(ctx context.Context, name string) {
	if !x.config.May() {
		return
	}
	sessions, err := x.config.Conversations.List(ctx)
	if err != nil {
		x.config.Logger.Warn("a conversation is not looked at for what to keep", "session", name, "err", err)
		return
	}
	for _, s := range sessions {
		if s.Name == name && s.State.Final() {
			x.look(ctx, name)
		}
	}
}

// look asks what to keep of one conversation, and tells of it.
func (x *Extractor) look(ctx context.Context, session string) {
	proposed, err := x.config.Model.Extract(ctx, session)
	if err != nil && ctx.Err() == nil {
		x.config.Logger.Warn("nothing is proposed to keep of a conversation", "session", session, "err", x.config.Hide(err.Error()))
	}
	if proposed == 0 {
		return
	}
	waiting, err := x.config.Proposals.Proposals(ctx)
	if err != nil {
		x.config.Logger.Warn("what is proposed cannot be counted", "err", err)
		return
	}
	x.config.Proposed(session, len(waiting))
}

// idleQueue is sessions that were left, in their order, with when they are looked at. Its zero
// value is empty.
type idleQueue struct {
	sessions []string
	at       []time.Time
	due      <-chan time.Time // when the first is; nil if there is none
}

// add adds a session, unless it is there.
func (q *idleQueue) add(session string, at time.Time) {
	if !slices.Contains(q.sessions, session) {
		q.sessions, q.at = append(q.sessions, session), append(q.at, at)
	}
	q.due = time.After(time.Until(q.at[0]))
}

// next takes the first out.
func (q *idleQueue) next() string {
	session := q.sessions[0]
	if q.sessions, q.at, q.due = q.sessions[1:], q.at[1:], nil; len(q.at) > 0 {
		q.due = time.After(time.Until(q.at[0]))
	}
	return session
}
