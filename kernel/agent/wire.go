package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// newGate returns the gate of a turn. The skill is set when it is chosen.
func newGate(r *run) *gate.Gate {
	p := r.plan
	return &gate.Gate{
		Policy: p.policy, Judge: p.policy, Kinds: p.kinds, Performer: performer{p.kinds, r.person, r.steps}, Hooks: r.hooks, Person: r.person,
		Acts: r.agent.config.Journal.Acts, Rows: r.rows, Turn: gateTurn{r.steps, p.scene}, Orders: r.orders, Limits: &r.meter.Budget, Screen: screen{r.turn, r.meter},
		Restriction: func(a action.Action) string { return p.program.refuses(a, p.scene.where()) },
		Hide:        r.agent.desk.Secrets.HideIn, Log: r.log,
	}
}

// newLoop returns the loop of a turn. The skill is set when it is chosen.
func newLoop(r *run) *loop.Loop {
	return &loop.Loop{
		Asker: func() loop.Asker { return r.model.Asker() }, Gate: r.gate, Policy: r.plan.policy, Kinds: r.plan.kinds, Rows: r.rows,
		Steps: r.steps, Budget: &r.meter.Budget, Turn: r.turn, Where: r.plan.scene.where, ReplyAction: r.replyAction,
		Hide: r.agent.Hide, HideIn: r.agent.desk.Secrets.HideIn, Log: r.log,
	}
}

// performer performs verified actions. It sets the order of the running action, which may ask a person.
type performer struct {
	kinds  *kind.Set
	person *person.Turn
	steps  *loop.Steps
}

func (p performer) Check(ctx context.Context, order kind.Order, a action.Action) error {
	return p.kinds.Check(ctx, order, a)
}

func (p performer) Perform(ctx context.Context, order kind.Order) (kind.Result, error) {
	p.person.Order = order
	p.steps.SetAnswers(nil)
	return p.kinds.Perform(ctx, order)
}

// gateTurn is the turn for its gate.
type gateTurn struct {
	steps *loop.Steps
	scene *scene
}

func (t gateTurn) Event() sexp.List { return t.steps.Event() }

func (t gateTurn) Where() policy.Where {
	where := t.scene.where()
	where.Outside = t.scene.Outside()
	return where
}

// orders makes the orders of a turn, with the turn's own tools.
type orders struct {
	newID  func() string
	record journal.Turn
	answer func() string // the id of its answer
	tools  *tool.Registry
}

func (o orders) Order() kind.Order {
	return kind.Order{
		ID: o.newID(), Session: o.record.Session, Turn: o.record.ID, Event: o.record.Event, Route: o.record.Question.Route, Tools: o.tools}
}

func (o orders) AnswerOrder() kind.Order {
	order := o.Order()
	order.ID = o.answer()
	return order
}

// screen shows the running turn to people.
type screen struct {
	turn  *session.Turn
	meter *loop.Meter
}

func (s screen) Retract()      { s.turn.Retract() }
func (s screen) ShowProgress() { s.meter.ShowProgress() }
