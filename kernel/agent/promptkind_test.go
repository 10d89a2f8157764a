package agent_test

import (
	"testing"

	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// TestPromptIsForItsKindOfTurn checks that the system prompt says what a turn is by the route and the
// sensor of its event.
func TestPromptIsForItsKindOfTurn(t *testing.T) {
	a := newRouted(t).agent
	none := protocol.Route{Kind: protocol.RouteNone}
	for _, c := range []struct {
		route  protocol.Route
		sensor protocol.Sensor
		kind   prompt.Kind
		want   string
	}{
		{protocol.LocalRoute(protocol.ChannelEmacs), "weather", "", ""},
		{protocol.Route{Kind: protocol.RouteTask}, "weather", "", "duty"},
		{none, protocol.SensorHeartbeat, "", "heartbeat"},
		{protocol.LocalRoute(protocol.ChannelEmacs), "weather", prompt.Task, "duty"},
		{protocol.Route{Kind: protocol.RouteTask}, "weather", prompt.Heartbeat, "heartbeat"},
	} {
		shown := a.Prompt(t.Context(), protocol.Event{ID: "now", Session: "main", Sensor: c.sensor, Route: c.route, Level: 1, Text: "now"}, prompt.Full, c.kind)
		if shown.Note != "" {
			t.Fatal(shown.Note)
		}
		got := ""
		for _, section := range shown.Sections {
			if (section.Name == "duty" || section.Name == "heartbeat") && section.Bytes > 0 {
				got += section.Name
			}
		}
		if got != c.want {
			t.Errorf("a %s by %s as %q is told of %q and not of %q", c.sensor, c.route.Kind, c.kind, got, c.want)
		}
	}
}
