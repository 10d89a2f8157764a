package session

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Turn is one question being answered. A [Runner] uses it from one goroutine.
type Turn struct {
	// Record is the turn as the journal had it when it began. Its ID and Event
	// never change, and may be read by anyone.
	Record journal.Turn
	// Begun is what was done for the answer before the kernel's end cut it short.
	Begun journal.Progress

	session *Session
	cancel  context.CancelCauseFunc
	answer  string // the id of its answer
	skill   string // NAME@HASH, for the answer's drawer
	model   string
	state   protocol.TurnState // of an answer that is not whole
	preview preview
	trail   trail
	shown   int  // tokens of its last request
	window  int  // of the model that it went to
	final   bool // its answer or its notice is in the conversation

	steerMu sync.Mutex
	ended   bool // nothing can be said to it any more
	heard   bool // all that was said to it was told
}

// begin marks the turn as running and shows it.
func (t *Turn) begin(ctx context.Context) error {
	state := protocol.TurnRunning
	if t.Record.State == protocol.TurnWaiting {
		state = protocol.TurnWaiting
	}
	err := t.session.keep(ctx, func() error {
		record, err := t.session.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: t.Record.ID, State: state})
		if err == nil {
			t.Record.State, t.Record.Started = record.State, record.Started
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("begin the turn: %w", err)
	}
	if t.Record.Wanted == "" {
		if t.Record.Wanted, err = t.session.sessions.config.Journal.Sessions.SessionModel(ctx, t.session.name()); err != nil {
			return fmt.Errorf("begin the turn: %w", err)
		}
	}
	if t.Waits() || t.Record.Attempt > 1 {
		if err := t.resume(ctx); err != nil {
			return fmt.Errorf("begin the turn: %w", err)
		}
	}
	t.session.showQuestion(t.Record)
	return nil
}

// resume finds what was done for the answer before the kernel ended. It goes on under the
// same id, so that later turns are shown all of what led to it.
func (t *Turn) resume(ctx context.Context) (err error) {
	if t.Begun, err = t.session.sessions.config.Journal.Turns.Progress(ctx, t.Record.ID); err != nil {
		return err
	}
	t.answer = cmp.Or(t.Begun.Answer, t.answer)
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	for _, round := range t.Begun.Steps {
		if round.Said != "" {
			t.trail.steers = append(t.trail.steers, round.Said)
		}
	}
	return nil
}

// Waits reports whether the turn had asked a person when the kernel ended.
func (t *Turn) Waits() bool { return t.Record.State == protocol.TurnWaiting }

// Describe sets what the answer's drawer says of its origin: the skill as
// NAME@HASH and the model's name. It counts for text that comes later.
func (t *Turn) Describe(skill, model string) {
	t.skill, t.model = skill, model
}

// Held says how many tokens the last request had, of how many that the model can be shown.
func (t *Turn) Held(shown, window int) { t.shown, t.window = shown, window }

// Incomplete marks the answer that comes as one that is not whole, and says why:
// people can have it answered again.
func (t *Turn) Incomplete(state protocol.TurnState) { t.state = state }

// Waiting shows that the turn waits for a person, or no longer.
func (t *Turn) Waiting(ctx context.Context, waiting bool) error {
	state := protocol.TurnRunning
	if waiting {
		state = protocol.TurnWaiting
	}
	_, err := t.session.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: t.Record.ID, State: state})
	if err == nil && waiting {
		t.session.file.writeUnkept(ctx) // it may be days
	}
	return err
}

// Notify tells every client of the conversation.
func (t *Turn) Notify(method string, params any) { t.session.viewers.broadcast(method, params) }

// Insert makes text the answer of the turn: it is sent to where the turn came from,
// converted to Org, journalled under [Turn.AnswerID], and sent to every attached
// client; where none keeps the file it is written there. Action is the verified
// action, canonical. A nil error means that the journal has it.
func (t *Turn) Insert(ctx context.Context, action, text string) error {
	if err := t.sendBack(ctx, t.answer, text); err != nil {
		return err
	}
	subtree, plain := t.compose(text)
	act := journal.Act{
		ID: t.answer, Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event,
		Kind: journal.ActAnswer, Action: action, Raw: text, Text: subtree, Plain: plain, Final: true,
	}
	return t.deliver(ctx, act)
}

// explain puts the kernel's own words under the question: why there is no
// answer and what to do.
func (t *Turn) explain(ctx context.Context, outcome Outcome) error {
	title, body, hint := explanation(outcome)
	id := t.session.sessions.config.NewID()
	if t.Record.Question.Route.Kind == protocol.RouteChannel { // what is wrong here is not a peer's business
		if err := t.sendBack(t.session.sessions.ctx, id, title+": "+body); err != nil {
			t.session.logger().Warn("a notice does not reach the chat of its turn", "turn", t.Record.ID, "err", err)
		}
	}
	body += hint
	converter := org.NewConverter(org.Options{
		QuestionLevel: t.Record.Level, Answer: true,
		Properties: []org.Property{{Key: "ID", Value: id}, {Key: "STATE", Value: string(outcome.State)}},
	})
	subtree := t.annotate(converter.Write("* "+title+"\n"+body) + converter.Close())
	return t.deliver(ctx, journal.Act{
		ID: id, Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event,
		Kind: journal.ActNotice, Text: subtree, Plain: title + ": " + body, Final: true,
	})
}

// sendBack sends a text to where the turn came from, if that is not this machine.
func (t *Turn) sendBack(ctx context.Context, id, text string) error {
	route, send := t.Record.Question.Route, t.session.sessions.config.Elsewhere
	if send == nil || !route.Elsewhere() {
		return nil
	}
	return send(ctx, route, id, text)
}

// explanation is the heading and the text of a turn without an answer, and what stands
// behind the text for those who have the heading before them.
func explanation(o Outcome) (title, body, hint string) {
	const again = "Press C-c C-c on this heading to have it answered again."
	switch o.State {
	case protocol.TurnCancelled:
		return "Stopped", sentence(o.Notice, "you stopped this turn"), " " + again
	case protocol.TurnInterrupted:
		return "Interrupted", sentence(o.Notice, "the kernel ended while this was being answered"), " " + again
	}
	return "No answer", sentence(o.Notice, "something went wrong; the log says more"), "\n" + again
}

// deliver journals the act and brings it to the clients and the file. While the
// journal cannot be written it waits, however the turn's context fares.
func (t *Turn) deliver(ctx context.Context, act journal.Act) error {
	err := t.session.keep(t.session.sessions.ctx, func() error {
		return t.session.sessions.config.Journal.Acts.PutAct(ctx, act)
	})
	if err != nil {
		return err
	}
	t.final = true
	t.session.send(ctx, act, t.Record)
	return nil
}

// change is what the journal is told of the turn's end.
func (t *Turn) change(o Outcome) journal.TurnChange {
	model := o.Model
	if model == "" {
		model = t.model
	}
	change := journal.TurnChange{
		ID: t.Record.ID, State: o.State, Skill: &t.skill, Model: &model, Notice: &o.Notice,
		Input: o.Input, Output: o.Output,
	}
	if o.Cost != nil {
		change.Cost = *o.Cost
	}
	return change
}
