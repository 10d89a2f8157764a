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

// Journal is what is read of a journal, and recorded in it.
type Journal struct {
	Transcripts Transcripts
	Models      Models
	Usage       Usage
	Rows        Rows
}

// Transcripts have the turns of conversations, and their compactions.
type Transcripts interface {
	// HistoryFrom returns the turns before a turn, from a row on. whole is set if none is missing.
	HistoryFrom(ctx context.Context, session, beforeTurn string, from int64, limit int) (exchanges []*journal.Exchange, whole bool, err error)
	// ToolSteps returns the steps of the turn of an answer.
	ToolSteps(ctx context.Context, answer string) ([]journal.ToolStep, error)
	// Compactions are those of a conversation, the latest first.
	Compactions(ctx context.Context, session string) ([]journal.Compaction, error)
	Compaction(ctx context.Context, seq int64) (journal.Compaction, error)
	PutCompaction(ctx context.Context, session string, compaction journal.Compaction, latest int64) (journal.Compaction, error)
}

// Models have the model that is chosen for a conversation; "" for none.
type Models interface {
	SessionModel(ctx context.Context, session string) (string, error)
}

// Usage keeps what summaries take. Correction is what a model counts for an estimated token.
type Usage interface {
	Correction(ctx context.Context, model string) (float64, error)
	PutSpent(ctx context.Context, spent journal.Spent) error
}

// Rows keeps the requests for summaries and the replies.
type Rows interface {
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
}

// Past shows the earlier turns of conversations. Make one with [New].
type Past struct {
	Journal Journal
	// Question returns the text that a model was sent for the question of an earlier turn, whole or
	// without the items that were sent along with it.
	Question func(ctx context.Context, e *journal.Exchange, whole bool) (string, error)
	// Branch, if it is set, returns the turns that are shown instead of those of the session, the
	// oldest first. They have no compaction: those that do not fit are not shown.
	Branch func(ctx context.Context) ([]*journal.Exchange, error)
	// Before is the row of the first request of a turn that goes on after a restart of the kernel.
	// Later compactions do not count for it. 0 for any other turn.
	Before int64
	// Outside names the result of an action if others may have written it, else it returns "". If it
	// is nil, nobody else wrote any result.
	Outside func(a action.Action) string
	// Dialect is the dialect of the provider that is asked first. Lengths are measured in it.
	Dialect llm.Dialect
	// pieces caches rendered exchanges, by the ids of their answers.
	pieces *lru.Cache[string, *piece]
}

// piecesKept is the size of the cache of rendered exchanges in bytes. The next turn is shown the same ones.
const piecesKept = 32 << 20

// New returns a Past for the turns of a journal, measured in a dialect. Question must always return the
// same for a turn.
func New(j Journal, dialect llm.Dialect, question func(ctx context.Context, e *journal.Exchange, whole bool) (string, error)) Past {
	return Past{Journal: j, Dialect: dialect, Question: question, pieces: lru.New[string, *piece](piecesKept)}
}

// Room is the room for the earlier turns.
type Room struct {
	Tokens int
	// Turns is the largest number of turns; 0 is no bound but the journal's own.
	Turns int
}

// Above high tokens something is shortened, until at most low are taken.
func (r Room) high() int { return r.Tokens * 4 / 5 }
func (r Room) low() int  { return r.Tokens / 2 }

// Shown is the part of the earlier turns that a model is shown.
type Shown struct {
	// Preface stands before the first message of the request, which may be the question itself.
	Preface  string
	Messages []llm.Message
	Tokens   int      // estimated
	Input    []string // its texts from outside, by which quotations are recognised
	// Outside names a result of the shown turns that others may have written, "" if there is none.
	// Attached is set if items were sent along with a question. NotedOutside is set if there is a
	// summary of text that others may have written.
	Outside      string
	Attached     bool
	NotedOutside bool
	// Compaction is what the beginning is shown as; the zero value shows all of it.
	Compaction journal.Compaction
	Turns      int // shown
	// Shortened and Omitted count the results that are shown in part and not at all.
	Shortened, Omitted int
	// Left counts the turns at the beginning that are neither shown nor summarised.
	Left int
	// Changed is set if less is shown than before: Keep has to record the new compaction.
	Changed bool
	// Due is set if a summary should be made now.
	Due bool
	// latest is the row of the compaction that the new one follows. older is set if Compaction is not
	// that one: an earlier turn is asked again, which must not change what the others are shown.
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

// Show returns the part of the earlier turns that a turn is shown: as much as before, as long as it
// fits the room.
func (p Past) Show(ctx context.Context, session, turn string, room Room) (Shown, error) {
	room.Tokens = max(room.Tokens, 0)
	found, shown, whole, err := p.read(ctx, session, turn, func(d journal.Compaction) int64 { return d.Through })
	if err != nil {
		return Shown{}, err
	}
	pieces, err := p.weigh(ctx, found, shown.Compaction, room)
	if err != nil {
		return Shown{}, err
	}
	view := view{dialect: p.Dialect, room: room, compaction: shown.Compaction, pieces: pieces, whole: whole}
	view.fit()
	shown.Changed, shown.Due = view.changed, view.due
	shown.Compaction, shown.Preface = view.compaction, preface(view.compaction)
	if notes, err := readSummary(view.compaction.Summary); err == nil {
		shown.NotedOutside = view.compaction.Turns > 0 && !notes.Empty() && !notes.Own
	}
	shown.Left = shown.Compaction.Turns - shown.Compaction.Told
	messages := 0
	for i := view.from; i < len(pieces); i++ {
		if pieces[i], err = p.rendered(ctx, pieces[i], view.compaction); err != nil {
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
	shown.Tokens = view.total()
	shown.Changed = shown.Changed && !shown.older
	if p.Branch != nil {
		shown.Changed, shown.Due = false, false
	}
	return shown, nil
}

// Keep records what Show has changed, so that the next turn is shown the same. It fails if another
// compaction was recorded meanwhile, which then counts.
func (p Past) Keep(ctx context.Context, session string, shown Shown) error {
	if !shown.Changed {
		return nil
	}
	compaction := shown.Compaction
	compaction.After = shown.Tokens
	if _, err := p.Journal.Transcripts.PutCompaction(ctx, session, compaction, shown.latest); err != nil {
		return fmt.Errorf("keep what is shown of the conversation: %w", err)
	}
	return nil
}

// read finds the last compaction that applies and returns the exchanges behind its last turn, whose row
// goes returns. whole is set if none between is missing.
func (p Past) read(ctx context.Context, session, turn string, goes func(journal.Compaction) int64) (found []*journal.Exchange, shown Shown, whole bool, err error) {
	if p.Branch != nil {
		found, err = p.Branch(ctx)
		return found, shown, true, err
	}
	compactions, err := p.Journal.Transcripts.Compactions(ctx, session)
	if err != nil {
		return nil, shown, false, err
	}
	if len(compactions) > 0 {
		shown.latest = compactions[0].Seq
	}
	for _, d := range append(compactions, journal.Compaction{}) {
		if p.Before > 0 && d.Seq > p.Before {
			continue
		}
		found, whole, err = p.Journal.Transcripts.HistoryFrom(ctx, session, turn, goes(d), 0)
		if err != nil {
			return nil, shown, false, err
		}
		shown.Compaction, shown.older = d, d.Seq != shown.latest
		switch {
		case goes(d) == 0, !whole: // all there are, or too many to see where they begin
			return found, shown, whole, nil
		case len(found) > 0 && found[0].Seq == goes(d):
			return found[1:], shown, true, nil
		}
		// Its last turn is not among the turns that led to this one.
	}
	return found, shown, whole, nil
}
