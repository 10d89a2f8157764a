package reply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chewxy/sexp"
	"go.uber.org/goleak"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/reply"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage has everything that a turn works with but the model. It records each call as a line.
type stage struct {
	t        *testing.T
	script   *llmtest.Script
	turn     *reply.Turn
	asker    loop.Asker
	lines    []string
	rows     []journal.Entry
	warning  string
	streams  bool
	refuses  string // a proposal with this text is not previewed
	shorter  bool   // a request can be composed shorter
	usedUp   error
	taken    loop.RequestUsage
	composed int
	spent    journal.ReplyUsage
	served   int         // the window that the server says
	images   []llm.Image // of the request
}

func newStage(t *testing.T, turns ...llmtest.Turn) *stage {
	t.Helper()
	s := &stage{t: t, script: &llmtest.Script{Name: "script", Turns: turns}, streams: true}
	s.provider(s.script)
	return s
}

// provider makes the turn ask a provider.
func (s *stage) provider(provider llm.Provider) {
	sender := reply.New(reply.Config{
		Provider: provider, Dialect: dialect.NewPlist(), Model: func() string { return "usual" }, Past: s, Summarise: func(session string) { s.say("summarise %s", session) },
		ServedWindow: func(context.Context, string) int { return s.served },
		Hide:         func(text string) string { return strings.ReplaceAll(text, "swordfish", "REDACTED") },
	})
	s.turn = &reply.Turn{
		Sender: sender, Record: journal.Turn{ID: "t1", Session: "main", Question: protocol.Event{Text: "hello"}}, Requests: s, Steps: s, Meter: s, Rows: s,
		Screen: s, Gate: s, OnModel: func(model string) { s.say("model %s", model) },
		Answer: func(text string) action.Proposed {
			return action.Propose(sexp.List{plist.Keyword("type"), plist.Keyword("response"), plist.Keyword("text"), plist.String(text)})
		},
		Plain: true,
		Log:   slog.New(slog.DiscardHandler),
	}
	s.asker = s.turn.Asker()
}

func (s *stage) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *stage) said(want ...string) {
	s.t.Helper()
	if got := strings.Join(s.lines, "\n"); got != strings.Join(want, "\n") {
		s.t.Errorf("it went\n%s\nand not\n%s", got, strings.Join(want, "\n"))
	}
}

func (s *stage) Compose(_ context.Context, ask skill.Ask) (composer.Composition, error) {
	s.composed++
	return composer.Composition{Purpose: "why", Warning: s.warning, Question: "hello, with what was sent along", Request: llm.Request{
		Sections: llm.System("Be brief."), Messages: []llm.Message{{Role: llm.RoleUser, Text: ask.Text, Images: s.images}}}}, nil
}
func (s *stage) Shorten(context.Context, int) bool { was := s.shorter; s.shorter = false; return was }
func (s *stage) Corrected(tokens int) int          { return tokens }
func (s *stage) Window() int                       { return 1000 }
func (s *stage) Model() string                     { return "asked" }
func (s *stage) History() *protocol.History        { return nil }
func (s *stage) Steer(context.Context) error       { return nil }
func (s *stage) AddQuotable([]string)              {}
func (s *stage) Input() []string                   { return nil }
func (s *stage) Allows(context.Context) error      { return s.usedUp }
func (s *stage) ShowProgress()                     {}
func (s *stage) ShowWait(wait *protocol.ModelWait) {
	if wait == nil {
		s.say("goes on")
		return
	}
	s.say("waits for %s, %s, at %s, attempt %d", wait.Host, wait.Reason, wait.At[len("2000-01-01T"):], wait.Attempt)
}
func (s *stage) Count(_ context.Context, took loop.RequestUsage, of journal.ReplyUsage) {
	s.taken, s.spent = took, of
	s.say("spent by %s", of.Model)
}
func (s *stage) Record(ctx context.Context, kind journal.Kind, data any) {
	s.RecordNow(ctx, kind, "", data)
}
func (s *stage) RecordLater(ctx context.Context, kind journal.Kind, id string, data any) {
	s.RecordNow(ctx, kind, id, data)
}
func (s *stage) RecordNow(_ context.Context, kind journal.Kind, id string, data any) int64 {
	raw, err := json.Marshal(data)
	if err != nil {
		s.t.Error(err)
	}
	s.rows = append(s.rows, journal.Entry{Kind: kind, ID: id, Data: raw})
	return int64(len(s.rows))
}
func (s *stage) AnswerID() string             { return "answer" }
func (s *stage) Streams() bool                { return s.streams }
func (s *stage) Pause() time.Duration         { return 0 }
func (s *stage) Preview(text string)          { s.say("shown %s", text) }
func (s *stage) Retract()                     { s.say("taken back") }
func (s *stage) AddThought(text string)       { s.say("thought %s", text) }
func (s *stage) AddCommentary(text string)    { s.say("commentary %s", text) }
func (s *stage) SetRequestSize(_, window int) { s.say("of %d", window) }
func (s *stage) Notify(_ string, given any)   { s.say("told %s", given.(protocol.Notice).Text) }
func (s *stage) Previews(_ context.Context, proposal sexp.List) bool {
	return s.refuses == "" || !strings.Contains(plist.Print(proposal), s.refuses)
}
func (s *stage) RecordExcerpt(context.Context, string, *history.Excerpt) error { return nil }

// row returns the data of the only row of a kind.
func (s *stage) row(kind journal.Kind) (data map[string]any) {
	s.t.Helper()
	for _, row := range s.rows {
		if row.Kind != kind {
			continue
		}
		if data != nil {
			s.t.Fatalf("there are several rows of the kind %s", kind)
		}
		if err := json.Unmarshal(row.Data, &data); err != nil {
			s.t.Fatal(err)
		}
	}
	return data
}

// TestReplyIsPreviewed: the text that the gate lets pass is shown in batches, the first words at once, and
// thoughts are shown apart from it. Request, question and reply are recorded, and their usage is counted.
func TestReplyIsPreviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, llmtest.Turn{llmtest.Reasoning("hm"), llmtest.Text(`(:type :response :text "One`), llmtest.Pause(time.Second), llmtest.Text(` two")`),
			llmtest.FinishWith(llm.FinishStop, &llm.Usage{Input: 5, Output: 7})})
		text, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello swordfish"})
		if err != nil || text != `(:type :response :text "One two")` {
			t.Fatalf("%q, %v", text, err)
		}
		s.said("taken back", "model usual", "of 1000", "shown One", "thought hm", "shown One two", "spent by usual")
		if request := s.script.Requests()[0]; request.Messages[0].Text != "hello REDACTED" || s.taken.Tokens() != 12 {
			t.Errorf("%+v was sent, %+v counted", request, s.taken)
		}
		if sent := s.row(journal.KindModelRequest); sent["System"] != "Be brief." || sent["For"] != "why" {
			t.Errorf("the journal has the request as %v", sent)
		}
		if asked := s.row(journal.KindShownQuestion); asked["text"] != "hello, with what was sent along" {
			t.Errorf("the journal has the question as %v", asked)
		}
		if kept := s.row(journal.KindModelReply); kept["text"] != text || kept["thoughts"] != "hm" || kept["finish"] != "stop" || kept["model"] != "usual" {
			t.Errorf("the journal has the reply as %v", kept)
		}
	})
}

// TestPlainTextIsPreviewed: a plain text is shown as it comes. What stands before a proposal or a call is no
// answer and is removed. With a call it is commentary, unless the gate refuses it.
func TestPlainTextIsPreviewed(t *testing.T) {
	calling := func(_ context.Context, _ llm.Request, emit llmtest.Emit) error {
		return emit(llm.Delta{Calls: []llm.FunctionCall{{ID: "1", Name: "read", Arguments: "{}"}}})
	}
	for name, c := range map[string]struct {
		turn   llmtest.Turn
		change func(s *stage)
		want   []string
	}{
		"text":            {llmtest.Turn{llmtest.Text("One"), llmtest.Pause(time.Second), llmtest.Text(" two"), llmtest.Finish(llm.FinishStop)}, nil, []string{"shown One", "shown One two"}},
		"what may be one": {llmtest.Turn{llmtest.Text("One ("), llmtest.Pause(time.Second), llmtest.Text("two)"), llmtest.Finish(llm.FinishStop)}, nil, []string{"shown One", "shown One (two)"}},
		"then a proposal": {llmtest.Turn{llmtest.Text("One "), llmtest.Text(`(:type :log)`), llmtest.Finish(llm.FinishStop)}, nil, []string{"shown One", "taken back"}},
		"then an answer":  {llmtest.Turn{llmtest.Text("One "), llmtest.Text(`(:type :response :text "Two")`), llmtest.Finish(llm.FinishStop)}, nil, []string{"shown One", "shown Two"}},
		"to nobody":       {llmtest.Turn{llmtest.Text("One"), llmtest.Finish(llm.FinishStop)}, func(s *stage) { s.turn.Plain = false }, nil},
		"refused":         {llmtest.Turn{llmtest.Text("One"), llmtest.Finish(llm.FinishStop)}, func(s *stage) { s.refuses = "One" }, nil},
		"then a call":     {llmtest.Turn{llmtest.Text("One"), calling, llmtest.Finish(llm.FinishTools)}, nil, []string{"shown One", "taken back", "commentary One"}},
		"refused, a call": {llmtest.Turn{llmtest.Text("One"), calling, llmtest.Finish(llm.FinishTools)}, func(s *stage) { s.refuses = "One" }, []string{"taken back"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c.turn)
				if c.change != nil {
					c.change(s)
				}
				if _, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"}); err != nil {
					t.Fatal(err)
				}
				got := slices.DeleteFunc(s.lines, func(line string) bool { return line == "spent by usual" })
				if want := slices.Concat([]string{"taken back", "model usual", "of 1000"}, c.want); !slices.Equal(got, want) {
					t.Errorf("it went %q and not %q", got, want)
				}
			})
		})
	}
}

// TestNoPreview: a reply is not previewed if the gate refuses it, if no client would show it, or if the
// skill asked silently.
func TestNoPreview(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *stage)
		ask    skill.Ask
	}{
		"refused":   {func(s *stage) { s.refuses = "One" }, skill.Ask{Text: "hello"}},
		"unwatched": {func(s *stage) { s.streams = false }, skill.Ask{Text: "hello"}},
		"silent":    {func(*stage) {}, skill.Ask{Text: "hello", NoStream: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, llmtest.Turn{llmtest.Text(`(:type :response :text "One`), llmtest.Pause(time.Second), llmtest.Text(` two")`), llmtest.Finish(llm.FinishStop)})
				c.change(s)
				if _, err := s.asker.Ask(t.Context(), c.ask); err != nil {
					t.Fatal(err)
				}
				s.said("taken back", "model usual", "of 1000", "spent by usual")
			})
		})
	}
}

// TestRetry: an unusable reply goes back to the model with the reason and an example. The journal does not
// have the messages twice.
func TestRetry(t *testing.T) {
	s := newStage(t, llmtest.Say("nonsense"), llmtest.Say("sense"))
	if _, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if text, err := s.asker.Retry(t.Context(), "nonsense", "it is nonsense"); err != nil || text != "sense" {
		t.Fatal(text, err)
	}
	sent := s.script.Requests()[1].Messages
	if len(sent) != 3 || sent[1].Text != "nonsense" || !strings.Contains(sent[2].Text, "it is nonsense") || !strings.Contains(sent[2].Text, `"Your answer"`) {
		t.Errorf("the model is told %+v", sent)
	}
	var last struct {
		Base       int64
		Same       int
		SameSystem bool
		Messages   []any
	}
	if err := json.Unmarshal(s.rows[len(s.rows)-2].Data, &last); err != nil || last.Base == 0 || last.Same != 1 || !last.SameSystem || len(last.Messages) != 2 {
		t.Errorf("the journal has %s, %v", s.rows[len(s.rows)-2].Data, err)
	}
}

// TestTooLong: a request that the model refuses as too long is composed once more, shorter. If it cannot
// be shorter, the model's error is returned.
func TestTooLong(t *testing.T) {
	s := newStage(t, llmtest.Turn{llmtest.FailAs(llm.ClassTooLong)}, llmtest.Say("sense"))
	s.shorter = true
	if text, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"}); err != nil || text != "sense" || s.composed != 2 || s.asker.Outcome().Fault != nil {
		t.Errorf("%q, %v after %d, %+v", text, err, s.composed, s.asker.Outcome())
	}
	s = newStage(t, llmtest.Turn{llmtest.FailAs(llm.ClassTooLong)})
	if _, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"}); llm.ClassOf(err) != llm.ClassTooLong || s.composed != 1 || s.asker.Outcome().Fault == nil {
		t.Errorf("%v after %d, %+v", err, s.composed, s.asker.Outcome())
	}
}

// TestCut: the beginning of a reply that broke off is kept, with its error.
func TestCut(t *testing.T) {
	s := newStage(t, llmtest.Turn{llmtest.Text("One tw"), llmtest.FailAs(llm.ClassTruncated)})
	_, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"})
	if last := s.asker.Outcome(); llm.ClassOf(err) != llm.ClassTruncated || last.Partial != "One tw" || last.Fault == nil {
		t.Errorf("%v, %+v", err, last)
	}
	if kept := s.row(journal.KindModelReply); kept["text"] != "One tw" || kept["err"] == nil {
		t.Errorf("the journal has %v", kept)
	}
}

// TestStopped: stopping a turn ends the reply at once, with the cause. A turn without budget sends no
// request.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, llmtest.Turn{llmtest.Text("One"), llmtest.Hang()})
		ctx, stop := context.WithCancelCause(t.Context())
		cause := errors.New("you stopped this")
		time.AfterFunc(time.Minute, func() { stop(cause) })
		if _, err := s.asker.Ask(ctx, skill.Ask{Text: "hello"}); !errors.Is(err, cause) || s.asker.Outcome().Partial != "One" {
			t.Errorf("%v, %+v", err, s.asker.Outcome())
		}
	})
	s := newStage(t)
	s.usedUp = errors.New("it is used up")
	if _, err := s.asker.Ask(t.Context(), skill.Ask{Text: "hello"}); !errors.Is(err, s.usedUp) || len(s.script.Requests()) > 0 || !errors.Is(s.asker.Outcome().Fault, s.usedUp) {
		t.Errorf("%v, %+v", err, s.asker.Outcome())
	}
}

// TestWarnedOnce: a person is warned once in a conversation, however many requests it sends.
func TestWarnedOnce(t *testing.T) {
	s := newStage(t, llmtest.Say("a"), llmtest.Say("b"))
	s.warning = "its window is small"
	for range 2 {
		if _, err := s.turn.Asker().Ask(t.Context(), skill.Ask{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(strings.Join(s.lines, "\n"), s.warning); got != 1 {
		t.Errorf("it is told %d times", got)
	}
}
