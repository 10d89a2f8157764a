package channel_test

import (
	"context"
	"log/slog"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/protocol"
)

// homeserver is a driver of a channel whose proposals are known without a driver, too.
type homeserver struct{ channel.Driver }

func (homeserver) Name() string { return "matrix" }

func (homeserver) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	return receive(ctx, channel.Message{ID: "1", Chat: channel.Chat{ID: "!r:x"}, Sender: channel.Person{ID: "@ada:x"}, Text: "hi"})
}

// TestChatIsNamedAsKnown checks that a driver names its chats as proposals for its channel do, in
// actions and in events. Skills find a chat under its usual name as well.
func TestChatIsNamedAsKnown(t *testing.T) {
	k := channel.Kind(homeserver{}, nil)
	if !k.Spec.HasField("room-id") || k.Spec.HasField("chat-id") {
		t.Errorf("its actions have the fields %+v", k.Spec.Fields)
	}
	var took protocol.Event
	err := channel.Run(t.Context(), homeserver{}, channel.Config{
		May: func(channel.Message) bool { return true }, Logger: slog.New(slog.DiscardHandler),
		Take: func(_ context.Context, event protocol.Event) (protocol.EventResult, error) {
			took = event
			return protocol.EventResult{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if took.Payload.Text("room-id") != "!r:x" || took.Payload.Text("chat-id") != "!r:x" || took.Route.Chat != "!r:x" {
		t.Errorf("its message is %+v", took)
	}
}
