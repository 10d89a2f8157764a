package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
)

// newGate returns the gate of a turn. The skill is set when it is chosen.
func newGate(r *run) *gate.Gate {
	c := r.agent.config
	return &gate.Gate{
		Policy: r.policy, Judge: r.policy, Kinds: r.kinds, Performer: performer{r}, Hooks: &r.turnHooks, Person: person{r},
		Acts: c.Journal.Acts, Rows: &r.recorder, Turn: gateTurn{r}, Orders: gateTurn{r}, Limits: &r.meter.Budget, Screen: gateScreen{r},
		Beyond: func(a action.Action) string { return r.program.refuses(a, r.where()) },
		Hide:   r.agent.hideIn, Log: r.log,
	}
}

// newLoop returns the loop of a turn. The skill is set when it is chosen.
func newLoop(r *run) *loop.Loop {
	return &loop.Loop{
		Asker: func() loop.Asker { return &asker{run: r} }, Gate: r.gate, Policy: r.policy, Kinds: r.kinds, Rows: &r.recorder,
		Steps: r.steps, Budget: &r.meter.Budget, Turn: r.turn, Where: r.where, Reply: r.reply, Hide: r.agent.Hide, HideIn: r.agent.hideIn, Log: r.log,
	}
}

// performer performs verified actions, and tells the run which one it performs.
type performer struct{ run *run }

func (p performer) Check(ctx context.Context, order kind.Order, a action.Action) error {
	return p.run.kinds.Check(ctx, order, a)
}

func (p performer) Perform(ctx context.Context, order kind.Order) (kind.Result, error) {
	p.run.acting = order
	p.run.steps.Answered(nil)
	return p.run.kinds.Perform(ctx, order)
}

// gateTurn is the turn as its gate sees it.
type gateTurn struct{ run *run }

func (t gateTurn) Event() sexp.List { return t.run.steps.Event() }

func (t gateTurn) Where() policy.Where {
	where := t.run.where()
	where.Outside = t.run.outside()
	return where
}

func (t gateTurn) Order() kind.Order {
	record := t.run.turn.Record
	return kind.Order{
		ID: t.run.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event, Route: record.Question.Route, Tools: t.run.tools}
}

func (t gateTurn) AnswerOrder() kind.Order {
	order := t.Order()
	order.ID = t.run.turn.AnswerID()
	return order
}

// gateScreen shows people how the turn goes on.
type gateScreen struct{ run *run }

func (s gateScreen) Retract()      { s.run.turn.Retract() }
func (s gateScreen) ShowProgress() { s.run.meter.ShowProgress() }
