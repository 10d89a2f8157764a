package loop

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// Steps are the steps of a turn so far. It shows them to the skill, to the model and in the answer's
// drawer, and records them in the journal.
type Steps struct {
	// Question is the event that a skill's functions get before the first step.
	Question sexp.List
	Trail    Trail
	Rows     Rows
	Kinds    Kinds
	Meter    *Meter
	// Exchange tells the model of the steps.
	Exchange Exchange
	Log      *slog.Logger

	steps   []gate.Step
	answers sexp.List // what a person just answered, with what is secret of it
	input   []string  // the texts that the model was shown, which a reply may quote
	outside string
	repeats repeats
	begun   time.Time // when the current action began
}

// Trail shows calls in the drawer of the answer, and has what people say to the turn meanwhile.
type Trail interface {
	AnswerID() string
	Called(call session.Call)
	NewSteers(ctx context.Context) (texts []string, err error)
}

// Rows writes rows of the turn into the journal: RecordNow at once, the others with what the turn
// does next.
type Rows interface {
	Record(ctx context.Context, kind journal.Kind, data any)
	RecordLater(ctx context.Context, kind journal.Kind, id string, data any)
	RecordNow(ctx context.Context, kind journal.Kind, id string, data any) (seq int64)
}

// Kinds is what the loop asks of the kinds of actions.
type Kinds interface {
	// Outside names what others wrote that came into the turn by the action; "" for nothing.
	Outside(a action.Action) string
	// ActsOnID reports whether the :id of the action says what is acted on.
	ActsOnID(a action.Action) bool
	// Silent reports whether nobody is shown what the action does.
	Silent(a action.Action) bool
	IsReply(proposal sexp.List) bool
}

// Exchange shows the model the turn's steps.
type Exchange interface {
	Add(steps ...journal.ToolStep)
}

// Begin notes when the next action begins.
func (s *Steps) Begin() { s.begun = time.Now() }

// Count is how many steps there are.
func (s *Steps) Count() int { return len(s.steps) }

// Input are the texts that the model was shown in this turn. It must not be changed.
func (s *Steps) Input() []string { return s.input }

// Quotable adds texts to the input before all that is there.
func (s *Steps) Quotable(texts []string) { s.input = slices.Concat(texts, s.input) }

// Outside names what others wrote that came into the turn by a step; "" for nothing.
func (s *Steps) Outside() string { return s.outside }

// Answered keeps what a person answered, for the skill, until the step of the question is recorded.
func (s *Steps) Answered(answers sexp.List) { s.answers = answers }

// stepPlist is a step as a skill's functions get it.
func stepPlist(s gate.Step) sexp.List {
	list := sexp.List{
		plist.Keyword("action"), plist.String(s.Action.Canonical()),
		plist.Keyword("verdict"), plist.Keyword(s.Verdict),
		plist.Keyword("text"), plist.String(s.Text),
	}
	list = append(list, history.Failure(s.Verdict, s.Failure.Code, s.Failure.Retryable)...)
	if len(s.Calls) == 0 {
		return list
	}
	calls := make(sexp.List, len(s.Calls))
	for i, c := range s.Calls {
		one := gate.Step{Verdict: gate.Performed, Text: c.Text, Failure: protocol.ToolError{Code: c.Code, Retryable: c.Retryable}}
		if c.Failed {
			one.Verdict = gate.Failed
		}
		calls[i] = append(sexp.List{plist.Keyword("tool"), plist.String(c.Tool)}, stepPlist(one)[2:]...)
	}
	return append(list, plist.Keyword("calls"), calls)
}

// Event is the context that a skill's functions get: see [Event].
func (s *Steps) Event() sexp.List { return Event(s.Question, s.steps...) }

// Event is the context that a skill's functions get after those steps:
// (:type :event :id ID :session NAME :turn ID :payload (…) :results (…)).
func Event(question sexp.List, steps ...gate.Step) sexp.List {
	if len(steps) == 0 {
		return question
	}
	list := make(sexp.List, len(steps))
	for i, step := range steps {
		one := stepPlist(step)
		if step.Answers != nil {
			one = append(one, plist.Keyword("answers"), step.Answers)
		}
		list[i] = one
	}
	return append(slices.Clip(question), plist.Keyword("results"), list)
}

// Record records the step of an action that does not end the turn, for the skill and for the model.
func (s *Steps) Record(ctx context.Context, step gate.Step) {
	row := journal.ToolStep{Action: step.Action.Canonical(), Verdict: step.Verdict, Text: step.Text, Took: time.Since(s.begun),
		Code: step.Failure.Code, Retryable: step.Failure.Retryable, Hooks: step.Hooks}
	s.input = append(s.input, textsOf(step.Hooks)...)
	for _, c := range step.Calls {
		row.Calls = append(row.Calls, journal.StepCall(c))
	}
	s.Add(step, row.Took)
	s.Meter.countBeside(ctx)
	s.advise(step.Action, &row)
	s.keep(ctx, row, step.Light)
}

// advise adds a note to a result: that the model goes round in a circle, or that this was the last
// step, because the budget is used up.
func (s *Steps) advise(a action.Action, row *journal.ToolStep) {
	budget := &s.Meter.Budget
	found, what := s.repeats.note(unnamed(s.Kinds, a), *row)
	switch {
	case found == isStopped:
		budget.stop = inCircle + what
		s.Log.Warn("the model goes round in a circle", "what", what)
	case found == isWarned:
		row.Note = "You did " + what + ": once more will not give another. Do something else, or tell the user what is in the way."
	}
	if used := budget.step(); used != "" && budget.stop == "" {
		budget.stop = used
	}
	if budget.stop != "" {
		row.Last = true
		row.Note = stopped(budget.stop) + ". In this turn nothing more is done: answer the user now with what you have found, and say what is left to do."
	}
}

// Add adds a step for the skill and for the answer's drawer. It is not recorded: the journal has it
// already, or the turn is only shown.
func (s *Steps) Add(step gate.Step, took time.Duration) {
	step.Answers, s.answers = s.answers, nil
	s.steps = append(s.steps, step)
	if s.outside == "" {
		s.outside = s.Kinds.Outside(step.Action)
	}
	s.showCall(step, took)
	s.input = append(s.input, step.Text)
	for _, c := range step.Calls {
		s.input = append(s.input, c.Text)
	}
}

// AddHooks adds what hooks add to the turn, apart from any step.
func (s *Steps) AddHooks(ctx context.Context, added []journal.StepHook) {
	if len(added) == 0 {
		return
	}
	s.keep(ctx, journal.ToolStep{Hooks: added}, false)
	s.input = append(s.input, textsOf(added)...)
}

// AddNote shows the model a remark of the kernel.
func (s *Steps) AddNote(ctx context.Context, note string) {
	s.keep(ctx, journal.ToolStep{Note: note}, false)
}

// Steer adds what a person said to the turn while it ran.
func (s *Steps) Steer(ctx context.Context) error {
	texts, err := s.Trail.NewSteers(ctx)
	for _, text := range texts {
		s.keep(ctx, journal.ToolStep{Said: text}, false)
	}
	return err
}

// Restore shows the model a step that the journal has.
func (s *Steps) Restore(row journal.ToolStep) {
	s.input = append(s.input, textsOf(row.Hooks)...)
	s.Exchange.Add(row)
}

// keep shows the model a row, and writes it into the journal for later turns. The row of an action
// that may be done twice is light: it is written with what the turn does next.
func (s *Steps) keep(ctx context.Context, row journal.ToolStep, light bool) {
	if light {
		s.Rows.RecordLater(ctx, journal.KindToolStep, s.Trail.AnswerID(), row)
	} else {
		s.Rows.RecordNow(ctx, journal.KindToolStep, s.Trail.AnswerID(), row)
	}
	s.Exchange.Add(row)
}

// textsOf are the texts that hooks added.
func textsOf(added []journal.StepHook) (texts []string) {
	for _, a := range added {
		texts = append(texts, a.Text)
	}
	return texts
}

// showCall shows in the answer's drawer what was called, and the verdict.
func (s *Steps) showCall(step gate.Step, took time.Duration) {
	if step.Action.IsZero() {
		return
	}
	if len(step.Calls) == 0 {
		s.Trail.Called(session.Call{Line: step.Action.Line(), Verdict: step.Verdict, Result: step.Text, Took: took})
		return
	}
	calls := step.Action.Calls()
	for i, c := range step.Calls {
		call := session.Call{Line: c.Tool, Verdict: gate.Performed, Result: c.Text, Took: c.Took}
		if i < len(calls) {
			call.Line = calls[i].Line()
		}
		if c.Failed {
			call.Verdict = gate.Failed
		}
		s.Trail.Called(call)
	}
}
