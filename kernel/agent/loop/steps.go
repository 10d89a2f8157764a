package loop

import (
	"context"
	"log/slog"
	"slices"
	"strings"
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
	// Exchange has the messages that show the steps to the model.
	Exchange Exchange
	Log      *slog.Logger

	steps       []gate.Step
	answers     sexp.List // a person's answers, with secrets, for the next step
	input       []string  // the texts that the model was shown; a reply may quote them
	outside     string
	remark      string             // for the model, with the result of the next step
	reply       *journal.StepReply // of the next step's action
	repeats     repeats
	actionStart time.Time // when the current action began
}

// Trail shows calls, and what was said beside them, in drawers of the answer. NewSteers returns the messages that people have sent
// to the running turn since the last call.
type Trail interface {
	AnswerID() string
	AddCall(call session.Call)
	AddCommentary(text string)
	NewSteers(ctx context.Context) (texts []string, err error)
}

// Rows writes rows of the turn into the journal. RecordNow writes at once and returns the number of the
// row, 0 if it failed. The others write together with the next row that is written at once.
type Rows interface {
	Record(ctx context.Context, kind journal.Kind, data any)
	RecordLater(ctx context.Context, kind journal.Kind, id string, data any)
	RecordNow(ctx context.Context, kind journal.Kind, id string, data any) (seq int64)
}

// Kinds has the properties of kinds of actions that the loop depends on.
type Kinds interface {
	// Outside names the text of other authors that the action brought into the turn, "" if it brought
	// none.
	Outside(a action.Action) string
	// ActsOnID reports whether the :id of the action names its object.
	ActsOnID(a action.Action) bool
	// Silent reports whether the effect of the action is shown to nobody.
	Silent(a action.Action) bool
	IsReply(proposal sexp.List) bool
}

// Exchange shows the steps of the turn to the model.
type Exchange interface {
	Add(steps ...journal.ToolStep)
}

// BeginAction notes that the next action begins now.
func (s *Steps) BeginAction() { s.actionStart = time.Now() }

// Count returns the number of steps.
func (s *Steps) Count() int { return len(s.steps) }

// Input returns the texts that the model was shown in this turn. The caller must not change them.
func (s *Steps) Input() []string { return s.input }

// AddQuotable adds texts at the beginning of the input.
func (s *Steps) AddQuotable(texts []string) { s.input = slices.Concat(texts, s.input) }

// SetRemark sets what the model is told with the result of the next step, "" for nothing.
func (s *Steps) SetRemark(remark string) { s.remark = remark }

// SetReply sets what the model wrote of the next step's action, nil if it called no functions.
func (s *Steps) SetReply(reply *journal.StepReply) { s.reply = reply }

// Outside names the text of other authors that a step brought into the turn, "" if none did.
func (s *Steps) Outside() string { return s.outside }

// SetAnswers sets a person's answers to a question. The skill gets them with the step of the question.
func (s *Steps) SetAnswers(answers sexp.List) { s.answers = answers }

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

// Event returns the event with the steps so far, for the skill's functions: see [Event].
func (s *Steps) Event() sexp.List { return Event(s.Question, s.steps...) }

// Event returns the event that a skill's functions get after the steps: (:type :event :id ID :session
// NAME :turn ID :payload (…) :results (…)).
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
	row := journal.ToolStep{Action: step.Action.Canonical(), Verdict: step.Verdict, Text: step.Text, Took: time.Since(s.actionStart),
		Code: step.Failure.Code, Retryable: step.Failure.Retryable, Hooks: step.Hooks, Reply: s.reply}
	s.reply = nil
	s.input = append(s.input, hookTexts(step.Hooks)...)
	for _, c := range step.Calls {
		row.Calls = append(row.Calls, journal.StepCall(c))
	}
	s.Add(step, row.Took)
	s.Meter.countOtherTurns(ctx)
	s.addNote(step.Action, &row)
	s.recordRow(ctx, row, step.Repeatable)
}

// addNote adds a note for the model to a result: that it repeats itself, or that this was the last step
// because the budget is used up.
func (s *Steps) addNote(a action.Action, row *journal.ToolStep) {
	budget := &s.Meter.Budget
	found, what := s.repeats.add(withoutName(s.Kinds, a), *row)
	switch {
	case found == repeatStop:
		budget.stopReason = cyclePrefix + what
		s.Log.Warn("the model goes round in a circle", "what", what)
	case found == repeatWarning:
		row.Note = "You did " + what + ": once more will not give another. Do something else, or tell the user what is in the way."
	}
	if used := budget.countStep(); used != "" && budget.stopReason == "" {
		budget.stopReason = used
	}
	if budget.stopReason != "" {
		row.Last = true
		row.Note = stopSentence(budget.stopReason) + ". In this turn nothing more is done: answer the user now with what you have found, and say what is left to do."
	}
	if s.remark != "" && !row.Last {
		row.Note = strings.TrimSpace(s.remark + " " + row.Note)
	}
	s.remark = ""
}

// Add adds a step for the skill and for the answer's drawer. It writes nothing: the journal has the
// step already, or the turn is a dry run.
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

// AddHooks adds texts that hooks add to the turn and to none of its steps.
func (s *Steps) AddHooks(ctx context.Context, added []journal.StepHook) {
	if len(added) == 0 {
		return
	}
	s.recordRow(ctx, journal.ToolStep{Hooks: added}, false)
	s.input = append(s.input, hookTexts(added)...)
}

// AddNote adds a note of the kernel for the model.
func (s *Steps) AddNote(ctx context.Context, note string) {
	s.recordRow(ctx, journal.ToolStep{Note: note}, false)
}

// Steer adds the messages that a person has sent to the running turn.
func (s *Steps) Steer(ctx context.Context) error {
	texts, err := s.Trail.NewSteers(ctx)
	for _, text := range texts {
		s.recordRow(ctx, journal.ToolStep{Steer: text}, false)
	}
	return err
}

// Restore adds a step that the journal has already, for the model only.
func (s *Steps) Restore(row journal.ToolStep) {
	s.input = append(s.input, hookTexts(row.Hooks)...)
	if row.Reply != nil {
		s.Trail.AddCommentary(row.Reply.Commentary)
	}
	s.Exchange.Add(row)
}

// recordRow adds a row for the model, and writes it into the journal for later turns. The row of a
// repeatable action is written with the next row.
func (s *Steps) recordRow(ctx context.Context, row journal.ToolStep, light bool) {
	if light {
		s.Rows.RecordLater(ctx, journal.KindToolStep, s.Trail.AnswerID(), row)
	} else {
		s.Rows.RecordNow(ctx, journal.KindToolStep, s.Trail.AnswerID(), row)
	}
	s.Exchange.Add(row)
}

// hookTexts returns the texts that hooks added.
func hookTexts(added []journal.StepHook) (texts []string) {
	for _, a := range added {
		texts = append(texts, a.Text)
	}
	return texts
}

// showCall shows the calls of a step, with their verdicts, in the answer's drawer.
func (s *Steps) showCall(step gate.Step, took time.Duration) {
	if step.Action.IsZero() {
		return
	}
	if len(step.Calls) == 0 {
		s.Trail.AddCall(session.Call{Line: step.Action.Line(), Verdict: step.Verdict, Result: step.Text, Duration: took})
		return
	}
	calls := step.Action.Calls()
	for i, c := range step.Calls {
		call := session.Call{Line: c.Tool, Verdict: gate.Performed, Result: c.Text, Duration: c.Took}
		if i < len(calls) {
			call.Line = calls[i].Line()
		}
		if c.Failed {
			call.Verdict = gate.Failed
		}
		s.Trail.AddCall(call)
	}
}
