package channel

import (
	"slices"

	"org-agent/kernel/kind"
)

// UsualField is the name of the field that names the chat, in actions and in events.
const UsualField = "chat-id"

// known lists the channels whose actions are always known, with the field that names a chat.
var known = [...]struct{ name, field string }{
	{"telegram", UsualField},
	{"signal", UsualField},
	{"matrix", "room-id"},
}

// Kinds returns the kinds of actions that send messages: those of the known channels, which may not be connected, and of
// others by their names.
func Kinds(post Post, others ...string) []kind.Kind {
	var kinds []kind.Kind
	for _, c := range known {
		kinds = append(kinds, Kind(c.name, post))
	}
	for _, name := range others {
		if !IsKnown(name) {
			kinds = append(kinds, Kind(name, post))
		}
	}
	return kinds
}

// Known returns the kinds of the known channels as a program has them that sends nothing.
func Known() []kind.Kind { return Kinds(nil) }

// IsKnown reports whether a name is that of a known channel.
func IsKnown(name string) bool {
	return slices.ContainsFunc(known[:], func(c struct{ name, field string }) bool { return c.name == name })
}

// FieldOf returns the name of the field that names the chats of a channel.
func FieldOf(channel string) string {
	for _, c := range known {
		if c.name == channel {
			return c.field
		}
	}
	return UsualField
}
