package agent_test

import (
	"context"
	"slices"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// What judges a call and what makes it are told of the same turn, and of each turn anew.
func TestToolsAreToldOfTheTurn(t *testing.T) {
	var judged, made []*tool.Caller
	tools, err := tool.NewRegistry(tool.New(tool.Definition[struct{}]{
		Name: "look", Manual: "Looks.", Effect: protocol.ToolReads,
		Reach: func(_ context.Context, by *tool.Caller, _ *struct{}) ([]protocol.Reach, error) {
			judged = append(judged, by)
			return []protocol.Reach{}, nil
		},
		Perform: func(_ context.Context, by *tool.Caller, _ struct{}) (string, error) {
			made = append(made, by)
			return "nothing", nil
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	h := newHousehold(t)
	h.config.Sources.Tools = tools
	call, answer := `(:type :request :target :tool :action :call :tool "look")`, `(:type :response :text "* Nothing")`
	both := `(:type :request :target :tool :action :batch :calls ((:tool "look")))`
	r := h.routed(t, call, both, answer, call, answer)
	for _, event := range []string{"e-weather", "e-again"} {
		if turn := r.answersEvent(t, protocol.LocalRoute(protocol.ChannelEmacs), "weather", event); turn.State != protocol.TurnAnswered {
			t.Fatalf("it ended %s: %s", turn.State, turn.Notice)
		}
	}
	if len(made) != 3 || made[0] != made[1] || made[1] == made[2] || !slices.Equal(judged, made) {
		t.Fatalf("judged for %p, made for %p", judged, made)
	}
	for i, event := range []string{"e-weather", "e-weather", "e-again"} {
		in := made[i].Conversation
		if in.Event != event || in.Session != "main" || in.Turn == "" || !in.Alone || made[i].Asker == nil || made[i].Results == nil || made[i].Subagents == nil {
			t.Errorf("call %d was made in %+v", i, in)
		}
	}
}
