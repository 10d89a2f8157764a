package channel

import (
	"org-agent/kernel/act"
	"org-agent/kernel/kind"
)

// usualField is the name of the field that names the chat, in actions and in events.
const usualField = "chat-id"

// known lists the channels that may have no driver, with the field that names a chat.
var known = [...]struct{ name, field string }{
	{"telegram", usualField},
	{"signal", usualField},
	{"matrix", "room-id"},
}

// Known returns the kinds of channels that may have no driver. Proposals for them are known and
// judged, but nothing sends them. The kind of a driver with the same name takes precedence.
func Known() []kind.Kind {
	var kinds []kind.Kind
	for _, c := range known {
		kinds = append(kinds, act.Chat(c.name, c.field))
	}
	return kinds
}

// fieldOf returns the name of the field that names the chats of a channel.
func fieldOf(channel string) string {
	for _, c := range known {
		if c.name == channel {
			return c.field
		}
	}
	return usualField
}
