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

// Journal has the stores of the journal that this package reads and writes.
type Journal struct {
	Transcripts Transcripts
	Models      Models
	Usage       Usage
	Rows        Rows
}

// Transcripts has the turns of conversations, and their compactions.
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

// Models has the model that is chosen for a conversation; "" for none.
type Models interface {
	SessionModel(ctx context.Context, session string) (string, error)
}

// Usage stores the usage of summaries. Correction returns the number of tokens that a model counts for
// an estimated one.
type Usage interface {
	Correction(ctx context.Context, model string) (float64, error)
	PutReplyUsage(ctx context.Context, spent journal.ReplyUsage) error
}

// Rows records the requests for summaries and the replies.
type Rows interface {
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
}

// Past selects the earlier turns that models are shown. Make one with [New].
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
	// cache caches rendered exchanges, by the ids of their answers.
	cache *lru.Cache[string, *piece]
}

// cacheBytes is the size of the cache of rendered exchanges in bytes. The next turn shows the same
// ones.
const cacheBytes = 32 << 20

// New returns a Past for the turns of a journal, measured in a dialect. Question must always return the
// same for a turn.
func New(j Journal, dialect llm.Dialect, question func(ctx context.Context, e *journal.Exchange, whole bool) (string, error)) Past {
	return Past{Journal: j, Dialect: dialect, Question: question, cache: lru.New[string, *piece](cacheBytes)}
}

// Room is the room for the earlier turns.
type Room struct {
	Tokens int
	// Turns is the largest number of turns; 0 is no bound but the journal's own.
	Turns int
}

// Above high tokens texts are shortened, until low tokens remain at most.
func (r Room) high() int { return r.Tokens * 4 / 5 }
func (r Room) low() int  { return r.Tokens / 2 }

// Excerpt is the part of the earlier turns that a model is shown.
type Excerpt struct {
	// Preface is prepended to the first message of the request, which may be the question itself.
	Preface  string
	Messages []llm.Message
	Tokens   int      // estimated
	Input    []string // its texts from outside; a proposal in them is a quotation
	// Outside names a result in the shown turns that other authors may have written, "" if there is
	// none. HasAttachments is set if items were sent along with a question. NotesOutside is set if a
	// summary may be of text of other authors.
	Outside        string
	HasAttachments bool
	NotesOutside   bool
	// Compaction is what the beginning is shown as; the zero value shows all of it.
	Compaction journal.Compaction
	Turns      int // the number of shown turns
	// Shortened and Omitted count the results that are shown in part and not at all.
	Shortened, Omitted int
	// LeftOut counts the turns at the beginning that are neither shown nor summarised.
	LeftOut int
	// Changed is set if less is shown than before: [Past.RecordExcerpt] has to record the new
	// compaction.
	Changed bool
	// SummaryDue is set if a summary should be made now.
	SummaryDue bool
	// latest is the row of the compaction that the new one follows. older is set if Compaction is not
	// that one: an earlier turn is asked again, which must not change what the others are shown.
	latest int64
	older  bool
	// pieces are the shown turns.
	pieces []*piece
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
func (p Past) Show(ctx context.Context, session, turn string, room Room) (Excerpt, error) {
	room.Tokens = max(room.Tokens, 0)
	found, shown, whole, err := p.readTurns(ctx, session, turn, func(d journal.Compaction) int64 { return d.Through })
	if err != nil {
		return Excerpt{}, err
	}
	pieces, err := p.measure(ctx, found, shown.Compaction, room)
	if err != nil {
		return Excerpt{}, err
	}
	view := view{dialect: p.Dialect, room: room, compaction: shown.Compaction, pieces: pieces, whole: whole}
	view.fitRoom()
	err = p.render(ctx, &view, &shown)
	return shown, err
}

// render makes the excerpt that a view shows.
func (p Past) render(ctx context.Context, view *view, shown *Excerpt) (err error) {
	*shown = Excerpt{Changed: view.changed, SummaryDue: view.summaryDue, Compaction: view.compaction, Preface: preface(view.compaction), latest: shown.latest, older: shown.older}
	if notes, err := readSummary(view.compaction.Summary); err == nil {
		shown.NotesOutside = view.compaction.Turns > 0 && !notes.Empty() && !notes.Own
	}
	shown.LeftOut = shown.Compaction.Turns - shown.Compaction.SummarisedTurns
	messages := 0
	for i := view.from; i < len(view.pieces); i++ {
		if view.pieces[i], err = p.renderPiece(ctx, view.pieces[i], view.compaction); err != nil {
			return err
		}
		messages += len(view.pieces[i].messages)
	}
	shown.Messages = make([]llm.Message, 0, messages)
	shown.pieces = view.pieces[view.from:]
	for _, one := range shown.pieces {
		shown.Messages = append(shown.Messages, one.messages...)
		shown.Input = append(shown.Input, one.input...)
		shown.Outside = cmp.Or(shown.Outside, one.outside)
		shown.HasAttachments = shown.HasAttachments || len(one.exchange.Context) > 0
		shown.Shortened, shown.Omitted = shown.Shortened+one.shortened[shortened], shown.Omitted+one.shortened[omitted]
		shown.Turns++
	}
	shown.Tokens = view.total()
	shown.Changed = shown.Changed && !shown.older
	if p.Branch != nil {
		shown.Changed, shown.SummaryDue = false, false
	}
	return nil
}

// RecordExcerpt records what Show has changed, so that the next turn shows the same. It fails with
// CodeConflict if another compaction was recorded meanwhile; that one then counts. What the turn still
// changes is recorded behind it.
func (p Past) RecordExcerpt(ctx context.Context, session string, shown *Excerpt) error {
	if !shown.Changed {
		return nil
	}
	compaction := shown.Compaction
	compaction.After = shown.Tokens
	kept, err := p.Journal.Transcripts.PutCompaction(ctx, session, compaction, shown.latest)
	if err != nil {
		shown.older, shown.Changed = true, false // another one counts
		return fmt.Errorf("record the excerpt of the conversation: %w", err)
	}
	shown.Changed, shown.latest, shown.Compaction = false, kept.Seq, kept
	return nil
}

// readTurns finds the last compaction that applies and returns the exchanges after its last turn.
// lastRow returns the row of that turn. whole is set if no exchange in between is missing.
func (p Past) readTurns(ctx context.Context, session, turn string, lastRow func(journal.Compaction) int64) (found []*journal.Exchange, shown Excerpt, whole bool, err error) {
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
		found, whole, err = p.Journal.Transcripts.HistoryFrom(ctx, session, turn, lastRow(d), 0)
		if err != nil {
			return nil, shown, false, err
		}
		shown.Compaction, shown.older = d, d.Seq != shown.latest
		switch {
		case lastRow(d) == 0, !whole: // all of them, or too many to find the first
			return found, shown, whole, nil
		case len(found) > 0 && found[0].Seq == lastRow(d):
			return found[1:], shown, true, nil
		}
		// Its last turn is not among the turns that led to this one.
	}
	return found, shown, whole, nil
}
