package channel

import (
	"org-agent/kernel/act"
	"org-agent/kernel/kind"
)

// Known returns the kinds of channels that may have no driver. Proposals for them are known and
// judged, but nothing sends them. The kind of a driver with the same name takes precedence.
func Known() []kind.Kind {
	return []kind.Kind{
		act.Chat("telegram", "chat-id"),
		act.Chat("signal", "chat-id"),
		act.Chat("matrix", "room-id"),
	}
}
