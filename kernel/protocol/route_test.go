package protocol_test

import (
	"testing"

	"org-agent/kernel/protocol"
)

// What was kept before events had routes has one, made of what it says.
func TestRouteOf(t *testing.T) {
	for _, c := range []struct {
		sensor  protocol.Sensor
		channel protocol.Channel
		chat    string
		want    protocol.Route
		words   string
		local   bool
	}{
		{"chat-message", "emacs", "", protocol.LocalRoute("emacs"), "emacs", true},
		{"chat-message", "", "", protocol.LocalRoute("emacs"), "emacs", true},
		{"chat-message", "cli", "", protocol.Route{Kind: protocol.RouteCLI, Channel: "cli"}, "cli", true},
		{"chat-message", "telegram", "42", protocol.Route{Kind: protocol.RouteChannel, Channel: "telegram", Chat: "42"}, "telegram 42", false},
		{"post", "", "", protocol.Route{Kind: protocol.RoutePost}, "post", false},
		{"tool-call", "cli", "", protocol.Route{Kind: protocol.RouteMCP, Channel: "cli"}, "mcp", false},
		{"subagent", "emacs", "", protocol.Route{Kind: protocol.RouteSubagent, Channel: "emacs"}, "subagent", true},
		{"subagent", "telegram", "42", protocol.Route{Kind: protocol.RouteSubagent, Channel: "telegram", Chat: "42"}, "telegram 42", false},
		{"buffer-update", "", "", protocol.Route{Kind: protocol.RouteNone}, "none", false},
	} {
		got := protocol.RouteOf(c.sensor, c.channel, c.chat)
		if got != c.want || got.String() != c.words || got.Local() != c.local {
			t.Errorf("RouteOf(%q, %q, %q) = %+v %q local %v", c.sensor, c.channel, c.chat, got, got, got.Local())
		}
	}
}

// A client that only this test knows is asked for what it announced, and for nothing else.
func TestCapabilities(t *testing.T) {
	editor := protocol.Capabilities{Streams: true, Performs: []string{":open", "Message"}, Answers: []string{protocol.MethodEmacsRead}}
	if !editor.CanPerform("open") || !editor.CanPerform("message") || editor.CanPerform("edit") ||
		!editor.CanAnswer(protocol.MethodEmacsRead) || editor.CanAnswer(protocol.MethodEmacsNotes) {
		t.Errorf("%+v", editor)
	}
	if editor.Channel() != protocol.ChannelEmacs || (protocol.Capabilities{Streams: true}).Channel() != protocol.ChannelCLI {
		t.Error("an editor's events come from a command line, or the other way round")
	}
}
