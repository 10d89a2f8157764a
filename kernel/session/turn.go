package session

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Turn is one question being answered. A [Runner] uses it from one goroutine.
type Turn struct {
	// Record is the turn in the journal when it began. Its ID and Event never change, and may be read
	// from any goroutine.
	Record journal.Turn
	// Checkpoint is the progress of the turn before the last kernel ended.
	Checkpoint journal.Progress

	session       *Session
	cancel        context.CancelCauseFunc
	answer        string // the id of its answer
	skill         string // NAME@HASH, for the answer's drawer
	model         string
	state         protocol.TurnState // of an answer that is not whole
	preview       preview
	trail         trail
	requestTokens int         // tokens of its last request
	window        int         // of the model that it went to
	hasResult     bool        // its answer or its notice is in the conversation
	awaits        atomic.Bool // a person, as the journal has it

	steerMu    sync.Mutex
	ended      bool // nothing can be said to it any more
	steersRead bool // all that was said to it was told
}

// begin marks the turn as running and shows it.
func (t *Turn) begin(ctx context.Context) error {
	state := protocol.TurnRunning
	if t.Record.State == protocol.TurnWaiting {
		state = protocol.TurnWaiting
		t.awaits.Store(true)
	}
	err := t.session.retryWrite(ctx, func() error {
		record, err := t.session.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: t.Record.ID, State: state})
		if err == nil {
			t.Record.State, t.Record.Started = record.State, record.Started
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("begin the turn: %w", err)
	}
	if t.Record.RequestedModel == "" {
		if t.Record.RequestedModel, err = t.session.sessions.config.Journal.Sessions.SessionModel(ctx, t.session.name()); err != nil {
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

// resume reads the progress of the turn before the last kernel ended. The answer keeps its id, so that
// later turns find all steps that led to it.
func (t *Turn) resume(ctx context.Context) (err error) {
	if t.Checkpoint, err = t.session.sessions.config.Journal.Turns.Progress(ctx, t.Record.ID); err != nil {
		return err
	}
	t.answer = cmp.Or(t.Checkpoint.Answer, t.answer)
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	for _, round := range t.Checkpoint.Steps {
		if round.Steer != "" {
			t.trail.steers = append(t.trail.steers, round.Steer)
		}
	}
	return nil
}

// Waits reports whether the turn waited for a person when the last kernel ended.
func (t *Turn) Waits() bool { return t.Record.State == protocol.TurnWaiting }

// Describe sets the skill, as NAME@HASH, and the model's name in the answer's drawer. It applies to
// texts that are shown afterwards.
func (t *Turn) Describe(skill, model string) {
	t.skill, t.model = skill, model
}

// SetRequestSize sets the number of tokens of the last request, and of the model's context window.
func (t *Turn) SetRequestSize(shown, window int) { t.requestTokens, t.window = shown, window }

// SetIncomplete marks the next answer as incomplete, with the state as the reason. A person can retry
// such a turn.
func (t *Turn) SetIncomplete(state protocol.TurnState) { t.state = state }

// SetWaiting records whether the turn waits for a person.
func (t *Turn) SetWaiting(ctx context.Context, waiting bool) error {
	state := protocol.TurnRunning
	if waiting {
		state = protocol.TurnWaiting
	}
	_, err := t.session.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: t.Record.ID, State: state})
	if err == nil {
		t.awaits.Store(waiting)
	}
	if err == nil && waiting {
		t.session.file.writeUnkept(ctx) // the wait may take days
	}
	return err
}

// Notify notifies every attached client.
func (t *Turn) Notify(method string, params any) { t.session.viewers.broadcast(method, params) }

// Insert makes text the answer of the turn. It converts the text to
// Org, writes it to the journal with what is sent to the origin of the turn under [Turn.AnswerID], and sends it to every attached client. If no
// client keeps the file, it writes the file. action is the verified action in canonical form. When
// Insert returns nil the journal has the answer.
func (t *Turn) Insert(ctx context.Context, action, text string) error {
	subtree, plain := t.compose(text)
	act := journal.Act{
		ID: t.answer, Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event,
		Kind: journal.ActAnswer, Action: action, Raw: text, Text: subtree, Plain: plain, Final: true,
	}
	messages, err := t.back(ctx, act, text)
	if err != nil {
		return err
	}
	return t.deliver(ctx, act, messages)
}

// explain inserts a notice below the question: why there is no answer, and what the person can do.
func (t *Turn) explain(ctx context.Context, outcome Outcome) error {
	title, body, hint := explanation(outcome)
	id := t.session.sessions.config.NewID()
	converter := org.NewConverter(org.Options{
		QuestionLevel: t.Record.Level, Answer: true, Tags: t.session.sessions.config.heldTags(),
		Properties: []org.Property{{Key: "ID", Value: id}, {Key: "STATE", Value: string(outcome.State)}},
	})
	subtree := t.annotate(converter.Write("* "+title+"\n"+body+hint) + converter.Close())
	act := journal.Act{
		ID: id, Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event,
		Kind: journal.ActNotice, Text: subtree, Plain: title + ": " + body + hint, Final: true,
	}
	var messages []journal.Outgoing
	if t.Record.Question.Route.Kind == protocol.RouteChannel { // other peers learn nothing of this machine's faults
		var err error
		if messages, err = t.back(t.session.sessions.ctx, act, title+": "+body); err != nil {
			t.session.logger().Warn("a notice does not reach the chat of its turn", "turn", t.Record.ID, "err", err)
		}
	}
	return t.deliver(ctx, act, messages)
}

// back returns the messages by which a text reaches the origin of the turn, if that is not this machine.
func (t *Turn) back(ctx context.Context, act journal.Act, text string) ([]journal.Outgoing, error) {
	route, origins := t.Record.Question.Route, t.session.sessions.config.Origins
	if origins == nil || !route.Elsewhere() {
		return nil, nil
	}
	return origins.Compose(ctx, route, act, text)
}

// explanation returns the heading and the text of the notice of a turn without an answer. hint follows
// the text where the reader sees the heading.
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

// deliver writes the act to the journal, with the messages by which it reaches the turn's origin, and then sends it to the
// clients and the file. The order is the promise of [Sessions.Attach]. While the journal cannot be written, deliver waits,
// also after the turn's context has ended.
func (t *Turn) deliver(ctx context.Context, act journal.Act, messages []journal.Outgoing) error {
	err := t.session.retryWrite(t.session.sessions.ctx, func() error {
		return t.session.sessions.config.Journal.Acts.PutActWith(ctx, act, messages)
	})
	if err != nil {
		return err
	}
	if len(messages) > 0 {
		t.session.sessions.config.Origins.Wake()
	}
	t.hasResult = true
	t.session.send(ctx, act, t.Record)
	return nil
}

// change returns the change of the journal's turn at its end.
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
