package protocol

import "fmt"

// RouteKind names the kinds of routes.
type RouteKind string

// The kinds of routes. The methods of [Route] have the differences between them. Only the code
// that makes events names a kind.
const (
	RouteEmacs    RouteKind = "emacs"    // a person in an editor; the answer goes into the conversation
	RouteCLI      RouteKind = "cli"      // a person at a command line; likewise
	RouteChannel  RouteKind = "channel"  // a chat elsewhere; the answer is sent there
	RoutePeer     RouteKind = "peer"     // another agent; the answer is sent to it
	RouteMCP      RouteKind = "mcp"      // a program that called a tool; the result goes back to it
	RouteSubagent RouteKind = "subagent" // a part of a turn's work; the report goes to that turn's conversation
	RouteTask     RouteKind = "task"     // a plan of the person's; the outcome is delivered to them
	RouteReaction RouteKind = "reaction" // a reaction to what the person did in a file; nobody waits for an answer
	RoutePost     RouteKind = "post"     // text of another turn; it is the conversation's and wants no answer
	RouteNone     RouteKind = "none"     // an event to which nobody waits for an answer
)

// PlistKeyword marks the type as an enum.
func (RouteKind) PlistKeyword() {}

// Route is the origin of an event and the destination of its answer. The receiver of the event
// makes it once, and the journal stores it with the event. It is never inferred later. The zero
// value is [RouteNone].
type Route struct {
	Kind RouteKind `json:"kind,omitempty"`
	// Channel is the part of the route that skills see: :emacs, :cli, or the name of the channel
	// or peer network. A subagent has that of its parent.
	Channel Channel `json:"channel,omitempty"`
	// Chat names the conversation on its channel, "" for a person at this machine.
	Chat string `json:"chat,omitempty"`
}

// LocalRoute is the route of a person at this machine, in an editor or at a command line.
func LocalRoute(channel Channel) Route {
	if channel == ChannelCLI {
		return Route{Kind: RouteCLI, Channel: ChannelCLI}
	}
	return Route{Kind: RouteEmacs, Channel: ChannelEmacs}
}

// RouteOf returns the route of an event that has only a sensor, a channel and a chat: one that was
// journalled before events had routes, or one that a person invented to try a note.
func RouteOf(sensor Sensor, channel Channel, chat string) Route {
	r := Route{Kind: RouteChannel, Channel: channel, Chat: chat}
	switch {
	case sensor == SensorPost:
		r.Kind = RoutePost
	case sensor == SensorToolCall:
		r.Kind = RouteMCP
	case sensor == SensorSubagent:
		r.Kind = RouteSubagent
	case channel == ChannelEmacs:
		r.Kind = RouteEmacs
	case channel == ChannelCLI:
		r.Kind = RouteCLI
	case channel == "" && (sensor == SensorChatMessage || sensor == SensorUserCommand):
		return LocalRoute(ChannelEmacs)
	case channel == "":
		r.Kind = RouteNone
	}
	return r
}

// Local reports whether only the person at this machine is on the route, so that the agent may
// mention private things. The person is in an editor or at a command line, planned a task, did
// something in a file, or started a subagent from there. A program that calls tools is another listener: nobody knows what
// it does with what it is told.
func (r Route) Local() bool {
	switch r.Kind {
	case RouteEmacs, RouteCLI, RouteTask, RouteReaction:
		return true
	case RouteSubagent:
		return r.Channel == "" || r.Channel == ChannelEmacs || r.Channel == ChannelCLI
	}
	return false
}

// Unattended reports whether the conversation may have no client that shows it. All clients with
// notices are notified of approvals that wait in it.
func (r Route) Unattended() bool {
	return r.Kind == RouteMCP || r.Kind == RouteSubagent || r.Kind == RouteTask || r.Kind == RouteReaction || r.Kind == RouteNone
}

// Elsewhere reports whether the answer is sent to a channel or a peer. On any other route it is
// text in the event's own conversation.
func (r Route) Elsewhere() bool { return r.Kind == RouteChannel || r.Kind == RoutePeer }

// TakesProse reports whether plain prose of a model is a reply. To a peer it is not, because a
// message to a peer is an act of its own. It is none either if nobody waits for an answer.
func (r Route) TakesProse() bool { return r.Kind != RoutePeer && r.Kind != RouteNone }

// AwaitsAnswer reports whether somebody waits for a text at the end. If nobody does, a turn ends
// with its last act: when the skill has nothing more to propose, or when the model writes prose.
func (r Route) AwaitsAnswer() bool {
	return r.Kind != RouteNone && r.Kind != RouteReaction && r.Kind != ""
}

// String is the route for people and for the log.
func (r Route) String() string {
	switch {
	case r.Kind == "":
		return string(RouteNone)
	case r.Chat != "":
		return fmt.Sprintf("%s %s", r.Channel, r.Chat)
	case r.Kind == RouteSubagent || r.Kind == RouteMCP || r.Channel == "":
		return string(r.Kind)
	}
	return string(r.Channel)
}
