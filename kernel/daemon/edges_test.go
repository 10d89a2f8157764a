package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
	"org-agent/kernel/sensor"
)

// pigeons is a channel that nothing but this type knows: what it is given to carry, and what it
// brings.
type pigeons struct {
	brings  chan channel.Message
	carried chan channel.Outgoing
	lost    bool
}

func newPigeons() *pigeons {
	return &pigeons{brings: make(chan channel.Message), carried: make(chan channel.Outgoing, 9)}
}

func (*pigeons) Name() string { return "pigeon" }

func (p *pigeons) Run(ctx context.Context, receive func(ctx context.Context, m channel.Message) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-p.brings:
			if err := receive(ctx, m); err != nil {
				return err
			}
		}
	}
}

func (*pigeons) Capabilities() channel.Capabilities { return channel.Capabilities{TextLimit: 4000} }

func (p *pigeons) Send(_ context.Context, out channel.Outgoing) (string, error) {
	if p.lost {
		return "", &channel.Failure{Class: channel.Refused, Err: errors.New("the pigeon was eaten")}
	}
	p.carried <- out
	return out.ID, nil
}

// bring hands a message over, and returns when it was taken.
func (p *pigeons) bring(t *testing.T, m channel.Message) {
	t.Helper()
	select {
	case p.brings <- m:
	case <-within(t).Done():
		t.Fatal("nobody takes the message")
	}
}

func (p *pigeons) carries(t *testing.T) channel.Outgoing {
	t.Helper()
	select {
	case text := <-p.carried:
		return text
	case <-within(t).Done():
		t.Fatal("nothing is sent")
		return channel.Outgoing{}
	}
}

// talkers is a channels.org in which one person owns the agent.
func talkers(channel, id string) string {
	return "* People\n| channel | id | who | role | since |\n|-+-+-+-+-|\n| " + channel + " | " + id + " | me | owner | |\n"
}

// inboxOf returns what is in the inbox.
func inboxOf(t *testing.T, e *rpctest.Editor) []protocol.InboxItem {
	t.Helper()
	var result protocol.InboxListResult
	if err := e.Call(within(t), protocol.MethodInboxList, protocol.InboxListParams{}, &result); err != nil {
		t.Fatal(err)
	}
	return result.Items
}

// TestAnotherChannel: a channel is one value in one list. What is said there is answered there and
// kept in a session of its own; a message is taken once, one of a stranger not at all; prose is an
// answer; what cannot be sent is told; to another chat of it a person is asked first.
func TestAnotherChannel(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: `:text "where`, Reply: `(:type :request :target :pigeon :chat-id "loft 7" :text "* In Samarkand")`},
		llmtest.Exchange{Match: `:text "and when`, Reply: "At noon."},
		llmtest.Exchange{Match: `:text "lose`, Reply: "Never mind."},
		llmtest.Exchange{Match: "^tell the others", Reply: `(:type :request :target :pigeon :chat-id "loft 8" :text "noon")`},
		llmtest.Exchange{Match: "result of pigeon: performed", Reply: insertion("* Told them")})
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro (words c)))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	birds := newPigeons()
	in.write(t, "channels.org", talkers("pigeon", "ada"))
	in.startWith(t, daemon.Config{Channels: []channel.Driver{birds}})
	message := func(id, sender, text string) channel.Message {
		return channel.Message{ID: id, Chat: channel.Chat{ID: "loft 7"}, Sender: channel.Person{ID: sender}, Text: text}
	}
	birds.bring(t, message("1", "mallory", "where are the keys?"))
	birds.bring(t, message("2", "ada", "where is it?"))
	if got := birds.carries(t); got.Chat != "loft 7" || got.Text.Plain != "In Samarkand" {
		t.Errorf("it carries %+v", got)
	}
	birds.bring(t, message("2", "ada", "where is it?")) // once more
	birds.bring(t, message("3", "ada", "and when?"))
	if got := birds.carries(t); got.Text.Plain != "At noon." {
		t.Errorf("it carries %+v", got)
	}
	if told, _ := systems(model); len(told) != 2 || !strings.Contains(told[0], ":target :pigeon :chat-id ") {
		t.Errorf("the model is told %q", told)
	}
	e := in.editor(t, rpctest.Config{Session: "pigeon-loft 7"})
	see(t, e, "both answers", func() bool {
		return strings.Contains(e.Text(), "In Samarkand") && strings.Contains(e.Text(), "At noon.")
	})
	if text := e.Text(); strings.Contains(text, "keys") {
		t.Errorf("the session is\n%s", text)
	}

	main := in.editor(t, rpctest.Config{})
	if got := ask(t, main, "q1", "unanswered"); got.state == "" {
		t.Error("the kernel does not answer in Emacs")
	}
	turn, approval := asked(t, main, "q2", "tell the others")
	if !strings.Contains(approval.Summary, "loft 8 on pigeon") {
		t.Errorf("the approval says %q", approval.Summary)
	}
	if err := decide(t, main, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if got := birds.carries(t); got.Chat != "loft 8" || got.Text.Plain != "noon" {
		t.Errorf("it carries %+v", got)
	}
	if finished, err := main.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Errorf("the turn ended %+v, %v", finished, err)
	}

	birds.lost = true
	birds.bring(t, message("4", "ada", "lose it"))
	until(t, "the failure", func() bool {
		return strings.Contains(fmt.Sprint(inboxOf(t, main)), "the pigeon was eaten")
	})
	if items := fmt.Sprint(inboxOf(t, main)); strings.Count(items, "mallory wrote on pigeon") != 1 {
		t.Errorf("the inbox has %s", items)
	}
}

// TestEveryEndReachesTheChat checks that a message from a chat is answered there, whatever action
// answers it, and that the chat is told why there is no answer.
func TestEveryEndReachesTheChat(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Match: `:text "respond`, Reply: `(:type :response :text "I respond.")`},
		llmtest.Exchange{Match: `:text "insert`, Reply: insertion("I insert.")},
		llmtest.Exchange{Match: `:text "say`, Reply: "I say."},
		llmtest.Exchange{Match: `:text "send`, Reply: `(:type :request :target :pigeon :chat-id "loft 7" :text "I send.")`},
		llmtest.Exchange{Match: `:text "break`, Reply: `(:type :log :text "nothing")`})
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (if (equal (words c) "decide") '(:type :response :text "I decide.") (ask-neuro (words c))))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	birds := newPigeons()
	in.write(t, "channels.org", talkers("pigeon", "ada"))
	in.startWith(t, daemon.Config{Channels: []channel.Driver{birds}})
	e := in.editor(t, rpctest.Config{Session: "pigeon-loft 7"})
	for _, c := range []struct{ says, hears string }{
		{"respond", "I respond."}, {"insert", "I insert."}, {"say", "I say."}, {"send", "I send."}, {"decide", "I decide."},
		{"break", "No answer: The model wrote to the log only and gave no answer."},
	} {
		birds.bring(t, channel.Message{ID: c.says, Chat: channel.Chat{ID: "loft 7"}, Sender: channel.Person{ID: "ada"}, Text: c.says})
		if got := birds.carries(t); got.Chat != "loft 7" || got.Text.Plain != c.hears {
			t.Errorf("to %q it carries %+v", c.says, got)
		}
	}
	if len(birds.carried) > 0 {
		t.Errorf("it carries %+v besides", <-birds.carried)
	}
	see(t, e, "all of it", func() bool {
		return strings.Contains(e.Text(), "I respond.") && strings.Contains(e.Text(), "gave no answer")
	})
}

// thermometer is a sensor that nothing but this type knows.
type thermometer struct{ result chan protocol.EventResult }

func (*thermometer) Name() string { return "thermometer" }

func (s *thermometer) Run(ctx context.Context, take sensor.Take) error {
	for range 2 { // the second time it is known
		result, err := take(ctx, protocol.Event{
			ID: "reading-1", Session: "weather", Sensor: "temperature", Text: "31", Route: protocol.Route{Kind: protocol.RouteNone},
		})
		if err != nil {
			return err
		}
		s.result <- result
	}
	return errors.New("the thermometer fell down")
}

// answering is a note whose skill answers events of a sensor with its own name.
func answering(name, sensor, priority string) string {
	return "#+begin_src lisp\n" +
		"(defskill :" + name + " :priority " + priority +
		" :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) " + sensor + "))" +
		" :neuro (lambda (c) (declare (ignore c)) '(:type :response :text \"* " + name + " saw it\")))\n#+end_src\n"
}

// TestAnotherSensor: a sensor is one value in one list. Its events are for every skill that
// matches, once, and that it ended is told.
func TestAnotherSensor(t *testing.T) {
	in := newInstance(t)
	in.write(t, "skills/warm.org", answering("warm", ":temperature", "70"))
	s := &thermometer{make(chan protocol.EventResult, 2)}
	in.startWith(t, daemon.Config{Sensors: []sensor.Sensor{s}})
	first, second := <-s.result, <-s.result
	if first.Event != "reading-1" || first.Turn == "" || second.Turn != first.Turn {
		t.Errorf("it was taken as %+v and %+v", first, second)
	}
	e := in.editor(t, rpctest.Config{Session: "weather"})
	see(t, e, "the answer", func() bool { return strings.Count(e.Text(), "warm saw it") == 1 })
	noticed(t, e, "the thermometer fell down")
}

// TestInjectedEvents: what a note injects wakes the skills that match it, which may act and owe
// nobody an answer; a note cannot speak for a person.
func TestInjectedEvents(t *testing.T) {
	in := newInstance(t)
	in.write(t, "skills/inject.org", deciding(`(defun think (c)
  (inject-stimulus '(:type :event :payload (:sensor :chimes :text "ding")))
  (handler-case (inject-stimulus '(:type :event :payload (:sensor :chat-message :text "I said this")))
    (error (condition) (kernel-log "~a" condition)))
  (inject-stimulus '(:sensor :nobody :text "dong"))
  '(:type :response :text "* Rung"))
(defskill :rings :priority 90 :trigger #'chosen :neuro #'think)
(defskill :hears :priority 80 :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chimes))
  :neuro (lambda (c) (list :type :log :text (getf (getf c :payload) :text))))`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "ring"); got.state != "answered" {
		t.Fatalf("the turn ended %+v", got)
	}
	rounds := func() []journal.Entry {
		return in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindToolStep}})
	}
	until(t, "the bell being heard", func() bool { return len(rounds()) == 1 })
	if row := rounds()[0]; !strings.Contains(string(row.Data), "ding") {
		t.Errorf("what was done is %s", row.Data)
	}
	log, err := os.ReadFile(in.paths.Log)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(log); !strings.Contains(text, "a note cannot speak for a person") || strings.Contains(text, "injected event dropped") {
		t.Errorf("the log has\n%s", text)
	}
}
