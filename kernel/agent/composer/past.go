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

// findPast selects the part of the earlier turns that the model is shown. It does so once in a turn, so
// that the requests have the same beginning. fixed is the size of the rest of the request, in estimated
// tokens. isNew is set if this call found it.
func (t *Turn) findPast(ctx context.Context, fixed int) (isNew bool, err error) {
	if t.past != nil {
		return false, nil
	}
	factor, err := t.composer.Corrections.Correction(ctx, t.Model())
	if err != nil {
		return false, err
	}
	if err := t.checkWindow(); err != nil {
		return false, err
	}
	t.factor = factor
	room := history.Room{Tokens: int(float64(t.window.Room())/factor) - fixed, Turns: t.composer.HistoryTurns()}
	shown, err := t.turns().Show(ctx, t.Record.Session, t.Record.ID, room)
	if err != nil {
		return false, err
	}
	t.past = &shown
	return true, nil
}

// branch returns the function that finds the turns to be shown if the setting HISTORY restricts them: to
// those that the question stands below, or to none. It returns nil for the turns of the conversation.
func (t *Turn) branch() func(context.Context) ([]*journal.Exchange, error) {
	switch t.program.Settings.History {
	case protocol.HistoryNone:
		return func(context.Context) ([]*journal.Exchange, error) { return nil, nil }
	case protocol.HistoryBranch:
		return func(ctx context.Context) ([]*journal.Exchange, error) {
			return t.composer.Branches.Branch(ctx, t.Record.Session, t.Record.Parent)
		}
	}
	return nil
}

// fit makes room for the turn's own exchange beside the earlier turns and the rest of the request. It reports
// whether less is shown of the earlier turns than before.
func (t *Turn) fit(ctx context.Context, system string, message llm.Message) (less bool, err error) {
	t.factor = cmp.Or(t.factor, 1)
	room := int(float64(t.window.Room())/t.factor) - prompt.Tokens(system) - history.Tokens(t.dialect(), message)
	if err := t.Exchange.fit(ctx, t.turns(), t.past, room); err != nil {
		return false, err
	}
	return t.past.Changed, nil
}

// turns selects the earlier turns.
func (t *Turn) turns() history.Past {
	past := t.composer.Past
	past.Branch, past.Before = t.branch(), t.program.FirstRequest
	return past
}

// Past returns the part of the earlier turns that the requests show; nil before a request wanted it.
func (t *Turn) Past() *history.Excerpt { return t.past }

// History describes that part for people; nil if no request wanted it.
func (t *Turn) History() *protocol.History {
	if t.past == nil {
		return nil
	}
	d := t.past.Compaction
	h := &protocol.History{
		Turns: t.past.Turns, Tokens: t.Corrected(t.past.Tokens), Window: t.Window(), Source: t.window.Source,
		Shortened: t.past.Shortened, Omitted: t.past.Omitted, Summarised: d.SummarisedTurns, Left: max(d.Turns-d.SummarisedTurns, 0),
	}
	if d.SummarisedTurns > 0 {
		h.Compaction = d.Seq
	}
	return h
}

// Shorten reports whether the next request can be shorter than the last, which the model refused as too
// long. It does so once in a turn. estimate is the size of the refused request, in estimated tokens. From
// then on a smaller window is assumed for the model, in other turns too.
func (t *Turn) Shorten(ctx context.Context, estimate int) bool {
	if t.shortened || t.past == nil || len(t.past.Messages)+len(t.Exchange.steps) == 0 {
		return false
	}
	t.shortened = true
	t.composer.refusedSizes.set(t.Model(), t.Corrected(estimate)*2/3)
	t.findWindow(ctx)
	return true
}

// Estimate returns the size of a request in a dialect, in estimated tokens.
func Estimate(dialect llm.Dialect, request llm.Request) int {
	return prompt.Tokens(request.System()) + history.Total(dialect, request.Messages)
}

// dialect returns the dialect of the provider that is asked first.
func (t *Turn) dialect() llm.Dialect { return t.composer.Sources.Dialect }

// Corrected returns an estimate as the model counts.
func (t *Turn) Corrected(tokens int) int {
	if t.factor > 0 {
		return int(float64(tokens) * t.factor)
	}
	return tokens
}

// Window returns the context window of the model in tokens, or the one that is assumed.
func (t *Turn) Window() int { return cmp.Or(t.window.Tokens, llm.AssumedWindow) }

// refusalSource is the source of a window that is known only from the model's refusals.
const refusalSource = "what it refused"

// findWindow finds the context window of the model.
func (t *Turn) findWindow(ctx context.Context) {
	if t.window.Tokens == 0 && t.program.Window != nil {
		t.window = t.program.Window(ctx)
	}
	if most := t.composer.refusedSizes.of(t.Model()); most > 0 && (t.window.Tokens == 0 || most < t.window.Tokens) {
		t.window.Tokens, t.window.Source = most, refusalSource
	}
}

// A window of less than minimumWindow tokens has no room for an answer beside the system prompt, which had 1,870 tokens
// for a model of 8,192. With less than smallWindow a conversation is soon summarised.
const (
	minimumWindow = 4_000
	smallWindow   = 32_000
)

// checkWindow refuses a model whose window is known to be too small.
func (t *Turn) checkWindow() error {
	w := t.window
	if w.Tokens == 0 || w.Tokens >= minimumWindow || w.Source == refusalSource {
		return nil
	}
	return &llm.Error{Class: llm.ClassTooLong,
		Message: fmt.Sprintf("%s can be shown %d tokens, as %s says, and at least %d are needed", t.Model(), w.Tokens, w.Source, minimumWindow),
		Advice:  "choose another model, start its server with a larger context, or set WINDOW in config.org if that is wrong"}
}

// windowWarning returns a warning if the model's window is small, else "".
func (t *Turn) windowWarning() string {
	if w := t.window; w.Tokens == 0 || w.Tokens >= smallWindow || w.Source == refusalSource {
		return ""
	}
	return fmt.Sprintf("the model %s can be shown %d tokens only: of a long conversation it will know the beginning from a summary", t.Model(), t.window.Tokens)
}

// sizeLimits has the assumed largest requests of models that refused a longer one, by their names, in
// tokens. The zero value is ready. It is safe for many goroutines.
type sizeLimits struct {
	mu     sync.Mutex
	tokens map[string]int
}

func (b *sizeLimits) set(model string, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]int{}
	}
	b.tokens[model] = tokens
}

// of returns the bound of a model, 0 if it refused nothing.
func (b *sizeLimits) of(model string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens[model]
}

// EarlierQuestion returns the function for [history.New] that returns the question of an earlier turn as a
// model was sent it, with the time of that turn.
func EarlierQuestion(j Attachments) func(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
	return func(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
		text, err := earlierText(ctx, j, e, whole)
		return llm.Stamped(e.Stamp, text), err
	}
}

func earlierText(ctx context.Context, j Attachments, e *journal.Exchange, whole bool) (string, error) {
	switch {
	case !whole:
		return enclose(e.Question, e.Context), nil
	case e.RenderedQuestion != "":
		return e.RenderedQuestion, nil
	case len(e.Context) == 0:
		return e.Question, nil
	}
	items, err := j.Context(ctx, e.Event)
	if err != nil {
		return "", fmt.Errorf("read the attachments of an earlier message: %w", err)
	}
	for i := range items {
		items[i].Data = nil // an image is shown once
	}
	return enclose(e.Question, items), nil
}
