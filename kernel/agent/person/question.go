package person

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/describe"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// AskUser implements [tool.Asker]: it asks a person the form for the running action.
func (t *Turn) AskUser(ctx context.Context, form protocol.QuestionForm) (string, error) {
	shown := visibleForm(form)
	question := protocol.Ask{
		ID: t.Desk.config.NewID(), Sort: protocol.AskQuestion, Session: t.Record.Session, Turn: t.Record.ID, Event: t.Record.Event,
		Opened: time.Now().UTC().Format(time.RFC3339), Form: &shown, Skill: t.Skill,
		Act: t.Order.ID, PendingAction: protocol.PendingAction{Action: t.Order.Action.Action().Canonical()},
	}
	opened, err := t.open(ctx, question)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	return opened.Answer(ctx)
}

// Answer shows the question, waits, and returns the answer as text, without secrets. The skill gets the
// secrets in the answers of the step.
func (w *Waiting) Answer(ctx context.Context) (string, error) {
	w.turn.Log.Info("waiting for an answer", "question", w.Ask.ID)
	decision, err := w.await(ctx)
	if err != nil {
		return "", err
	}
	return w.turn.AnswerText(*w.Ask.Form, decision)
}

// visibleForm returns the form with all invisible characters replaced by visible ones.
func visibleForm(form protocol.QuestionForm) protocol.QuestionForm {
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

// AnswerText returns the result of the asking call, without secrets. It sets the answers with secrets
// for the skill.
func (t *Turn) AnswerText(form protocol.QuestionForm, given Decision) (string, error) {
	if given.Decision == protocol.Declined {
		return "", tool.Declined{Reason: given.Comment}
	}
	open, whole := sexp.List{}, sexp.List{}
	for _, a := range given.Answers {
		field := fieldOf(form, a.Name)
		value := answerValue(field, a.Values)
		shown := value
		if field.Kind == protocol.FieldSecret {
			secret, kept := given.secrets[a.Name]
			if !kept {
				return "", errors.New("a secret was given, but the kernel ended before it was used, and secrets are not stored: ask again")
			}
			t.Desk.Secrets.add(t.Record.ID, secret)
			value, shown = plist.String(secret), plist.String("given; it is secret, and no model is shown it")
		}
		open = append(open, plist.Keyword(a.Name), shown)
		whole = append(whole, plist.Keyword(a.Name), value)
	}
	t.Steps.SetAnswers(whole)
	return plist.Print(open), nil
}

// answerValue returns the value of an answer for skills.
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

// splitSecrets removes the secrets from the answers, because the journal must not have them.
func splitSecrets(form protocol.QuestionForm, given []protocol.FieldAnswer) (answers []protocol.FieldAnswer, secrets map[string]string) {
	for _, a := range given {
		if fieldOf(form, a.Name).Kind == protocol.FieldSecret {
			if secrets == nil {
				secrets = map[string]string{}
			}
			secrets[a.Name] = a.Values[0]
			a.Values = nil
		}
		answers = append(answers, a)
	}
	return answers, secrets
}

func fieldOf(form protocol.QuestionForm, name string) protocol.FormField {
	for _, f := range form.Fields {
		if f.Name == name {
			return f
		}
	}
	return protocol.FormField{}
}
