package channel_test

import (
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// TestAnswerEndsTurnOnEveryRoute checks that an answer ends the turn on every route. A message on a
// channel ends the turn only on the route of the same chat; a message to anywhere else ends no
// turn.
func TestAnswerEndsTurnOnEveryRoute(t *testing.T) {
	kinds := kind.New(append([]kind.Kind{channel.Kind("pigeon", nil)}, append(act.Kinds(act.Deps{}), channel.Known()...)...)...)
	proposals := []struct{ name, text string }{
		{"answer", `(:type :request :target :emacs :action :insert-at-end :text "* Yes")`},
		{"response", `(:type :response :text "Yes.")`},
		{"loft 7", `(:type :request :target :pigeon :chat-id "loft 7" :text "Yes.")`},
		{"loft 8", `(:type :request :target :pigeon :chat-id "loft 8" :text "Yes.")`},
		{"telegram", `(:type :request :target :telegram :chat-id "loft 7" :text "Yes.")`},
		{"other conversation", `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat: other*" :text "* Yes")`},
		{"tool", `(:type :request :target :tool :action :call :tool "read_file" :args (:path "a"))`},
	}
	chat := func(k protocol.RouteKind, name protocol.Channel, chat string) protocol.Route {
		return protocol.Route{Kind: k, Channel: name, Chat: chat}
	}
	always := map[string]bool{"answer": true, "response": true}
	inLoft7 := map[string]bool{"answer": true, "response": true, "loft 7": true}
	for _, c := range []struct {
		route protocol.Route
		ends  map[string]bool
	}{
		{protocol.LocalRoute(protocol.ChannelEmacs), always},
		{protocol.LocalRoute(protocol.ChannelCLI), always},
		{chat(protocol.RouteChannel, "pigeon", "loft 7"), inLoft7},
		{chat(protocol.RouteChannel, "pigeon", "loft 9"), always},
		{chat(protocol.RouteChannel, "telegram", "loft 7"), map[string]bool{"answer": true, "response": true, "telegram": true}},
		{chat(protocol.RoutePeer, "pigeon", "loft 7"), inLoft7},
		{chat(protocol.RouteMCP, protocol.ChannelCLI, ""), always},
		{chat(protocol.RouteSubagent, protocol.ChannelEmacs, ""), always},
		{chat(protocol.RouteSubagent, "pigeon", "loft 7"), always}, // its report goes to the turn that started it
		{chat(protocol.RouteTask, "", ""), always},
		{chat(protocol.RoutePost, "", ""), always},
		{chat(protocol.RouteNone, "", ""), always},
		{protocol.Route{}, always},
	} {
		for _, p := range proposals {
			where := policy.Where{Session: protocol.MainSession, Turn: "t1", Route: c.route}
			if got := kinds.Ends(action.Recorded(p.text), where); got != c.ends[p.name] {
				t.Errorf("on the route %v (%s), %s ends the turn: %v", c.route, c.route.Kind, p.name, got)
			}
		}
	}
}
