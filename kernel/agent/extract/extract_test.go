package extract_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/agent/extract"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conversations has some conversations, and records the extractions from them.
type conversations struct {
	mu       sync.Mutex
	sessions []protocol.SessionInfo
	looked   []string
	told     []string
	may      bool
}

func (h *conversations) List(context.Context) ([]protocol.SessionInfo, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sessions), nil
}

func (h *conversations) Extract(_ context.Context, session string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looked = append(h.looked, session); session == "empty" {
		return 0, errors.New("nothing is there")
	}
	return 1, nil
}

func (h *conversations) Proposals(context.Context) ([]memory.Proposal, error) {
	return make([]memory.Proposal, 7), nil
}

func (h *conversations) state() (looked, told string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.looked, " "), strings.Join(h.told, " ")
}

// run runs an extractor of the conversations until the test ends.
func (h *conversations) run(t *testing.T, quiet time.Duration) *extract.Extractor {
	x := extract.New(extract.Config{
		Conversations: h, Model: h, Proposals: h, Quiet: quiet, Hide: func(s string) string { return s }, Logger: slog.New(slog.DiscardHandler),
		HasModel: func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.may },
		OnProposals: func(session string, waiting int) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told = append(h.told, fmt.Sprint(session, ":", waiting))
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { x.Run(ctx); close(done) }()
	t.Cleanup(func() { stop(); <-done })
	return x
}

func session(name string, state protocol.TurnState, ago time.Duration) protocol.SessionInfo {
	return protocol.SessionInfo{Name: name, State: state, Updated: time.Now().Add(-ago).UTC().Format(time.RFC3339)}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// A quiet conversation is extracted from once, but not while a turn runs in it, and not if it is old. Only
// extractions with proposals are announced.
func TestQuietConversations(t *testing.T) {
	h := &conversations{sessions: []protocol.SessionInfo{
		session("busy", protocol.TurnRunning, time.Hour), session("quiet", protocol.TurnAnswered, time.Hour), session("empty", protocol.TurnAnswered, 2*time.Hour),
		session("old", protocol.TurnAnswered, 72*time.Hour),
	}}
	h.run(t, 20*time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	if looked, _ := h.state(); looked != "" {
		t.Errorf("without anybody's leave %q was looked at", looked)
	}
	h.mu.Lock()
	h.may = true
	h.mu.Unlock()
	until(t, "both", func() bool { looked, _ := h.state(); return looked == "quiet empty" })
	time.Sleep(50 * time.Millisecond)
	if looked, told := h.state(); looked != "quiet empty" || told != "quiet:7" {
		t.Errorf("looked at %q, told %q", looked, told)
	}
	h.mu.Lock()
	h.sessions[1].Turns++ // something was said
	h.mu.Unlock()
	until(t, "it again", func() bool { looked, _ := h.state(); return looked == "quiet empty quiet" })
}

func TestConversationThatIsLeft(t *testing.T) {
	h := &conversations{may: true, sessions: []protocol.SessionInfo{session("busy", protocol.TurnRunning, 0), session("left", protocol.TurnAnswered, 0), session("other", protocol.TurnAnswered, 0)}}
	x := h.run(t, 2*time.Second)
	x.Leave("busy")
	x.Leave("left")
	x.Leave("left")
	until(t, "it", func() bool { looked, _ := h.state(); return looked == "left" })
}

// With another quiet time it extracts, with none it does not, and what was left meanwhile is forgotten.
func TestOtherQuietTime(t *testing.T) {
	h := &conversations{may: true, sessions: []protocol.SessionInfo{session("left", protocol.TurnAnswered, time.Hour)}}
	x := h.run(t, extract.Off)
	x.Leave("left")
	time.Sleep(50 * time.Millisecond)
	if looked, _ := h.state(); looked != "" {
		t.Errorf("while it is off %q was looked at", looked)
	}
	x.SetQuiet(20 * time.Millisecond)
	until(t, "it", func() bool { looked, _ := h.state(); return looked == "left" })
	x.SetQuiet(extract.Off)
	time.Sleep(50 * time.Millisecond) // for one that was on its way
	h.mu.Lock()
	h.sessions[0].Turns++
	h.mu.Unlock()
	x.Leave("left")
	time.Sleep(100 * time.Millisecond)
	if looked, _ := h.state(); looked != "left" {
		t.Errorf("when it is off again %q were looked at", looked)
	}
	x.SetQuiet(0)
	x.SetQuiet(20 * time.Millisecond)
	until(t, "it again", func() bool { looked, _ := h.state(); return looked == "left left" })
}
