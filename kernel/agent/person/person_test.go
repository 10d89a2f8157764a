package person_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chewxy/sexp"
	"go.uber.org/goleak"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/describe"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a turn that asks people, on a real journal. It records each thing that it shows as a line.
type fixture struct {
	t       *testing.T
	journal *journal.Journal
	desk    *person.Desk
	turn    *person.Turn
	shown   chan protocol.Ask
	lines   []string
	answers sexp.List
	ids     int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	record, _, err := j.Turns.Accept(t.Context(), protocol.Event{ID: "q1", Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Text: "do it"}, "t1")
	if err == nil {
		record, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "t1", State: protocol.TurnRunning})
	}
	if err != nil {
		t.Fatal(err)
	}
	o := &fixture{t: t, journal: j, shown: make(chan protocol.Ask, 1)}
	o.open(record)
	return o
}

// open opens the turn as a kernel does that starts.
func (o *fixture) open(record journal.Turn) {
	o.desk = person.New(person.Config{Asks: o.journal.Asks, NewID: func() string { o.ids++; return fmt.Sprint("ask-", o.ids) },
		Usable: func(proposed action.Proposed) (action.Proposed, error) {
			if proposed.Action().Text("text") == "" {
				return proposed, errors.New("it has no text")
			}
			return proposed, nil
		}})
	o.turn = &person.Turn{Desk: o.desk, Record: record, Screen: o, Steps: o, Clock: o, Kinds: o, Skill: "plain", Log: slog.New(slog.DiscardHandler)}
}

func (o *fixture) line(text string) { o.lines = append(o.lines, text) }

func (o *fixture) Ask(_ context.Context, ask protocol.Ask) error {
	o.line("shown")
	o.shown <- ask
	return nil
}
func (o *fixture) AskClosed(_ context.Context, id string) { o.line("closed " + id) }
func (o *fixture) SetWaiting(_ context.Context, waits bool) error {
	o.line(fmt.Sprint("waits ", waits))
	return nil
}
func (o *fixture) BeginAction()                 { o.line("begin") }
func (o *fixture) SetAnswers(answers sexp.List) { o.answers = answers }
func (o *fixture) Pause()                       { o.line("pause") }
func (o *fixture) Resume()                      { o.line("resume") }
func (o *fixture) Describe(action.Action, describe.Deps) describe.Description {
	return describe.Description{Summary: "Say it", Text: "it", Language: "text"}
}

// decide makes a person's decision about the next ask that is shown.
func (o *fixture) decide(p protocol.AskDecideParams) (done <-chan error) {
	failed := make(chan error, 1)
	go func() {
		p.ID = (<-o.shown).ID
		_, err := o.desk.Decide(context.Background(), p, edited(p), "emacs")
		failed <- err
	}()
	return failed
}

// edited returns the action of the parameters as the service of the wire reads it.
func edited(p protocol.AskDecideParams) action.Proposed {
	proposed, _ := action.Read(p.Edited) // where it cannot be read the service refuses it
	return proposed
}

func response(t *testing.T, text string) action.Action {
	t.Helper()
	proposed, err := action.Read(`(:type :response :text ` + plist.Print(plist.String(text)) + `)`)
	if err != nil {
		t.Fatal(err)
	}
	return proposed.Action()
}

// TestApproval: a person allows an action, denies it with a reason, or replaces it by another. The
// person's time does not count for the turn. The journal has the ask before it is shown, and the decision.
func TestApproval(t *testing.T) {
	for name, c := range map[string]struct {
		decides protocol.AskDecideParams
		denied  bool
		reason  string
		edited  string
	}{
		"allows": {decides: protocol.AskDecideParams{Decision: protocol.AllowOnce}},
		"denies": {decides: protocol.AskDecideParams{Decision: protocol.Deny, Reason: "not now"}, denied: true, reason: "not now"},
		"edits":  {decides: protocol.AskDecideParams{Decision: protocol.AllowOnce, Edited: `(:type :response :text "other")`}, edited: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newFixture(t)
			a := response(t, "it")
			done := o.decide(c.decides)
			decision, err := o.turn.Decide(t.Context(), policy.Verdict{Action: a, Reason: "it is large"}, "hash")
			if err != nil || decision.Denied != c.denied || decision.Reason != c.reason || decision.Edited.Action().Text("text") != c.edited {
				t.Errorf("%+v, %v", decision, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := strings.Join(o.lines, ", "); got != "pause, waits true, shown, closed ask-1, begin, resume, waits false" {
				t.Errorf("it went %s", got)
			}
			kept, err := o.journal.Asks.Ask(t.Context(), "ask-1")
			if err != nil || kept.Summary != "Say it" || kept.Hash != "hash" || kept.Decision != c.decides.Decision || kept.Client != "emacs" {
				t.Errorf("the journal has %+v, %v", kept, err)
			}
			if _, err := o.desk.Decide(t.Context(), protocol.AskDecideParams{ID: "ask-1", Decision: protocol.AllowOnce}, action.Proposed{}, "cli"); protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Errorf("a second decision: %v", err)
			}
		})
	}
}

// brokenRules are rules of which none can be written.
type brokenRules struct{}

func (brokenRules) Allow(string, string, time.Time) error { return errors.New("it is read-only") }
func (brokenRules) AllowReading(protocol.ReadingOffer, time.Time) error {
	return errors.New("it is read-only")
}

// TestReadingThatCannotBeWritten: where the rules for reading cannot be written, the action is allowed once
// and the person is told. The set was decided about, and is not offered again.
func TestReadingThatCannotBeWritten(t *testing.T) {
	o := newFixture(t)
	o.desk = person.New(person.Config{Asks: o.journal.Asks, NewID: func() string { o.ids++; return fmt.Sprint("ask-", o.ids) }, Rules: brokenRules{}})
	o.turn.Desk = o.desk
	verdict := policy.Verdict{Action: response(t, "it"), Reading: &protocol.ReadingOffer{Directory: "/x", Rows: []protocol.OfferedRow{{Rule: "reads", Matches: "/x/**"}}}}
	results := make(chan protocol.AskDecideResult, 1)
	go func() {
		ask := <-o.shown
		result, err := o.desk.Decide(context.Background(), protocol.AskDecideParams{ID: ask.ID, Decision: protocol.AllowReading}, action.Proposed{}, "emacs")
		if err != nil || ask.Reading == nil {
			result.Note = fmt.Sprint(ask, err)
		}
		results <- result
	}()
	if decision, err := o.turn.Decide(t.Context(), verdict, "hash"); err != nil || decision.Denied {
		t.Errorf("%+v, %v", decision, err)
	}
	if result := <-results; result.Decision != protocol.AllowOnce || result.Note != "it is allowed once only, because the rules for reading could not be written: it is read-only" {
		t.Errorf("%+v", result)
	}
	shown := make(chan protocol.Ask, 1)
	go func() {
		ask := <-o.shown
		_, _ = o.desk.Decide(context.Background(), protocol.AskDecideParams{ID: ask.ID, Decision: protocol.Deny}, action.Proposed{}, "emacs") // the turn tells
		shown <- ask
	}()
	if _, err := o.turn.Decide(t.Context(), verdict, "hash"); err != nil {
		t.Fatal(err)
	}
	if ask := <-shown; ask.Reading != nil {
		t.Error("it is offered again")
	}
}

// deniedMeanwhile are rules during whose writing somebody denies the action.
type deniedMeanwhile struct {
	brokenRules
	deny   func() error
	denied chan error
}

func (r *deniedMeanwhile) Allow(string, string, time.Time) error {
	go func() { r.denied <- r.deny() }()
	select {
	case err := <-r.denied: // nobody kept it from being first
		r.denied <- err
	case <-time.After(50 * time.Millisecond):
	}
	return nil
}

// TestAlwaysAgainstDeny: of two decisions at once the first counts, and a rule is written only for it.
func TestAlwaysAgainstDeny(t *testing.T) {
	o := newFixture(t)
	rules := &deniedMeanwhile{denied: make(chan error, 1)}
	o.desk = person.New(person.Config{Asks: o.journal.Asks, NewID: func() string { o.ids++; return fmt.Sprint("ask-", o.ids) }, Rules: rules})
	o.turn.Desk = o.desk
	failed := make(chan error, 1)
	go func() {
		ask := <-o.shown
		rules.deny = func() error {
			_, err := o.desk.Decide(context.Background(), protocol.AskDecideParams{ID: ask.ID, Decision: protocol.Deny}, action.Proposed{}, "cli")
			return err
		}
		_, err := o.desk.Decide(context.Background(), protocol.AskDecideParams{ID: ask.ID, Decision: protocol.AllowAlways}, action.Proposed{}, "emacs")
		failed <- err
	}()
	decision, err := o.turn.Decide(t.Context(), policy.Verdict{Action: response(t, "it")}, "hash")
	if err != nil || decision.Denied {
		t.Errorf("%+v, %v", decision, err)
	}
	if err := <-failed; err != nil {
		t.Errorf("the decision with the rule: %v", err)
	}
	if err := <-rules.denied; protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("the second decision: %v", err)
	}
}

// TestInvalidDecisions: a decision that cannot be read or used is refused, and the ask still waits.
func TestInvalidDecisions(t *testing.T) {
	o := newFixture(t)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		_, err := o.turn.Decide(ctx, policy.Verdict{Action: response(t, "it")}, "hash")
		ended <- err
	}()
	id := (<-o.shown).ID
	for what, p := range map[string]protocol.AskDecideParams{
		"cannot be used": {Decision: protocol.AllowOnce, Edited: "(:type :response)"},
		"not a decision": {Decision: protocol.Answered},
	} {
		p.ID = id
		if _, err := o.desk.Decide(t.Context(), p, edited(p), "emacs"); protocol.ErrorCode(err) != protocol.CodeInvalidParams || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := o.desk.Decide(t.Context(), protocol.AskDecideParams{ID: "none", Decision: protocol.Deny}, action.Proposed{}, "emacs"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("an ask that is none: %v", err)
	}
	if open, err := o.journal.Asks.OpenAsks(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("what waits is %+v, %v", open, err)
	}
	stopped := errors.New("you stopped this")
	stop(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Errorf("a turn that is stopped while it waits ends with %v", err)
	}
}

var form = protocol.QuestionForm{Title: "Who?", Fields: []protocol.FormField{
	{Name: "name", Question: "Your name?", Kind: protocol.FieldText}, {Name: "key", Question: "The key?", Kind: protocol.FieldSecret}}}

// TestQuestion: the answer is returned as a plist. A secret is in the skill's answers, but in no text and
// in no row of the journal. While the turn runs, it is removed from every text.
func TestQuestion(t *testing.T) {
	o := newFixture(t)
	done := o.decide(protocol.AskDecideParams{Decision: protocol.Answered, Answers: []protocol.FieldAnswer{
		{Name: "name", Values: []string{"Ada"}}, {Name: "key", Values: []string{`swordfish"7`}}}})
	text, err := o.turn.AskUser(t.Context(), form)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "swordfish") || !strings.Contains(text, `:name "Ada"`) {
		t.Errorf("the call returns %s", text)
	}
	if got := plist.Print(o.answers); !strings.Contains(got, `:key "swordfish\"7"`) || !strings.Contains(got, `:name "Ada"`) {
		t.Errorf("the skill is given %s", got)
	}
	rows, err := o.journal.Records.Entries(t.Context(), journal.Query{Turn: "t1"})
	if err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	for _, row := range rows {
		if strings.Contains(string(row.Data), "swordfish") {
			t.Errorf("the journal has %s", row.Data)
		}
	}
	secrets := &o.desk.Secrets
	for _, said := range []string{`the key is swordfish"7.`, `(:key "swordfish\"7")`} {
		if hidden := secrets.Hide(said); strings.Contains(hidden, "swordfish") || !strings.Contains(hidden, "REDACTED") {
			t.Errorf("%s is shown as %s", said, hidden)
		}
	}
	if raw := secrets.HideJSON([]byte(`{"text":"swordfish\"7"}`)); string(raw) != `{"text":"REDACTED"}` {
		t.Errorf("a row is written as %s", raw)
	}
	proposal := secrets.HideIn(sexp.List{plist.Keyword("text"), sexp.List{plist.String(`swordfish"7`)}})
	if got := plist.Print(proposal); got != `(:text ("REDACTED"))` {
		t.Errorf("a proposal is %s", got)
	}
	secrets.Forget("t1")
	if hidden := secrets.Hide(`swordfish"7`); hidden != `swordfish"7` {
		t.Errorf("after its turn it is %s", hidden)
	}
}

// TestDeclinedQuestion: a person declines to answer and gives the reason.
func TestDeclinedQuestion(t *testing.T) {
	o := newFixture(t)
	done := o.decide(protocol.AskDecideParams{Decision: protocol.Declined, Reason: "none of your business"})
	_, err := o.turn.AskUser(t.Context(), form)
	declined, ok := errors.AsType[tool.Declined](err)
	if !ok || declined.Reason != "none of your business" || <-done != nil {
		t.Errorf("%v", err)
	}
}

// TestReopen: after a restart of the kernel a turn waits again for its ask. A decision that a person made
// meanwhile holds. A secret is refused as long as no turn waits for it. A closed ask is not shown again.
func TestReopen(t *testing.T) {
	question := func(o *fixture, form protocol.QuestionForm) string {
		t.Helper()
		ctx, stop := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := o.turn.AskUser(ctx, form)
			ended <- err
		}()
		id := (<-o.shown).ID
		stop(errors.New("the kernel ends"))
		if _, still := errors.AsType[gate.StillWaitingError](<-ended); !still {
			t.Error("a turn that is stopped while it waits does not wait any more")
		}
		o.open(o.turn.Record)
		return id
	}
	plain := []protocol.FieldAnswer{{Name: "name", Values: []string{"Ada"}}}
	name := protocol.QuestionForm{Title: "Who?", Fields: form.Fields[:1]}
	t.Run("a secret", func(t *testing.T) {
		o := newFixture(t)
		id := question(o, form)
		secret := append(plain, protocol.FieldAnswer{Name: "key", Values: []string{"swordfish"}})
		if _, err := o.desk.Decide(t.Context(), protocol.AskDecideParams{ID: id, Decision: protocol.Answered, Answers: secret}, action.Proposed{}, "emacs"); protocol.ErrorCode(err) != protocol.CodeBusy {
			t.Errorf("a secret for nobody: %v", err)
		}
	})
	t.Run("decided before", func(t *testing.T) {
		o := newFixture(t)
		id := question(o, name)
		if _, err := o.desk.Decide(t.Context(), protocol.AskDecideParams{ID: id, Decision: protocol.Answered, Answers: plain}, action.Proposed{}, "emacs"); err != nil {
			t.Fatal(err)
		}
		again, closed, err := o.turn.Reopen(t.Context(), id)
		if err != nil || closed {
			t.Fatal(closed, err)
		}
		defer again.Close()
		if text, err := again.Answer(t.Context()); err != nil || text != `(:name "Ada")` {
			t.Errorf("%s, %v", text, err)
		}
	})
	t.Run("decided behind", func(t *testing.T) {
		o := newFixture(t)
		id := question(o, name)
		again, closed, err := o.turn.Reopen(t.Context(), id)
		if err != nil || closed {
			t.Fatal(closed, err)
		}
		defer again.Close()
		done := o.decide(protocol.AskDecideParams{Decision: protocol.Answered, Answers: plain})
		if text, err := again.Answer(t.Context()); err != nil || text != `(:name "Ada")` || <-done != nil {
			t.Errorf("%s, %v", text, err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		o := newFixture(t)
		id := question(o, name)
		if _, err := o.journal.Asks.CloseAsks(t.Context(), "t1"); err != nil {
			t.Fatal(err)
		}
		if _, closed, err := o.turn.Reopen(t.Context(), id); err != nil || !closed {
			t.Errorf("%v, %v", closed, err)
		}
		if _, _, err := o.turn.Reopen(t.Context(), "none"); protocol.ErrorCode(err) != protocol.CodeNotFound {
			t.Errorf("an ask that is none: %v", err)
		}
	})
}
