package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// speaker is a model that says one thing after the other, and keeps what it was asked last.
type speaker struct {
	says  []string
	asked []llm.Request
}

func (s *speaker) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	s.asked = append(s.asked, request)
	return func(yield func(llm.Delta, error) bool) {
		if len(s.says) == 0 {
			yield(llm.Delta{}, errors.New("it has nothing more to say"))
			return
		}
		text := s.says[0]
		s.says = s.says[1:]
		if yield(llm.Delta{Text: text}, nil) {
			yield(llm.Delta{Finish: llm.FinishStop}, nil)
		}
	}
}

// routed answers events of one route, with a skill that asks the model and one that proposes by
// itself, and says how the turns ended.
type routed struct {
	agent    *agent.Agent
	sessions *session.Sessions
	journal  *journal.Journal
	model    *speaker
	ended    chan journal.Turn
}

func newRouted(t *testing.T, says ...string) *routed {
	t.Helper()
	return newHouse(t, false).routed(t, says...)
}

func (h *household) routed(t *testing.T, says ...string) *routed {
	t.Helper()
	note := "#+begin_src lisp\n" +
		"(defun sensed (c s) (eq (getf (getf c :payload) :sensor) s))\n" +
		"(defskill :asks :priority 90 :trigger (lambda (c) (or (sensed c :weather) (sensed c :heartbeat))) :neuro (lambda (c) (ask-neuro \"What is to be done?\")))\n" +
		"(defskill :writes :priority 80 :trigger (lambda (c) (sensed c :tick)) :neuro (lambda (c) '(:type :log :text \"tick\")))\n" +
		"(defskill :silent :priority 70 :trigger (lambda (c) (sensed c :nothing)) :neuro (lambda (c) nil))\n#+end_src\n"
	home := t.TempDir()
	h.must(os.MkdirAll(filepath.Join(home, "skills"), 0o755))
	h.must(os.WriteFile(filepath.Join(home, "skills", "routes.org"), []byte(note), 0o644))
	h.config.Sources.Skills = skill.New(skill.Config{Home: filepath.Join(home, "skills"), Logger: h.config.Sources.Logger})
	for _, s := range h.config.Sources.Skills.Load(t.Context()) {
		if s.Skill == "" {
			t.Fatalf("%+v", s)
		}
	}
	r := &routed{journal: h.journal, model: &speaker{says: says}, ended: make(chan journal.Turn, 9)}
	h.config.Provider = r.model
	ids := 0
	h.config.NewID = func() string { ids++; return fmt.Sprint("id-", ids) }
	talk := &conversation{}
	kinds := kind.New(act.Kinds(act.Deps{Conversations: talk, Catalog: h.config.Sources.Tools, Logger: h.config.Sources.Logger})...)
	h.config.Kinds, h.config.Policy = func() *kind.Set { return kinds }, &policy.Policy{Home: h.home, Tools: h.config.Sources.Tools, Kinds: kinds}
	r.agent = agent.New(h.config)
	r.sessions = session.New(session.Config{
		Journal: conversationJournal(h.journal), Runner: r.agent, NewID: h.config.NewID, Logger: h.config.Sources.Logger, Now: h.config.Now, InsertionAct: act.Insertion,
		OnTurnEnd: func(turn journal.Turn) { r.ended <- turn },
	})
	talk.Sessions = r.sessions
	t.Cleanup(r.sessions.Close)
	return r
}

// conversationJournal is what the sessions keep in a journal.
func conversationJournal(j *journal.Journal) session.Journal {
	return session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search}
}

// conversation is the sessions, which are made behind the kinds that write into them.
type conversation struct{ *session.Sessions }

// answers has an event answered and returns how its turn ended.
func (r *routed) answers(t *testing.T, route protocol.Route, sensor protocol.Sensor) journal.Turn {
	t.Helper()
	return r.answersEvent(t, route, sensor, "e-"+string(sensor))
}

func (r *routed) answersEvent(t *testing.T, route protocol.Route, sensor protocol.Sensor, id string) journal.Turn {
	t.Helper()
	event := protocol.Event{ID: id, Session: "main", Sensor: sensor, Route: route, Level: 1, Text: "now"}
	if _, err := r.sessions.Submit(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	select {
	case turn := <-r.ended:
		return turn
	case <-time.After(time.Minute):
		t.Fatal("the turn does not end")
		return journal.Turn{}
	}
}

// In a reaction a skill that proposes by itself is not asked again, one that proposes nothing is content, and prose
// of a model is an answer in its conversation.
func TestReactionsTurn(t *testing.T) {
	reaction := protocol.Route{Kind: protocol.RouteReaction, Channel: protocol.ChannelEmacs}
	r := newRouted(t, "It rains.")
	for _, sensor := range []protocol.Sensor{"tick", "nothing", "weather"} {
		if turn := r.answers(t, reaction, sensor); turn.State != protocol.TurnAnswered || turn.Notice != "" {
			t.Errorf("%s ended %s: %s", sensor, turn.State, turn.Notice)
		}
	}
	if len(r.model.asked) != 1 {
		t.Errorf("the model was asked %d times", len(r.model.asked))
	}
}

// Where nobody waits for an answer a turn ends with its last act: a skill that proposes by itself
// is not asked again, one that proposes nothing is content, and prose of a model is no reply.
func TestNobodyAwaitsAnswer(t *testing.T) {
	none := protocol.Route{Kind: protocol.RouteNone}
	r := newRouted(t, `(:type :log :text "it rains")`, "I have written it down.")
	for _, sensor := range []protocol.Sensor{"tick", "nothing", "weather"} {
		if turn := r.answers(t, none, sensor); turn.State != protocol.TurnAnswered || turn.Notice != "" {
			t.Errorf("%s ended %s: %s", sensor, turn.State, turn.Notice)
		}
	}
	if len(r.model.asked) != 2 {
		t.Errorf("the model was asked %d times", len(r.model.asked))
	}
	acts := 0
	rows, err := r.journal.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindToolStep}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var round journal.ToolStep
		if err := json.Unmarshal(row.Data, &round); err != nil || round.Verdict != "performed" {
			t.Errorf("%s: %v", row.Data, err)
		}
		acts++
	}
	if acts != 2 {
		t.Errorf("%d acts were performed", acts)
	}
}

// The same skills on a person's route owe an answer.
func TestPersonAwaitsAnswer(t *testing.T) {
	r := newRouted(t, `(:type :log :text "it rains")`)
	for _, sensor := range []protocol.Sensor{"tick", "nothing", "weather"} {
		if turn := r.answers(t, protocol.LocalRoute(protocol.ChannelEmacs), sensor); turn.State != protocol.TurnFailed {
			t.Errorf("%s ended %s: %s", sensor, turn.State, turn.Notice)
		}
	}
}

// To a peer prose is no reply: the model is told so once, and what it then proposes is done.
func TestProseIsNoReplyToPeer(t *testing.T) {
	r := newRouted(t, "Nice to meet you!", `(:type :response :text "* Hello")`)
	turn := r.answers(t, protocol.Route{Kind: protocol.RoutePeer, Channel: "peer", Chat: "Ada#7F"}, "weather")
	if turn.State != protocol.TurnAnswered || len(r.model.asked) != 2 {
		t.Fatalf("it ended %s: %s; the model was asked %d times", turn.State, turn.Notice, len(r.model.asked))
	}
	messages := r.model.asked[1].Messages
	if last := messages[len(messages)-1].Text; !strings.Contains(last, "prose is no reply here") {
		t.Errorf("the model is told %q", last)
	}
}
