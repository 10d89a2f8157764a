package journal

import (
	"sync"
	"sync/atomic"
	"testing"

	"org-agent/kernel/protocol"
)

func questioning(id string, turn Turn) Question {
	return Question{
		Question: protocol.Question{ID: id, Session: turn.Session, Turn: turn.ID, Event: turn.Event, Form: protocol.QuestionForm{
			Title: "Printing", Fields: []protocol.FormField{{Name: "copies", Kind: protocol.FieldNumber, Question: "How many?"}}}},
		Act: "act-" + id, Action: "(:type :request)",
	}
}

func TestQuestionIsAnsweredOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	must(t, j.AskQuestion(ctx, questioning("f1", turn)))
	wantCode(t, j.AskQuestion(ctx, questioning("f1", turn)), protocol.CodeConflict)
	wantCode(t, j.AskQuestion(ctx, questioning("f2", Turn{ID: "nowhere", Session: "main"})), protocol.CodeNotFound)
	wantCode(t, j.AskQuestion(ctx, Question{Question: protocol.Question{ID: "f2", Turn: turn.ID, Session: "main"}}), protocol.CodeInvalidParams)
	_, err := j.AnswerQuestion(ctx, "f2", Answer{}, "cli")
	wantCode(t, err, protocol.CodeNotFound)

	answer := Answer{Answers: []protocol.FieldAnswer{{Name: "copies", Values: []string{"3"}}, {Name: "token"}}}
	var group sync.WaitGroup
	var taken atomic.Int32
	for range 8 {
		group.Go(func() {
			if _, err := j.AnswerQuestion(ctx, "f1", answer, "cli"); err == nil {
				taken.Add(1)
			} else if protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 {
		t.Errorf("answered %d times", taken.Load())
	}
	got, err := j.Question(ctx, "f1")
	if err != nil || got.State() != protocol.QuestionAnswered || got.Client != "cli" || got.Act != "act-f1" || got.Action != "(:type :request)" || got.Asked == "" ||
		len(got.Answer.Answers) != 2 || got.Answer.Answers[0].Values[0] != "3" || got.Form.Title != "Printing" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestQuestionSurvivesAndEndsWithItsTurn(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	path := j.path
	turn := accepted(t, j, "q1", "main", "text")
	set(t, j, turn.ID, protocol.TurnWaiting)
	must(t, j.AskQuestion(ctx, questioning("f1", turn)))
	must(t, j.AskQuestion(ctx, questioning("f2", turn)))
	must(t, j.Close())
	j = reopen(t, path)
	open, err := j.OpenQuestions(ctx)
	must(t, err)
	if len(open) != 2 || open[0].ID != "f1" || open[0].Open() != nil {
		t.Fatalf("%+v waits", open)
	}
	// Declining is an answer, and no client's name makes it look withdrawn.
	declined, err := j.AnswerQuestion(ctx, "f1", Answer{Declined: true, Reason: "no"}, "")
	must(t, err)
	if declined.State() != protocol.QuestionDeclined {
		t.Errorf("declined is %s", declined.State())
	}
	set(t, j, turn.ID, protocol.TurnCancelled)
	withdrawn, err := j.Question(ctx, "f2")
	must(t, err)
	if withdrawn.State() != protocol.QuestionWithdrawn {
		t.Errorf("withdrawn is %q", withdrawn.State())
	}
	_, err = j.AnswerQuestion(ctx, "f2", Answer{}, "emacs")
	wantCode(t, err, protocol.CodeConflict)
	if open, err := j.OpenQuestions(ctx); err != nil || len(open) != 0 {
		t.Errorf("%+v waits, %v", open, err)
	}
	if again, err := j.WithdrawQuestions(ctx, turn.ID); err != nil || len(again) != 0 {
		t.Errorf("withdrawn again: %+v, %v", again, err)
	}
	checkWhole(t, j)
}
