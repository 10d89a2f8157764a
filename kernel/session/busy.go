package session

import (
	"cmp"
	"slices"

	"org-agent/kernel/protocol"
)

// BusySessions returns the sessions with running or waiting turns, by name, for the status.
func (h *Sessions) BusySessions() []protocol.ConversationStatus {
	var busy []protocol.ConversationStatus
	for _, s := range h.all() {
		one := protocol.ConversationStatus{Name: s.name()}
		running, waiting := s.queue.state()
		one.Queued = len(waiting)
		if running != nil {
			one.Running, one.Progress = running.Record.ID, running.progress()
		}
		if one.Queued > 0 || one.Running != "" {
			busy = append(busy, one)
		}
	}
	slices.SortFunc(busy, func(a, b protocol.ConversationStatus) int { return cmp.Compare(a.Name, b.Name) })
	return busy
}
