package composer

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// earlier is what the model is shown of the turns before this one. It is found once in a turn,
// so that its requests have the same beginning. Fixed is what the rest of the request takes, in
// estimated tokens. New says that it was found by this call.
func (t *Turn) earlier(ctx context.Context, fixed int) (isNew bool, err error) {
	if t.past != nil {
		return false, nil
	}
	factor, err := t.composer.Journal.Correction(ctx, t.Model())
	if err != nil {
		return false, err
	}
	if err := t.checkWindow(); err != nil {
		return false, err
	}
	t.factor = factor
	room := history.Room{Tokens: int(float64(t.window.Room())/factor) - fixed, Turns: t.composer.HistoryTurns}
	past := t.composer.Past
	past.Branch, past.Before = t.branch(), t.program.Before
	shown, err := past.Show(ctx, t.Record.Session, t.Record.ID, room)
	if err != nil {
		return false, err
	}
	t.past = &shown
	return true, nil
}

// branch finds the turns that the model may be shown where HISTORY says that they are not
// those before this one in the conversation, but only those that its question stands below,
// or none; nil where it does not say so. How much of them is shown is not decided here.
func (t *Turn) branch() func(context.Context) ([]*journal.Exchange, error) {
	switch t.Record.Settings.Value(protocol.SettingHistory) {
	case protocol.HistoryNone:
		return func(context.Context) ([]*journal.Exchange, error) { return nil, nil }
	case protocol.HistoryBranch:
		return func(ctx context.Context) ([]*journal.Exchange, error) {
			return t.composer.Journal.Branch(ctx, t.Record.Session, t.Record.Parent)
		}
	}
	return nil
}

// fit makes the turn's own exchange fit beside the earlier turns and the rest of the request, and
// returns what is left of the earlier turns.
func (t *Turn) fit(system string, message llm.Message) []llm.Message {
	t.factor = cmp.Or(t.factor, 1)
	room := int(float64(t.window.Room())/t.factor) - prompt.Tokens(system) - history.Tokens(message)
	return t.Exchange.fit(t.past, room)
}

// Past is what the requests show of the earlier turns; nil before one has asked for it.
func (t *Turn) Past() *history.Shown { return t.past }

// History is what the requests show of the earlier turns, for people; nil if none asked for it.
func (t *Turn) History() *protocol.History {
	if t.past == nil {
		return nil
	}
	d := t.past.Digest
	h := &protocol.History{
		Turns: t.past.Turns, Tokens: t.Corrected(t.past.Tokens), Window: t.Window(), Source: t.window.Source,
		Shortened: t.past.Shortened, Omitted: t.past.Omitted, Summarised: d.Told, Left: max(d.Turns-d.Told, 0),
	}
	if d.Told > 0 {
		h.Digest = d.Seq
	}
	return h
}

// Shorten reports whether the next request can be shorter than the last, which the model found
// too long; once in a turn. Estimate is what that one took, in estimated tokens. What the model
// can be shown is taken to be less from then on, in other turns too.
func (t *Turn) Shorten(ctx context.Context, estimate int) bool {
	if t.shorter || t.past == nil || len(t.past.Messages)+len(t.Exchange.rounds) == 0 {
		return false
	}
	t.shorter = true
	t.composer.refused.note(t.Model(), t.Corrected(estimate)*2/3)
	t.findWindow(ctx)
	return true
}

// Estimate is what a request takes, in estimated tokens.
func Estimate(request llm.Request) int {
	return prompt.Tokens(request.System) + history.Total(request.Messages)
}

// Corrected is an estimate as the model is known to count.
func (t *Turn) Corrected(tokens int) int {
	if t.factor > 0 {
		return int(float64(tokens) * t.factor)
	}
	return tokens
}

// Window is how many tokens the model can be shown, as far as is known.
func (t *Turn) Window() int { return cmp.Or(t.window.Tokens, llm.AssumedWindow) }

// refusals is the source of a window that only the model's refusals tell.
const refusals = "what it refused"

// findWindow asks how much the model can be shown.
func (t *Turn) findWindow(ctx context.Context) {
	if t.window.Tokens == 0 && t.program.Window != nil {
		t.window = t.program.Window(ctx)
	}
	if most := t.composer.refused.of(t.Model()); most > 0 && (t.window.Tokens == 0 || most < t.window.Tokens) {
		t.window.Tokens, t.window.Source = most, refusals
	}
}

// A model with a window of less than leastWindow cannot be told what it needs and answer; one
// with less than smallWindow soon forgets.
const (
	leastWindow = 16_000
	smallWindow = 32_000
)

// checkWindow refuses a model that is known to have too little room.
func (t *Turn) checkWindow() error {
	w := t.window
	if w.Tokens == 0 || w.Tokens >= leastWindow || w.Source == refusals {
		return nil
	}
	return &llm.Error{Class: llm.ClassTooLong,
		Message: fmt.Sprintf("%s can be shown %d tokens, as %s says, and at least %d are needed", t.Model(), w.Tokens, w.Source, leastWindow),
		Advice:  "choose another model, start its server with a larger context, or set WINDOW in config.org if that is wrong"}
}

// small says that the model has not much room; "" where it has.
func (t *Turn) small() string {
	if w := t.window; w.Tokens == 0 || w.Tokens >= smallWindow || w.Source == refusals {
		return ""
	}
	return fmt.Sprintf("the model %s can be shown %d tokens only: of a long conversation it will know the beginning from a summary", t.Model(), t.window.Tokens)
}

// bounds are how much models can be shown, by their names, as far as they have refused more.
// The zero value is ready.
type bounds struct {
	mu     sync.Mutex
	tokens map[string]int
}

func (b *bounds) note(model string, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]int{}
	}
	b.tokens[model] = tokens
}

// of is 0 for a model that has refused nothing.
func (b *bounds) of(model string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens[model]
}

// itemReader has what went along with a question, by the question's event.
type itemReader interface {
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
}

// EarlierQuestion returns what says, for [history.New], what a model was asked in an earlier turn,
// with the time of that turn.
func EarlierQuestion(j itemReader) func(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
	return func(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
		text, err := earlierText(ctx, j, e, whole)
		return llm.Stamped(e.Stamp, text), err
	}
}

func earlierText(ctx context.Context, j itemReader, e *journal.Exchange, whole bool) (string, error) {
	switch {
	case !whole:
		return Enclose(e.Question, e.Context), nil
	case e.Asked != "":
		return e.Asked, nil
	case len(e.Context) == 0:
		return e.Question, nil
	}
	items, err := j.Context(ctx, e.Event)
	if err != nil {
		return "", fmt.Errorf("read what went along with an earlier message: %w", err)
	}
	for i := range items {
		items[i].Data = nil // an image is shown once
	}
	return Enclose(e.Question, items), nil
}
