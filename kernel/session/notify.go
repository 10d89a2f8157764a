package session

// Notify notifies every client that shows the session.
func (h *Sessions) Notify(session, method string, params any) {
	h.mu.Lock()
	s := h.open[session]
	h.mu.Unlock()
	if s != nil { // or else nobody shows it
		s.viewers.broadcast(method, params)
	}
}
