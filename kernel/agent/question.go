package agent

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// givenAnswer is what a person answered to a question. The journal's part has no secrets; they are
// here, by the names of their fields, and nowhere else.
type givenAnswer struct {
	answer  journal.Answer
	secrets map[string]string
}

// Answer takes a person's answer to a question, given with that kind of client, and lets
// the turn go on. Only a client with the token may call it. The first answer counts: the
// error of a second one, and of one that comes too late, has [protocol.CodeConflict].
func (a *Agent) Answer(ctx context.Context, p protocol.QuestionAnswerParams, client string) (protocol.QuestionAnswerResult, error) {
	none := protocol.QuestionAnswerResult{}
	question, err := a.config.Journal.Question(ctx, p.ID)
	if err != nil {
		return none, err
	}
	if err := question.Open(); err != nil {
		return none, err
	}
	given := givenAnswer{answer: journal.Answer{Declined: p.Declined, Reason: p.Reason}}
	switch {
	case p.Declined && len(p.Answers) > 0:
		return none, protocol.Errorf(protocol.CodeInvalidParams, "a question is answered or declined, not both")
	case !p.Declined && p.Reason != "":
		return none, protocol.Errorf(protocol.CodeInvalidParams, "a :reason is for declining: say :declined, or leave it out")
	case !p.Declined:
		checked, err := question.Form.Check(p.Answers)
		if err != nil {
			return none, err
		}
		given.split(question.Form, checked)
	}
	if len(given.secrets) > 0 && !a.questions.waits(p.ID) {
		return none, protocol.Errorf(protocol.CodeBusy, "the turn does not wait for it yet, as the kernel has just started, and a secret is kept nowhere: answer again in a moment")
	}
	if _, err := a.config.Journal.AnswerQuestion(ctx, p.ID, given.answer, client); err != nil {
		return none, err
	}
	a.questions.say(p.ID, given)
	return protocol.QuestionAnswerResult{ID: p.ID, Declined: p.Declined}, nil
}

// split keeps the secrets apart from what the journal is given.
func (s *givenAnswer) split(form protocol.QuestionForm, answers []protocol.FieldAnswer) {
	for _, a := range answers {
		if fieldOf(form, a.Name).Kind == protocol.FieldSecret {
			if s.secrets == nil {
				s.secrets = map[string]string{}
			}
			s.secrets[a.Name] = a.Values[0]
			a.Values = nil
		}
		s.answer.Answers = append(s.answer.Answers, a)
	}
}

func fieldOf(form protocol.QuestionForm, name string) protocol.FormField {
	for _, f := range form.Fields {
		if f.Name == name {
			return f
		}
	}
	return protocol.FormField{}
}

// questioner puts questions before the person whose turn it is.
type questioner struct{ run *run }

// AskUser implements [tool.Asker]: the action that is being performed asks the form.
func (q questioner) AskUser(ctx context.Context, form protocol.QuestionForm) (string, error) {
	r := q.run
	record := r.turn.Record
	question := journal.Question{
		Question: protocol.Question{
			ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event,
			Skill: nameOf(r.skill), Asked: time.Now().UTC().Format(time.RFC3339), Form: visible(form),
		},
		Act: r.acting.ID, Action: r.acting.Action.Action().Canonical(),
	}
	answered := r.agent.questions.wait(question.ID)
	defer r.agent.questions.forget(question.ID)
	if err := r.agent.config.Journal.AskQuestion(ctx, question); err != nil {
		return "", err
	}
	return q.awaitAnswer(ctx, question, answered)
}

// visible is the form with every character to be seen.
func visible(form protocol.QuestionForm) protocol.QuestionForm {
	form.Title = describe.Visible(form.Title)
	form.Fields = slices.Clone(form.Fields)
	for i := range form.Fields {
		f := &form.Fields[i]
		f.Question, f.Default = describe.Visible(f.Question), describe.Visible(f.Default)
		f.Options = slices.Clone(f.Options)
		for k := range f.Options {
			f.Options[k] = describe.Visible(f.Options[k])
		}
	}
	return form
}

// awaitAnswer shows the question and waits until a person has answered it. The text is for
// whoever asked; what is secret of it is in the answers of the run, for the skill.
func (q questioner) awaitAnswer(ctx context.Context, question journal.Question, answered <-chan givenAnswer) (string, error) {
	r := q.run
	r.log.Info("waiting for an answer", "question", question.ID)
	given, err := personSays(ctx, r, question.ID, func() error { return r.turn.AskQuestion(ctx, question.Question) }, answered)
	if err != nil {
		return "", err
	}
	return r.answerText(question.Form, given)
}

// answerText is what whoever asked is told of an answer.
func (r *run) answerText(form protocol.QuestionForm, given givenAnswer) (string, error) {
	if given.answer.Declined {
		return "", tool.Declined{Reason: given.answer.Reason}
	}
	open, whole := sexp.List{}, sexp.List{}
	for _, a := range given.answer.Answers {
		field := fieldOf(form, a.Name)
		value := answerValue(field, a.Values)
		shown := value
		if field.Kind == protocol.FieldSecret {
			secret, kept := given.secrets[a.Name]
			if !kept {
				return "", errors.New("a secret was given, and the kernel ended before it was used; it is kept nowhere: ask again")
			}
			r.agent.secrets.keep(r.turn.Record.ID, secret)
			value, shown = plist.String(secret), plist.String("given; it is secret, and no model is shown it")
		}
		open = append(open, plist.Keyword(a.Name), shown)
		whole = append(whole, plist.Keyword(a.Name), value)
	}
	r.answers = whole
	return plist.Print(open), nil
}

// answerValue is an answer as a skill gets it.
func answerValue(field protocol.FormField, values []string) sexp.Sexp {
	if len(values) == 0 {
		return sexp.List{}
	}
	switch field.Kind {
	case protocol.FieldChoices:
		list := make(sexp.List, len(values))
		for i, value := range values {
			list[i] = plist.String(value)
		}
		return list
	case protocol.FieldYesNo:
		if values[0] == "no" {
			return sexp.List{}
		}
		return plist.T
	case protocol.FieldNumber:
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil {
			return plist.Int(n)
		}
		if n, err := strconv.ParseFloat(values[0], 64); err == nil {
			return plist.Float(n)
		}
	}
	return plist.String(values[0])
}

// resume waits again for the answer to what was asked before the kernel was started
// anew. An answer that the last kernel did not come to tell counts.
func (q questioner) resume(ctx context.Context, id string) error {
	r := q.run
	answered := r.agent.questions.wait(id)
	defer r.agent.questions.forget(id)
	question, err := r.agent.config.Journal.Question(ctx, id) // after wait: no answer falls between
	if err != nil {
		return err
	}
	switch question.State() {
	case protocol.QuestionAnswered, protocol.QuestionDeclined:
		r.agent.questions.say(id, givenAnswer{answer: question.Answer})
	case protocol.QuestionWithdrawn:
		return interruptedWaiting()
	}
	if err := r.pick(ctx); err != nil {
		return err
	}
	if err := r.recordUntold(ctx, id); err != nil {
		return err
	}
	text, err := q.awaitAnswer(ctx, question, answered)
	if still, ok := errors.AsType[stillAsking](err); ok {
		return still.cause
	}
	r.receipt(ctx, question.Act, kind.Result{Text: text}, err)
	r.recordAnswer(ctx, action.Recorded(question.Action), text, err)
	return nil
}

// recordAnswer records what came of an action that a person answered, or that failed.
func (r *run) recordAnswer(ctx context.Context, a action.Action, text string, err error) {
	res := result{verdict: "performed", text: text, answers: r.answers}
	r.answers = nil
	declined, ok := errors.AsType[tool.Declined](err)
	switch {
	case ok:
		res.verdict, res.text = "denied", declined.Error()
	case err != nil:
		res.verdict, res.text, res.failure = "failed", err.Error(), protocol.ToolErrorOf(err)
	}
	r.recordStep(ctx, a, res)
}
