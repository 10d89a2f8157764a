package channel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// post records what is said.
type post struct {
	inserted string
	sent     channel.Sending
	away     bool
	failure  error
}

func (p *post) Connected(string) bool { return !p.away }

func (p *post) Insert(_ context.Context, session, turn, _, text string) error {
	p.inserted = session + " " + turn + " " + text
	return p.failure
}

func (p *post) Send(_ context.Context, m channel.Sending) (string, error) {
	p.sent = m
	return "it was sent to " + m.Chat, p.failure
}

// TestChatIsNamedAsKnown checks that the chats of a channel are named as proposals for it name them.
func TestChatIsNamedAsKnown(t *testing.T) {
	for name, field := range map[string]string{"matrix": "room-id", "telegram": "chat-id", "signal": "chat-id", "dove": "chat-id"} {
		if k := channel.Kind(name, nil); !k.Spec.HasField(field) || channel.FieldOf(name) != field {
			t.Errorf("the actions of %s have the fields %+v", name, k.Spec.Fields)
		}
	}
}

// TestSending checks that an answer to the chat of the turn goes into its conversation. A message to another chat is sent, if
// a person allowed it; if it cannot be sent, the action fails. Without a connected channel it is not offered.
func TestSending(t *testing.T) {
	lost := errors.New("the wind is too strong")
	for name, c := range map[string]struct {
		chat     string
		post     post
		inserted string
		sent     string
		verdict  policy.Kind
	}{
		"the turn's chat": {"loft", post{}, "dove-loft t1 Yes.", "", policy.Allow},
		"another chat":    {"tower", post{}, "", "tower", policy.Ask},
		"lost":            {"tower", post{failure: lost}, "", "tower", policy.Ask},
		"disconnected":    {"tower", post{away: true}, "", "tower", policy.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := kind.New(channel.Kind("dove", &c.post))
			judge := &policy.Policy{Home: t.TempDir(), Kinds: kinds}
			proposed, err := action.Read(`(:type :request :target :dove :chat-id "` + c.chat + `" :text "Yes.")`)
			if err != nil {
				t.Fatal(err)
			}
			where := policy.Where{Session: "dove-loft", Turn: "t1", Route: protocol.Route{Kind: protocol.RouteChannel, Channel: "dove", Chat: "loft"}}
			verdict := judge.Judge(t.Context(), proposed.Action(), where)
			if verdict.Kind != c.verdict {
				t.Fatalf("the verdict is %v", verdict)
			}
			if err := kinds.Available(verdict.Action.Key()); (err != nil) != c.post.away {
				t.Errorf("connected: %v, and it is available: %v", !c.post.away, err)
			}
			if c.post.away {
				return
			}
			where.Granted = verdict.Action.Hash()
			verified, verdict, err := judge.Verify(t.Context(), proposed.Action(), where)
			if err != nil || !verified.Valid() {
				t.Fatal(verdict, err)
			}
			result, err := kinds.Perform(t.Context(), kind.Order{ID: "act", Session: where.Session, Turn: "t1", Route: where.Route, Action: verified})
			if !errors.Is(err, c.post.failure) || c.post.inserted != c.inserted || c.post.sent.Chat != c.sent {
				t.Errorf("%+v, %v: %+v", result, err, c.post)
			}
		})
	}
}

// TestNames checks that a message's question and a chat's session have valid names, whatever the chat calls them, and
// different ones for different ids.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"1", "!abc:x", "!ABC:x", strings.Repeat("long", 100), "a b", "/", "..", "é", ""} {
		event, session := channel.EventID("dove", id), channel.SessionOf("dove", id)
		if !protocol.ValidID(event) || !protocol.ValidSession(session) {
			t.Errorf("of %q the question is %q, the session %q", id, event, session)
		}
		for _, name := range []string{event, session} {
			if other, ok := seen[name]; ok && other != id {
				t.Errorf("%q and %q are both %s", id, other, name)
			}
			seen[name] = id
		}
	}
}
