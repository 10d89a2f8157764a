package session

import (
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// endWaiters holds the clients that requested a turn that had not ended, by the turn's id. They are
// notified of its end, also if they do not show the conversation. The zero value is ready.
type endWaiters struct {
	mu    sync.Mutex
	turns map[string][]Client
}

// add registers the client for one notification of the turn's end. The caller must read the
// turn's state afterwards: if the turn has ended meanwhile, no notification comes.
func (a *endWaiters) add(turn string, client Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns == nil {
		a.turns = map[string][]Client{}
	}
	if !slices.ContainsFunc(a.turns[turn], same(client)) {
		a.turns[turn] = append(a.turns[turn], client)
	}
}

// take removes and returns the clients that wait for the turn.
func (a *endWaiters) take(turn string) []Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	clients := a.turns[turn]
	delete(a.turns, turn)
	return clients
}

// drop forgets a client for one turn, or for all turns if turn is "".
func (a *endWaiters) drop(turn string, client Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, clients := range a.turns {
		if turn != "" && turn != id {
			continue
		}
		if clients = slices.DeleteFunc(clients, same(client)); len(clients) == 0 {
			delete(a.turns, id)
		} else {
			a.turns[id] = clients
		}
	}
}

func same(client Client) func(Client) bool {
	return func(other Client) bool { return other.ID() == client.ID() }
}

// notifyFinished notifies the attached clients and the clients that requested the turn.
func (s *Session) notifyFinished(params protocol.TurnFinished) {
	clients := s.sessions.endWaiters.take(params.Turn)
	for _, a := range s.viewers.attachments() {
		if !slices.ContainsFunc(clients, same(a.client)) {
			clients = append(clients, a.client)
		}
	}
	for _, client := range clients {
		client.Notify(protocol.MethodTurnFinished, params)
	}
}
