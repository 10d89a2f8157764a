package history

import (
	"cmp"
	"context"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
)

// Exchanges reads the turns of conversations.
type Exchanges interface {
	// HistoryFrom returns the turns before one, from a row on; whole says that none is missing.
	HistoryFrom(ctx context.Context, session, beforeTurn string, from int64, limit int) (exchanges []*journal.Exchange, whole bool, err error)
	// ToolSteps returns the steps that led to an answer.
	ToolSteps(ctx context.Context, answer string) ([]journal.ToolStep, error)
}

// Digests reads and records the compactions of a conversation.
type Digests interface {
	Compactions(ctx context.Context, session string) ([]journal.Compaction, error)
	Compaction(ctx context.Context, seq int64) (journal.Compaction, error)
	PutCompaction(ctx context.Context, session string, compaction journal.Compaction, latest int64) (journal.Compaction, error)
}

// Requests keeps what summaries take, and knows which models make them.
type Requests interface {
	SessionModel(ctx context.Context, session string) (string, error)
	Correction(ctx context.Context, model string) (float64, error)
	PutSpent(ctx context.Context, spent journal.Spent) error
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
}

// Journal is what is kept of conversations. kernel/journal implements it.
type Journal interface {
	Exchanges
	Digests
	Requests
}

// Past shows the earlier turns of conversations. Make one with [New].
type Past struct {
	Journal Journal
	// Question is what a model was asked in an earlier turn: as it was then, or without what
	// went along with it.
	Question func(ctx context.Context, e *journal.Exchange, whole bool) (string, error)
	// Branch, if there is one, finds the turns in the place of those before the present one
	// in its session, the oldest first. They have no digest: what does not fit is not shown.
	Branch func(ctx context.Context) ([]*journal.Exchange, error)
	// Before is the row of the first request of a turn that goes on after the kernel's end:
	// what has become of the earlier turns since then is nothing to it. 0 for any other turn.
	Before int64
	// Outside names what came of an action if others may have written that, "" if not; nil: nobody
	// did.
	Outside func(a action.Action) string
	// pieces are exchanges as they were rendered last, by their answers.
	pieces *lru.Cache[string, *piece]
}

// piecesKept is how many bytes of rendered exchanges are kept: the next turn is shown the same.
const piecesKept = 32 << 20

// New returns what shows the earlier turns of a journal. Question is what a model was asked in
// one of them, and always the same.
func New(j Journal, question func(ctx context.Context, e *journal.Exchange, whole bool) (string, error)) Past {
	return Past{Journal: j, Question: question, pieces: lru.New[string, *piece](piecesKept)}
}

// Room is what there is for the earlier turns.
type Room struct {
	Tokens int
	// Turns is how many are shown at most; 0 is no bound but the journal's own.
	Turns int
}

// When so much of the room is taken something is done, after which about half is.
func (r Room) high() int { return r.Tokens * 4 / 5 }
func (r Room) low() int  { return r.Tokens / 2 }

// Shown is what a model is shown of the earlier turns.
type Shown struct {
	// Preface stands before the first message of all, which may be the present question's.
	Preface  string
	Messages []llm.Message
	Tokens   int      // of all of it, estimated
	Input    []string // what of it came from outside, for telling quotations
	// Outside names something that came of what was done on the way to the answers and that others
	// may have written, and Attached is whether something went along with a question.
	// NotedOutside: there is a summary, and others may have written some of what it was made of.
	Outside      string
	Attached     bool
	NotedOutside bool
	// Digest is what the beginning is shown as; the zero value is as it was said.
	Digest journal.Compaction
	Turns  int // shown
	// Shortened and Omitted are how many results are shown in part and not at all.
	Shortened, Omitted int
	// Left is how many turns of those at the beginning are neither shown nor summarised.
	Left int
	// Changed is whether less is shown than before: the digest is a new one, to be kept.
	Changed bool
	// Due is whether a summary should be made now.
	Due bool
	// latest is the digest that the new one follows, and older is whether there are later
	// ones: an earlier turn is asked again, which must change nothing for the others.
	latest int64
	older  bool
}

// outside is [Past.Outside] for a row.
func (p Past) outside(r journal.ToolStep) string {
	if r.Action == "" || p.Outside == nil {
		return ""
	}
	return p.Outside(action.Recorded(r.Action))
}

// Show returns what is shown to the turn: as much as before as long as it fits the room.
func (p Past) Show(ctx context.Context, session, turn string, room Room) (Shown, error) {
	room.Tokens = max(room.Tokens, 0)
	found, shown, whole, err := p.read(ctx, session, turn, func(d journal.Compaction) int64 { return d.Through })
	if err != nil {
		return Shown{}, err
	}
	pieces, err := p.weigh(ctx, found, shown.Digest, room)
	if err != nil {
		return Shown{}, err
	}
	view := view{room: room, digest: shown.Digest, pieces: pieces, whole: whole}
	view.settle()
	shown.Changed, shown.Due = view.changed, view.due
	shown.Digest, shown.Preface = view.digest, preface(view.digest)
	if notes, err := ReadSummary(view.digest.Summary); err == nil {
		shown.NotedOutside = view.digest.Turns > 0 && !notes.Empty() && !notes.Own
	}
	shown.Left = shown.Digest.Turns - shown.Digest.Told
	messages := 0
	for i := view.from; i < len(pieces); i++ {
		if pieces[i], err = p.rendered(ctx, pieces[i], view.digest); err != nil {
			return Shown{}, err
		}
		messages += len(pieces[i].messages)
	}
	shown.Messages = make([]llm.Message, 0, messages)
	for _, one := range pieces[view.from:] {
		shown.Messages = append(shown.Messages, one.messages...)
		shown.Input = append(shown.Input, one.input...)
		shown.Outside = cmp.Or(shown.Outside, one.outside)
		shown.Attached = shown.Attached || len(one.exchange.Context) > 0
		shown.Shortened, shown.Omitted = shown.Shortened+one.cut[shortened], shown.Omitted+one.cut[omitted]
		shown.Turns++
	}
	shown.Messages = Joined(shown.Messages)
	shown.Tokens = view.total()
	shown.Changed = shown.Changed && !shown.older
	if p.Branch != nil {
		shown.Changed, shown.Due = false, false
	}
	return shown, nil
}

// Keep records what Show has changed, so that the next turn is shown the same. When something
// else has changed meanwhile, that counts.
func (p Past) Keep(ctx context.Context, session string, shown Shown) error {
	if !shown.Changed {
		return nil
	}
	digest := shown.Digest
	digest.After = shown.Tokens
	if _, err := p.Journal.PutCompaction(ctx, session, digest, shown.latest); err != nil {
		return fmt.Errorf("keep what is shown of the conversation: %w", err)
	}
	return nil
}

// read returns the exchanges behind the turn up to which the last digest that applies goes,
// as goes says. Whole: none between is missing.
func (p Past) read(ctx context.Context, session, turn string, goes func(journal.Compaction) int64) (found []*journal.Exchange, shown Shown, whole bool, err error) {
	if p.Branch != nil {
		found, err = p.Branch(ctx)
		return found, shown, true, err
	}
	digests, err := p.Journal.Compactions(ctx, session)
	if err != nil {
		return nil, shown, false, err
	}
	if len(digests) > 0 {
		shown.latest = digests[0].Seq
	}
	for _, d := range append(digests, journal.Compaction{}) {
		if p.Before > 0 && d.Seq > p.Before {
			continue
		}
		found, whole, err = p.Journal.HistoryFrom(ctx, session, turn, goes(d), 0)
		if err != nil {
			return nil, shown, false, err
		}
		shown.Digest, shown.older = d, d.Seq != shown.latest
		switch {
		case goes(d) == 0, !whole: // all there is, or too much to see where it begins
			return found, shown, whole, nil
		case len(found) > 0 && found[0].Seq == goes(d):
			return found[1:], shown, true, nil
		}
		// The turn it goes up to is no part of what led to this one.
	}
	return found, shown, whole, nil
}
