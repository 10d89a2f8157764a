package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/protocol"
)

// viewer is a client that shows a conversation.
type viewer struct {
	streams bool

	mu    sync.Mutex
	shown string // of the preview
}

func (v *viewer) ID() string { return "viewer" }
func (v *viewer) Capabilities() protocol.Capabilities {
	return protocol.Capabilities{Streams: v.streams}
}

func (v *viewer) Notify(_ string, params any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if delta, ok := params.(protocol.TurnDelta); ok {
		v.shown = v.shown[:delta.Offset] + delta.Text
	}
}

func (v *viewer) Deliver(protocol.Act) func(context.Context) (protocol.Receipt, error) {
	return func(context.Context) (protocol.Receipt, error) { return protocol.Receipt{}, nil }
}

// TestPreviewsAreLazy: while an answer streams, what has come is judged only if a client shows it. In
// the end the whole is judged once.
func TestPreviewsAreLazy(t *testing.T) {
	answer := strings.Repeat("word ", 400)
	for name, c := range map[string]struct {
		client *viewer // nil: none
		shows  bool
	}{
		"nobody is there":     {},
		"a client waits":      {client: &viewer{}},
		"a client streams it": {client: &viewer{streams: true}, shows: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, wideWindow, `(:type :response :text "`+answer+`")`)
			if c.client != nil {
				_, err := w.sessions.Attach(t.Context(), c.client, protocol.SessionLoadParams{Session: "main", View: protocol.ViewPlain})
				w.h.must(err)
			}
			w.ask("talk")
			previews := w.judged.Load() - 1
			if c.shows != (previews > 0) {
				t.Errorf("what had come was judged %d times before the whole was", previews)
			}
			if c.client != nil && c.shows != strings.HasPrefix(c.client.shown, "word word") {
				t.Errorf("the client was shown %.80q", c.client.shown)
			}
		})
	}
}
