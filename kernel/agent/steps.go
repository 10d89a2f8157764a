package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/hook"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// steps is what a turn has come to so far: for the skill, for the model, for the answer's drawer
// and for the journal.
type steps struct {
	turn  *session.Turn
	rows  *recorder
	meter *meter
	kinds *kind.Set
	log   *slog.Logger

	compose *composer.Turn
	results []result
	input   []string           // what came from outside in this turn, for telling quotations
	added   []journal.StepHook // what hooks add to the round that comes next
	foreign string             // what came into this turn that others may have written
	repeats repeats
	doing   time.Time // since when what the model wants is being done
	light   bool      // what is being done changes nothing, and may be done twice
}

// result is what became of one proposal that did not end the turn.
type result struct {
	action  action.Action // as far as it was judged
	verdict string        // "performed", "refused", "denied", "failed"
	text    string
	calls   []kind.Call        // of a batch of tools
	failure protocol.ToolError // its code, where nothing came of it but an error
	answers sexp.List          // of a person, for the skill: the text has them without what is secret
}

func (r result) plist() sexp.List {
	list := sexp.List{
		plist.Keyword("action"), plist.String(r.action.Canonical()),
		plist.Keyword("verdict"), plist.Keyword(r.verdict),
		plist.Keyword("text"), plist.String(r.text),
	}
	list = append(list, history.Failure(r.verdict, r.failure.Code, r.failure.Retryable)...)
	if len(r.calls) == 0 {
		return list
	}
	calls := make(sexp.List, len(r.calls))
	for i, c := range r.calls {
		one := result{verdict: "performed", text: c.Text, failure: protocol.ToolError{Code: c.Code, Retryable: c.Retryable}}
		if c.Failed {
			one.verdict = "failed"
		}
		calls[i] = append(sexp.List{plist.Keyword("tool"), plist.String(c.Tool)}, one.plist()[2:]...)
	}
	return append(list, plist.Keyword("calls"), calls)
}

// event is the context that a skill's functions get:
// (:type :event :id ID :session NAME :turn ID :payload (…) :results (…)).
func (s *steps) event() sexp.List {
	event := eventOf(s.turn.Record)
	if len(s.results) == 0 {
		return event
	}
	list := make(sexp.List, len(s.results))
	for i, result := range s.results {
		one := result.plist()
		if result.answers != nil {
			one = append(one, plist.Keyword("answers"), result.answers)
		}
		list[i] = one
	}
	return append(event, plist.Keyword("results"), list)
}

// recordStep records what became of an action that does not end the turn, for the skill and for
// the model.
func (s *steps) recordStep(ctx context.Context, a action.Action, res result) {
	res.action = a
	round := journal.ToolStep{Action: a.Canonical(), Verdict: res.verdict, Text: res.text, Took: time.Since(s.doing), Code: res.failure.Code, Retryable: res.failure.Retryable, Hooks: s.added}
	s.input, s.added = append(s.input, textsOf(s.added)...), nil
	for _, c := range res.calls {
		round.Calls = append(round.Calls, journal.StepCall(c))
	}
	s.addStep(res, round.Took)
	s.meter.countBeside(ctx)
	s.advise(a, &round)
	s.keepRound(ctx, round)
}

// advise has the model told, behind a result, that it goes round in a circle, or that this was
// the last one: what it may take is used up.
func (s *steps) advise(a action.Action, round *journal.ToolStep) {
	budget := &s.meter.budget
	found, what := s.repeats.note(unnamed(s.kinds, a), *round)
	switch {
	case found == isStopped:
		budget.stop = inCircle + what
		s.log.Warn("the model goes round in a circle", "what", what)
	case found == isWarned:
		round.Note = "You did " + what + ": once more will not give another. Do something else, or tell the user what is in the way."
	}
	if used := budget.round(); used != "" && budget.stop == "" {
		budget.stop = used
	}
	if budget.stop != "" {
		round.Last = true
		round.Note = stopped(budget.stop) + ". In this turn nothing more is done: answer the user now with what you have found, and say what is left to do."
	}
}

// addStep adds what became of a proposal to what the skill is told, and to what the answer shows.
func (s *steps) addStep(res result, took time.Duration) {
	s.results = append(s.results, res)
	if s.foreign == "" {
		s.foreign = s.kinds.Outside(res.action)
	}
	s.showCall(res, took)
	s.input = append(s.input, res.text)
	for _, c := range res.calls {
		s.input = append(s.input, c.Text)
	}
}

// addHooks keeps what hooks add for the round that comes next.
func (s *steps) addHooks(added []hook.Added) {
	for _, a := range added {
		s.added = append(s.added, journal.StepHook(a))
	}
}

// keepAdded keeps what hooks added as a round of its own.
func (s *steps) keepAdded(ctx context.Context) {
	if len(s.added) == 0 {
		return
	}
	s.keepRound(ctx, journal.ToolStep{Hooks: s.added})
	s.input, s.added = append(s.input, textsOf(s.added)...), nil
}

// hear adds what a person said to the turn while it ran.
func (s *steps) hear(ctx context.Context) error {
	said, err := s.turn.NewSteers(ctx)
	for _, text := range said {
		s.keepRound(ctx, journal.ToolStep{Said: text})
	}
	return err
}

// keepRound adds a round to what the model is told, and keeps it for later turns.
func (s *steps) keepRound(ctx context.Context, round journal.ToolStep) {
	if s.light {
		s.rows.recordLater(ctx, journal.KindToolStep, s.turn.AnswerID(), round)
	} else {
		s.rows.recordOf(ctx, journal.KindToolStep, s.turn.AnswerID(), round)
	}
	s.light = false
	s.compose.Exchange.Add(round)
}

// textsOf are the texts that hooks added.
func textsOf(added []journal.StepHook) (texts []string) {
	for _, a := range added {
		texts = append(texts, a.Text)
	}
	return texts
}
