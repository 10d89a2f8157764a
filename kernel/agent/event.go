package agent

import (
	"context"
	"strings"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// event is the context that a skill's functions get:
// (:type :event :id ID :session NAME :turn ID :payload (…) :results (…)).
func (r *run) event() sexp.List {
	event := eventOf(r.turn.Record)
	if len(r.results) > 0 {
		list := make(sexp.List, len(r.results))
		for i, result := range r.results {
			list[i] = result.plist()
			if result.answers != nil {
				list[i] = append(result.plist(), plist.Keyword("answers"), result.answers)
			}
		}
		event = append(event, plist.Keyword("results"), list)
	}
	return event
}

// eventOf is the context when nothing has been done yet.
func eventOf(record journal.Turn) sexp.List {
	text := record.Question.Words()
	if record.Question.Command != "" {
		text = record.Question.Arguments
	}
	sensor := record.Question.Sensor
	if record.Question.Message() {
		sensor = protocol.SensorChatMessage
	}
	payload := sexp.List{
		plist.Keyword("sensor"), plist.Keyword(sensor),
		plist.Keyword("text"), plist.String(text),
		plist.Keyword("channel"), plist.Keyword(record.Question.Route.Channel),
	}
	if record.Question.Command != "" {
		payload = append(payload, plist.Keyword("command"), plist.String(record.Question.Command))
	}
	if len(record.Question.Context) > 0 {
		payload = append(payload, plist.Keyword("context"), contextPlist(record.Question.Context))
	}
	if extra, err := plist.Marshal(record.Question.Payload); err == nil {
		if list, ok := extra.(sexp.List); ok {
			payload = append(payload, list...)
		}
	}
	return sexp.List{
		plist.Keyword("type"), plist.Keyword("event"),
		plist.Keyword("id"), plist.String(record.Event),
		plist.Keyword("session"), plist.String(record.Session),
		plist.Keyword("turn"), plist.String(record.ID),
		plist.Keyword("payload"), payload,
	}
}

// where is the turn for the policy.
func (r *run) where() policy.Where {
	record := r.turn.Record
	return policy.Where{Session: record.Session, Turn: record.ID, Route: record.Question.Route, Projects: r.projectsOf}
}

// reply is text as an action that answers in the conversation of the turn.
func (r *run) reply(text string) action.Proposed {
	return r.agent.config.Kinds.Specs().Answer(r.turn.Record.Question.Route, text)
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

// goOn records what became of a proposal, for the skill and for the model.
func (r *run) goOn(ctx context.Context, a action.Action, res result) {
	res.action = a
	round := journal.Round{Action: a.Canonical(), Verdict: res.verdict, Text: res.text, Took: time.Since(r.doing), Code: res.failure.Code, Retryable: res.failure.Retryable, Hooks: r.added}
	r.input, r.added = append(r.input, textsOf(r.added)...), nil
	for _, c := range res.calls {
		round.Calls = append(round.Calls, journal.RoundCall(c))
	}
	r.came(res, round.Took)
	r.countBeside(ctx)
	r.advise(a, &round)
	r.keepRound(ctx, round)
}

// advise has the model told, behind a result, that it goes round in a circle, or that this was
// the last one: what it may take is used up.
func (r *run) advise(a action.Action, round *journal.Round) {
	found, what := r.repeats.note(unnamed(r.agent.config.Kinds, a), *round)
	switch {
	case found == isStopped:
		r.budget.stop = inCircle + what
		r.log.Warn("the model goes round in a circle", "what", what)
	case found == isWarned:
		round.Note = "You did " + what + ": once more will not give another. Do something else, or tell the user what is in the way."
	}
	if used := r.budget.round(); used != "" && r.budget.stop == "" {
		r.budget.stop = used
	}
	if r.budget.stop != "" {
		round.Last = true
		round.Note = stopped(r.budget.stop) + ". In this turn nothing more is done: answer the user now with what you have found, and say what is left to do."
	}
}

// came adds what became of a proposal to what the skill is told, and to what the answer shows.
func (r *run) came(res result, took time.Duration) {
	r.results = append(r.results, res)
	if r.foreign == "" {
		r.foreign = r.agent.config.Kinds.Outside(res.action)
	}
	r.showCall(res, took)
	r.input = append(r.input, res.text)
	for _, c := range res.calls {
		r.input = append(r.input, c.Text)
	}
}

// blank reports whether there is nothing to show in text.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// contextPlist is what a skill's functions are told of what went along: they see that it
// is there, the model sees what it is.
func contextPlist(items []protocol.ContextItem) sexp.List {
	list := make(sexp.List, len(items))
	for i, item := range items {
		told := sexp.List{
			plist.Keyword("kind"), plist.Keyword(item.Kind), plist.Keyword("name"), plist.String(item.Name),
			plist.Keyword("bytes"), plist.Int(int64(item.Bytes)),
		}
		if item.Place != "" {
			told = append(told, plist.Keyword("place"), plist.String(item.Place))
		}
		list[i] = told
	}
	return list
}
