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
	"testing/synctest"
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

// pass lets a time pass, in the clock of the test, and waits for what happens then.
func pass(of time.Duration) {
	time.Sleep(of)
	synctest.Wait()
}

// expect compares the conversations that were looked at.
func (h *conversations) expect(t *testing.T, when, want string) {
	t.Helper()
	if looked, _ := h.state(); looked != want {
		t.Errorf("%s: looked at %q, want %q", when, looked, want)
	}
}

// A quiet conversation is extracted from once, but not while a turn runs in it, and not if it is old. Only
// extractions with proposals are announced.
func TestQuietConversations(t *testing.T) { synctest.Test(t, testQuietConversations) }

func testQuietConversations(t *testing.T) {
	h := &conversations{sessions: []protocol.SessionInfo{
		session("busy", protocol.TurnRunning, time.Hour), session("quiet", protocol.TurnAnswered, time.Hour), session("empty", protocol.TurnAnswered, 2*time.Hour),
		session("old", protocol.TurnAnswered, 72*time.Hour),
	}}
	h.run(t, 20*time.Minute)
	pass(time.Hour)
	h.expect(t, "without anybody's leave", "")
	h.mu.Lock()
	h.may = true
	h.mu.Unlock()
	pass(2 * time.Minute)
	h.expect(t, "with a model", "quiet empty")
	pass(time.Hour)
	h.expect(t, "an hour later", "quiet empty")
	if _, told := h.state(); told != "quiet:7" {
		t.Errorf("told %q", told)
	}
	h.mu.Lock()
	h.sessions[1].Turns++ // something was said
	h.mu.Unlock()
	pass(2 * time.Minute)
	h.expect(t, "after another turn", "quiet empty quiet")
}

// A conversation that a person left is extracted from soon, once, and not while a turn runs in it. One
// that was left before the extractor runs is not forgotten.
func TestConversationThatIsLeft(t *testing.T) {
	for range 16 { // whether the quiet time or what was left is seen first is a matter of chance
		synctest.Test(t, testConversationThatIsLeft)
	}
}

func testConversationThatIsLeft(t *testing.T) {
	h := &conversations{may: true, sessions: []protocol.SessionInfo{session("busy", protocol.TurnRunning, 0), session("left", protocol.TurnAnswered, 0), session("other", protocol.TurnAnswered, 0)}}
	x := h.run(t, time.Hour)
	x.Leave("busy")
	x.Leave("left")
	x.Leave("left")
	pass(59 * time.Second)
	h.expect(t, "before its time", "")
	pass(time.Second)
	h.expect(t, "at its time", "left")
	x.Leave("other")
	x.SetQuiet(30 * time.Minute)
	x.Leave("left")
	pass(30 * time.Second)
	h.expect(t, "with a shorter quiet time", "left left")
	pass(30 * time.Second)
	h.expect(t, "at the time that was meant for it", "left left other")
}

// With another quiet time it extracts, with none it does not, and what was left meanwhile is forgotten.
func TestOtherQuietTime(t *testing.T) { synctest.Test(t, testOtherQuietTime) }

func testOtherQuietTime(t *testing.T) {
	h := &conversations{may: true, sessions: []protocol.SessionInfo{session("left", protocol.TurnAnswered, time.Hour)}}
	x := h.run(t, extract.Off)
	x.Leave("left")
	pass(2 * time.Hour)
	h.expect(t, "while it is off", "")
	x.SetQuiet(20 * time.Minute)
	pass(5 * time.Minute)
	h.expect(t, "when it is on", "left")
	h.mu.Lock()
	h.sessions[0].Turns++
	h.mu.Unlock()
	x.Leave("left")
	x.SetQuiet(extract.Off)
	pass(2 * time.Hour)
	h.expect(t, "when it is off again", "left")
	x.SetQuiet(0)
	x.SetQuiet(20 * time.Minute)
	pass(5 * time.Minute)
	h.expect(t, "when it is on again", "left left")
}
