package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// earlier is what the model is shown of the turns before this one. It is found once in a turn,
// so that its requests have the same beginning. Fixed is what the rest of the request takes, in
// estimated tokens.
func (r *run) earlier(ctx context.Context, fixed int) (*history.Shown, error) {
	if r.past != nil {
		return r.past, nil
	}
	c := r.agent.config
	factor, err := c.Journal.Correction(ctx, r.asks())
	if err != nil {
		return nil, err
	}
	if err := r.checkWindow(); err != nil {
		return nil, err
	}
	r.factor = factor
	room := history.Room{Tokens: int(float64(r.window.Room())/factor) - fixed, Turns: c.HistoryTurns}
	session := r.turn.Record.Session
	past := r.agent.past
	past.Branch, past.Before = r.branch(), r.turn.Begun.First()
	shown, err := past.Show(ctx, session, r.turn.Record.ID, room)
	if err != nil {
		return nil, err
	}
	r.past = &shown
	if r.looked != nil {
		return r.past, nil
	}
	if err := r.agent.past.Keep(ctx, session, shown); err != nil {
		r.log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Digest.By == journal.DigestByCut {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Digest.Turns, r.asks())})
	}
	if shown.Due && !r.window.Silent {
		r.agent.compaction.Start(session)
	}
	return r.past, nil
}

// refusals is how a window is known that nobody told.
const refusals = "what it refused"

// fit makes the request fit when the turn has done so much that it does not any more. What a
// turn had done that goes on after the kernel's end is made to fit as it came, request by
// request, because each request goes on where the last one was made shorter.
func (r *run) fit(request *llm.Request, message llm.Message) {
	if r.factor == 0 {
		r.factor = 1
	}
	room := int(float64(r.window.Room())/r.factor) - prompt.Tokens(request.System) - history.Tokens(message)
	past := request.Messages
	with := func(rounds []journal.Round) {
		request.Messages = past
		if r.past.Tokens+history.Total(r.exchange) > room {
			request.Messages, r.exchange = history.Fit(past, rounds, room-prompt.Tokens(r.past.Preface)) // which stands before one of the messages
		}
	}
	if requests := r.requests; len(requests) > 0 {
		r.requests, r.exchange = nil, nil
		had := 0
		for _, sent := range requests {
			r.exchange = append(r.exchange, exchangeOf(r.rounds[had:sent.Rounds])...)
			had = sent.Rounds
			with(r.rounds[:had])
		}
		r.exchange = append(r.exchange, exchangeOf(r.rounds[had:])...)
	}
	with(r.rounds)
}

// exchangeOf is rounds as the model is told them when they happen.
func exchangeOf(rounds []journal.Round) (exchange []llm.Message) {
	for _, round := range rounds {
		exchange = append(exchange, history.Round(round)...)
	}
	return exchange
}

// shorter reports whether a request that a model found too long can be made shorter: once in a
// turn. What the model can be shown is taken to be less from then on.
func (r *run) shorter(ctx context.Context, err error) bool {
	if llm.ClassOf(err) != llm.ClassTooLong || r.squeezed || r.past == nil || len(r.past.Messages)+len(r.rounds) == 0 {
		return false
	}
	r.squeezed = true
	r.agent.tooLong.note(r.asks(), r.corrected(r.estimate)*2/3)
	r.findWindow(ctx)
	r.log.Info("the model found the request too long, asking with less", "tokens", r.window.Tokens)
	return true
}

// asks is the name of the model that is asked.
func (r *run) asks() string { return cmp.Or(r.turn.Record.Wanted, r.agent.config.Model) }

// findWindow asks how much the model can be shown.
func (r *run) findWindow(ctx context.Context) {
	if r.window.Tokens == 0 && r.agent.config.Window != nil {
		r.window = r.agent.config.Window(ctx, r.turn.Record.Wanted, r.looked == nil)
	}
	if most := r.agent.tooLong.of(r.asks()); most > 0 && (r.window.Tokens == 0 || most < r.window.Tokens) {
		r.window.Tokens, r.window.Source = most, refusals
	}
}

// shownPast is what the request shows of earlier turns, for people; nil if it was not asked for any.
func (r *run) shownPast() *protocol.History {
	if r.past == nil {
		return nil
	}
	d := r.past.Digest
	h := &protocol.History{
		Turns: r.past.Turns, Tokens: r.corrected(r.past.Tokens), Window: r.windowTokens(), Source: r.window.Source,
		Shortened: r.past.Shortened, Omitted: r.past.Omitted, Summarised: d.Told, Left: max(d.Turns-d.Told, 0),
	}
	if d.Told > 0 {
		h.Digest = d.Seq
	}
	return h
}

// corrected is an estimate as the model is known to count.
func (r *run) corrected(tokens int) int {
	if r.factor > 0 {
		return int(float64(tokens) * r.factor)
	}
	return tokens
}

func (r *run) windowTokens() int { return cmp.Or(r.window.Tokens, llm.AssumedWindow) }

// A model with a window of less than leastWindow cannot be told what it needs and answer; one
// with less than smallWindow soon forgets.
const (
	leastWindow = 16_000
	smallWindow = 32_000
)

// checkWindow refuses a model that is known to have too little room, and says once in a
// session when it has not much.
func (r *run) checkWindow() error {
	w := r.window
	switch {
	case w.Tokens == 0 || w.Tokens >= smallWindow || w.Source == refusals:
	case w.Tokens < leastWindow:
		return &llm.Error{Class: llm.ClassTooLong,
			Message: fmt.Sprintf("%s can be shown %d tokens, as %s says, and at least %d are needed", r.asks(), w.Tokens, w.Source, leastWindow),
			Advice:  "choose another model, start its server with a larger context, or set WINDOW in config.org if that is wrong"}
	case r.looked == nil && r.agent.warned.first(r.turn.Record.Session+" "+r.asks()):
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the model %s can be shown %d tokens only: of a long conversation it will know the beginning from a summary", r.asks(), w.Tokens)})
	}
	return nil
}

// earlierQuestion is what a model was asked in an earlier turn, with the same time.
func (a *Agent) earlierQuestion(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
	asked, err := a.earlierWords(ctx, e, whole)
	return llm.Stamped(e.Stamp, asked), err
}

func (a *Agent) earlierWords(ctx context.Context, e *journal.Exchange, whole bool) (string, error) {
	switch {
	case !whole:
		return enclose(e.Question, e.Context), nil
	case e.Asked != "":
		return e.Asked, nil
	case len(e.Context) == 0:
		return e.Question, nil
	}
	items, err := a.config.Journal.Context(ctx, e.Event)
	if err != nil {
		return "", fmt.Errorf("read what went along with an earlier message: %w", err)
	}
	for i := range items {
		items[i].Data = nil // an image is shown once
	}
	return enclose(e.Question, items), nil
}

// keepAsked keeps how the question was asked, so that later turns show it in the same words.
// An image is shown once only.
func (r *run) keepAsked(ctx context.Context, content string, items []protocol.ContextItem) {
	for _, item := range items {
		if now := enclosed(item); len(item.Data) > 0 {
			item.Data = nil
			content = strings.Replace(content, now, enclosed(item), 1)
		}
	}
	if r.kept || content == r.turn.Record.Question.Words() {
		return
	}
	r.kept = true
	r.recordLater(ctx, journal.KindAsked, r.turn.AnswerID(), map[string]string{"text": content})
}

// keepRound adds a round to what the model is told, and keeps it for later turns.
func (r *run) keepRound(ctx context.Context, round journal.Round) {
	if r.light {
		r.recordLater(ctx, journal.KindRound, r.turn.AnswerID(), round)
	} else {
		r.recordOf(ctx, journal.KindRound, r.turn.AnswerID(), round)
	}
	r.light = false
	r.rounds = append(r.rounds, round)
	r.exchange = append(r.exchange, history.Round(round)...)
}

// record has a row of this turn written into the journal with what the turn does next: before the
// reply to a request is used, an action performed or an answer shown. What cannot be kept is
// logged: the turn goes on, its end is kept or fails on its own.
func (r *run) record(ctx context.Context, kind journal.Kind, data any) {
	r.recordLater(ctx, kind, "", data)
}

// recordLater is record for a row that is about what has the id.
func (r *run) recordLater(ctx context.Context, kind journal.Kind, id string, data any) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		return r.agent.config.Journal.Later(context.WithoutCancel(ctx), entry)
	})
}

// recordOf writes such a row at once. It returns the row's number.
func (r *run) recordOf(ctx context.Context, kind journal.Kind, id string, data any) (seq int64) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		row, err := r.agent.config.Journal.Append(context.WithoutCancel(ctx), entry)
		seq = row.Seq
		return err
	})
	return seq
}

// write makes a row and has it written, where this turn is not only looked at.
func (r *run) write(kind journal.Kind, id string, data any, write func(journal.Entry) error) {
	if r.looked != nil {
		return
	}
	raw, err := json.Marshal(data)
	if err == nil {
		err = write(journal.Entry{Kind: kind, Session: r.turn.Record.Session, Turn: r.turn.Record.ID, ID: id, Data: r.agent.hideJSON(raw)})
	}
	if err != nil {
		r.log.Error("journal row not kept", "kind", kind, "err", err)
	}
}
