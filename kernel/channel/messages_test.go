package channel_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// sent is what a dove carries.
type sent struct{ id, chat, text string }

// doves is a channel for tests. It delivers messages, and records the errors of receive and the texts
// that are sent. failure is the error of Run and of Send.
type doves struct {
	messages []channel.Message
	errors   []error
	sent     []sent
	failure  error
}

func (*doves) Name() string { return "dove" }
func (d *doves) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	for _, m := range d.messages {
		d.errors = append(d.errors, receive(ctx, m))
	}
	return d.failure
}
func (*doves) Capabilities() channel.Capabilities { return channel.Capabilities{TextLimit: 4000} }
func (d *doves) Send(_ context.Context, out channel.Outgoing) (string, error) {
	d.sent = append(d.sent, sent{out.ID, out.Chat, out.Text.Plain})
	return out.ID, d.failure
}

// Insert records the text that goes into the conversation of a turn.
func (d *doves) Insert(_ context.Context, session, turn, _, text string) error {
	d.sent = append(d.sent, sent{"answer of " + turn, session, text})
	return nil
}

// TestMessages checks that a message becomes an event with a route to its chat, in a session of that
// chat. The message of a stranger is not answered, and the driver gets the error for a message that the
// kernel could not accept.
func TestMessages(t *testing.T) {
	long := strings.Repeat("long", 100)
	d := &doves{messages: []channel.Message{
		{ID: "1", Chat: channel.Chat{ID: "loft"}, Sender: channel.Person{ID: "ada"}, Text: "hello", Sent: time.Unix(7, 0)}, {ID: "2", Chat: channel.Chat{ID: "loft"}, Sender: channel.Person{ID: "eve"}, Text: "hello"},
		{ID: long, Chat: channel.Chat{ID: long, Group: true}, Sender: channel.Person{ID: "ada"}, Text: "all of you"}, {ID: "4", Chat: channel.Chat{ID: "loft"}, Sender: channel.Person{ID: "ada"}, Text: "full"},
	}, failure: errors.New("the wind is too strong")}
	full := errors.New("the disk is full")
	var events []protocol.Event
	take := func(_ context.Context, event protocol.Event) (protocol.EventResult, error) {
		events = append(events, event)
		if event.Text == "full" {
			return protocol.EventResult{}, full
		}
		return protocol.EventResult{}, nil
	}
	log := slog.New(slog.DiscardHandler)
	if err := channel.Run(t.Context(), d, channel.Config{Take: take, May: func(m channel.Message) bool { return m.Sender.ID == "ada" }, Logger: log}); !errors.Is(err, d.failure) {
		t.Errorf("it ended with %v", err)
	}
	if len(events) != 3 || d.errors[0] != nil || d.errors[1] != nil || !errors.Is(d.errors[3], full) {
		t.Fatalf("the events are %+v, the errors %v", events, d.errors)
	}
	first := events[0]
	if first.ID != "dove-1" || first.Session != "dove-loft" || first.Sensor != protocol.SensorChatMessage || first.Text != "hello" || !first.Stamp.Equal(time.Unix(7, 0)) ||
		first.Route != (protocol.Route{Kind: protocol.RouteChannel, Channel: "dove", Chat: "loft"}) || first.Payload.Get(protocol.PayloadGroup) != nil {
		t.Errorf("a message: %+v", first)
	}
	if group := events[1]; !protocol.ValidID(group.ID) || !protocol.ValidSession(group.Session) || group.Route.Chat != long || group.Payload.Get(protocol.PayloadGroup) != true {
		t.Errorf("a message to a group: %+v", group)
	}
	events = nil
	if err := channel.Run(t.Context(), d, channel.Config{Take: take, Logger: log}); !errors.Is(err, d.failure) || len(events) > 0 {
		t.Errorf("where nobody may talk: %+v, %v", events, err)
	}
}

// TestSending checks that an answer to the chat of the turn goes into its conversation, from which it is
// sent. A message to another chat is sent at once. If it cannot be sent, the action fails.
func TestSending(t *testing.T) {
	for name, c := range map[string]struct {
		chat    string
		failure error
		sent    sent
		text    string
	}{
		"the turn's chat": {"loft", nil, sent{"answer of t1", "dove-loft", "Yes."}, ""},
		"another chat":    {"tower", nil, sent{"act", "tower", "Yes."}, "it was sent to tower"},
		"lost":            {"tower", errors.New("the wind is too strong"), sent{"act", "tower", "Yes."}, "it was sent to tower"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &doves{failure: c.failure}
			kinds := kind.New(channel.Kind(d, d))
			judge := &policy.Policy{Home: t.TempDir(), Kinds: kinds}
			proposed, err := action.Read(`(:type :request :target :dove :chat-id "` + c.chat + `" :text "Yes.")`)
			if err != nil {
				t.Fatal(err)
			}
			where := policy.Where{Session: "dove-loft", Turn: "t1", Route: protocol.Route{Kind: protocol.RouteChannel, Channel: "dove", Chat: "loft"}}
			where.Granted = judge.Judge(t.Context(), proposed.Action(), where).Action.Hash()
			verified, verdict, err := judge.Verify(t.Context(), proposed.Action(), where)
			if err != nil || !verified.Valid() {
				t.Fatal(verdict, err)
			}
			result, err := kinds.Perform(t.Context(), kind.Order{ID: "act", Session: where.Session, Turn: "t1", Route: where.Route, Action: verified})
			if !errors.Is(err, c.failure) || err == nil && result.Text != c.text || len(d.sent) != 1 || d.sent[0] != c.sent {
				t.Errorf("%+v, %v, sent %+v", result, err, d.sent)
			}
		})
	}
}

// TestDrivers checks that the end of a turn is sent by the driver of the channel from which the turn came.
func TestDrivers(t *testing.T) {
	d := &doves{}
	all := channel.Drivers{pigeons{}, d}
	if err := all.Send(t.Context(), protocol.Route{Kind: protocol.RouteChannel, Channel: "dove", Chat: "loft"}, "a1", "Yes."); err != nil || len(d.sent) != 1 || d.sent[0] != (sent{"a1", "loft", "Yes."}) {
		t.Errorf("%v, sent %+v", err, d.sent)
	}
	if err := all.Send(t.Context(), protocol.Route{Kind: protocol.RouteChannel, Channel: "owl", Chat: "loft"}, "a1", "Yes."); err == nil || !strings.Contains(err.Error(), "owl") {
		t.Errorf("without a driver: %v", err)
	}
}
