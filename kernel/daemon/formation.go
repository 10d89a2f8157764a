package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

const (
	// formAfter is how long a conversation must have been quiet, if nothing is set.
	formAfter = 10 * time.Minute
	// formDays is how old the last words of a conversation may be: what was said before
	// this was there stays as it is.
	formDays = 2 * 24 * time.Hour
	// formEvery bounds how long it takes until a quiet conversation is seen.
	formEvery = time.Minute
	// formAtOnce is how many conversations are looked at before the next pause.
	formAtOnce = 3
)

// formWhenIdle has conversations looked at that have become quiet, or were left, until ctx
// ends. A kernel that ends asks nothing, since somebody waits for it to: the next one takes up
// what was said before it began.
func (d *daemon) formWhenIdle(ctx context.Context) {
	after := d.proposeAfter.After
	if after <= 0 {
		after = formAfter
	}
	if d.proposeAfter.Off {
		return
	}
	done := map[string]string{} // how a session was that was looked at
	tick := time.NewTicker(min(formEvery, max(after/4, 10*time.Millisecond)))
	defer tick.Stop()
	var left departures
	for {
		select {
		case <-ctx.Done():
			return
		case session := <-d.leaving:
			left.add(session, time.Now().Add(after/leaveShare))
		case <-left.due:
			d.formLeft(ctx, left.next())
		case <-tick.C:
			d.formQuiet(ctx, after, done)
		}
	}
}

// formQuiet looks at the conversations that have been quiet for so long.
func (d *daemon) formQuiet(ctx context.Context, after time.Duration, done map[string]string) {
	if !d.mayForm() {
		return
	}
	sessions, err := d.journal.Sessions(ctx)
	if err != nil {
		d.log.Warn("conversations are not looked at for what to keep", "err", err)
		return
	}
	now, asked := time.Now(), 0
	for _, s := range sessions {
		updated, err := time.Parse(time.RFC3339, s.Updated)
		quiet := now.Sub(updated)
		if err != nil || quiet > formDays {
			return // they are listed the latest first
		}
		state := fmt.Sprint(s.Updated, " ", s.Turns)
		if !s.State.Final() || quiet < after || done[s.Name] == state || asked == formAtOnce {
			continue
		}
		done[s.Name], asked = state, asked+1
		d.formSession(ctx, s.Name)
	}
}

// mayForm reports whether there is a model, and somebody has agreed to send it words.
func (d *daemon) mayForm() bool {
	return d.models.IsModel() && d.models.ConsentNeeded() == ""
}

// leaveShare is the part of the quiet time after which a conversation that was left is looked
// at: who closes one by mistake opens it again.
const leaveShare = 60

// departures are sessions that were left, in their order, with when they are looked at.
type departures struct {
	sessions []string
	at       []time.Time
	due      <-chan time.Time // when the first is; nil if there is none
}

// add adds a session, unless it is there.
func (l *departures) add(session string, at time.Time) {
	if !slices.Contains(l.sessions, session) {
		l.sessions, l.at = append(l.sessions, session), append(l.at, at)
	}
	l.due = time.After(time.Until(l.at[0]))
}

// next takes the first out.
func (l *departures) next() string {
	session := l.sessions[0]
	if l.sessions, l.at, l.due = l.sessions[1:], l.at[1:], nil; len(l.at) > 0 {
		l.due = time.After(time.Until(l.at[0]))
	}
	return session
}

// left has a conversation looked at that a person has left, unless very many were left at
// once: those are looked at when they have been quiet.
func (d *daemon) left(session string) {
	select {
	case d.leaving <- session:
	default:
	}
}

// formLeft looks at a conversation that somebody left, if nobody waits for an answer in it.
func (d *daemon) formLeft(ctx context.Context, name string) {
	if !d.mayForm() {
		return
	}
	sessions, err := d.journal.Sessions(ctx)
	if err != nil {
		d.log.Warn("a conversation is not looked at for what to keep", "session", name, "err", err)
		return
	}
	for _, s := range sessions {
		if s.Name == name && s.State.Final() {
			d.formSession(ctx, name)
		}
	}
}

// formSession asks what to keep of one conversation, and tells who is there.
func (d *daemon) formSession(ctx context.Context, session string) {
	proposed, err := d.agent.Form(ctx, session)
	if err != nil && ctx.Err() == nil {
		d.log.Warn("nothing is proposed to keep of a conversation", "session", session, "err", d.agent.Hide(err.Error()))
	}
	if proposed == 0 {
		return
	}
	waiting, err := d.kept.Proposals(ctx)
	if err != nil {
		d.log.Warn("what is proposed cannot be counted", "err", err)
		return
	}
	d.editors.notify(protocol.MethodMemoryProposed, protocol.MemoryProposed{Session: session, Waiting: len(waiting)})
}

func (d *daemon) memoryProposals(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.MemoryProposalsResult, error) {
	waiting, err := d.kept.Proposals(ctx)
	var result protocol.MemoryProposalsResult
	for _, p := range waiting {
		result.Proposals = append(result.Proposals, protocol.MemoryProposal{
			Proposal: p.ID, Operation: protocol.MemoryOperation(p.Operation), Title: p.Title, Text: p.Text, Tags: p.Tags, Scope: p.Scope, Lasting: p.Lasting,
			ID: p.Record, File: p.Path, Before: p.Before, Session: p.Session, Event: p.Event, Time: p.Time.UTC().Format(time.RFC3339),
		})
	}
	return result, err
}

func (d *daemon) memoryAccept(ctx context.Context, _ *rpc.Client, p *protocol.MemoryAcceptParams) (protocol.MemoryDecideResult, error) {
	var result protocol.MemoryDecideResult
	if p.Edited && len(p.IDs) != 1 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "one proposal is edited at a time")
	}
	var edited *memory.Record
	if p.Edited {
		edited = &memory.Record{Title: p.Title, Text: p.Text, Tags: p.Tags}
	}
	for _, id := range p.IDs {
		change, err := d.kept.Accept(ctx, id, edited)
		if err != nil {
			result.Refused = append(result.Refused, protocol.MemoryRefused{Proposal: id, Message: err.Error()})
			continue
		}
		result.Changes = append(result.Changes, changeForWire(change))
	}
	return result, nothingNamed(p.IDs)
}

func (d *daemon) memoryDrop(ctx context.Context, _ *rpc.Client, p *protocol.MemoryDropParams) (protocol.MemoryDecideResult, error) {
	var result protocol.MemoryDecideResult
	for _, id := range p.IDs {
		if _, err := d.kept.Drop(ctx, id); err != nil {
			result.Refused = append(result.Refused, protocol.MemoryRefused{Proposal: id, Message: err.Error()})
			continue
		}
		result.Dropped = append(result.Dropped, id)
	}
	return result, nothingNamed(p.IDs)
}

func nothingNamed(ids []string) error {
	if len(ids) > 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidParams, "no proposal is named")
}
