package service_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/tool"
)

// newTools returns tools of the kernel, one of which starts subagents, and a tool of another program.
func newTools(t *testing.T) *tool.Registry {
	t.Helper()
	nothing := func(context.Context, *tool.Caller, struct{}) (string, error) { return "", nil }
	tools, err := tool.NewRegistry(
		tool.New(tool.Definition[struct{}]{Name: "read", Manual: "Reads.", Effect: protocol.ToolReads, Perform: nothing}),
		tool.New(tool.Definition[struct{}]{Name: "write", Manual: "Writes.", Perform: nothing}),
		tool.New(tool.Definition[struct{}]{Name: "list_subagents", Private: true, Manual: "Lists.", Perform: nothing}),
		tool.New(tool.Definition[struct{}]{Name: "start", Manual: "Starts.", Effect: protocol.ToolSpawns, Perform: nothing}))
	if err != nil {
		t.Fatal(err)
	}
	other := tool.NewForeign(tool.Foreign{Name: "maps_find", Does: "Finds.", Digest: "d", Preview: nil, Perform: func(context.Context, *tool.Caller, protocol.Object) (string, error) { return "", nil }})
	return tools.WithForeign(func() []tool.Tool { return []tool.Tool{other} })
}

// fakeCalls answers calls of other programs immediately if answers is true, and otherwise never. ended is
// the state of their turns.
type fakeCalls struct {
	mu        sync.Mutex
	waiting   map[string]chan protocol.ToolCallResult
	submitted []protocol.Event
	cancelled []string
	answers   bool
	ended     protocol.TurnState
	forgotten int
}

func (s *fakeCalls) AwaitCall(event string) (<-chan protocol.ToolCallResult, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	outcome := make(chan protocol.ToolCallResult, 1)
	s.waiting = map[string]chan protocol.ToolCallResult{event: outcome}
	return outcome, func() { s.mu.Lock(); s.forgotten++; s.mu.Unlock() }
}
func (s *fakeCalls) CallText(p protocol.ToolCallParams) (string, error) {
	if p.Tool == "" {
		return "", errors.New("no tool is named")
	}
	return "a call of " + p.Tool, nil
}
func (s *fakeCalls) Submit(_ context.Context, event protocol.Event) (protocol.EventResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.submitted = append(s.submitted, event)
	if s.answers {
		s.waiting[event.ID] <- protocol.ToolCallResult{Turn: "t1", Verdict: "performed", Text: "four"}
	}
	return protocol.EventResult{Event: event.ID, Turn: "t1"}, nil
}
func (s *fakeCalls) Cancel(_ context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = append(s.cancelled, p.Turn)
	return protocol.TurnCancelResult{Cancelled: true}, nil
}
func (s *fakeCalls) Turn(context.Context, protocol.TurnParams) (journal.Turn, error) {
	return journal.Turn{ID: "t1", State: s.ended, Notice: "it was stopped"}, nil
}

// Another program is offered the kernel's own tools, except those that need a model, and gets the outcome
// of a call.
func TestTools(t *testing.T) {
	s := &fakeCalls{answers: true}
	conn := serve(t, service.Tools{Registry: newTools(t), Sessions: s, Calls: s, NewID: func() string { return "e1" }, Logger: discardLogger}.Methods())("another program")
	var list protocol.ToolListResult
	if err := conn.Call(within(t), protocol.MethodToolList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Tools {
		names = append(names, one.Name)
	}
	if !slices.Equal(names, []string{"read", "write"}) {
		t.Errorf("it is offered %v", names)
	}
	var result protocol.ToolCallResult
	call := protocol.ToolCallParams{Tool: "read", Args: protocol.Object{{Key: "path", Value: "a"}}, Program: "Some/Program"}
	if err := conn.Call(within(t), protocol.MethodToolCall, call, &result); err != nil || result.Text != "four" || s.forgotten != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	wantError(t, "a call of nothing", conn.Call(within(t), protocol.MethodToolCall, protocol.ToolCallParams{}, nil), protocol.CodeInvalidParams, "no tool is named")
	event := s.submitted[0]
	if event.ID != "e1" || event.Route.Kind != protocol.RouteMCP || event.Text != "a call of read" || !protocol.ValidSession(event.Session) {
		t.Errorf("submitted: %+v", event)
	}
}

// A call whose turn was stopped before it began has failed. If a program cancels its call, the turn is
// stopped.
func TestCallIsStopped(t *testing.T) {
	s := &fakeCalls{ended: protocol.TurnCancelled}
	conn := serve(t, service.Tools{Registry: newTools(t), Sessions: s, Calls: s, NewID: func() string { return "e1" }, Logger: discardLogger}.Methods())("another program")
	var result protocol.ToolCallResult
	if err := conn.Call(within(t), protocol.MethodToolCall, protocol.ToolCallParams{Tool: "read"}, &result); err != nil || result.Verdict != "failed" || result.Code != protocol.ToolCancelled || result.Text != "it was stopped" {
		t.Errorf("stopped: %+v, %v", result, err)
	}
	s.ended = protocol.TurnRunning
	ctx, giveUp := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, giveUp)
	if err := conn.Call(ctx, protocol.MethodToolCall, protocol.ToolCallParams{Tool: "read"}, nil); err == nil {
		t.Error("a cancelled call has a result")
	}
	for range 100 { // it is stopped a moment later
		s.mu.Lock()
		done := len(s.cancelled) == 1
		s.mu.Unlock()
		if done {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the turn of a cancelled call was not stopped")
}
