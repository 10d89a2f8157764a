package session

import (
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// awaited is who asked about turns that had not ended, by the turns' ids: they hear of
// the end whether or not they show the conversation. The zero value is ready.
type awaited struct {
	mu    sync.Mutex
	turns map[string][]Client
}

// add has the client told, once, of the end of the turn. Who adds a client reads the
// turn's state afterwards: one that has ended meanwhile is never told of.
func (a *awaited) add(turn string, client Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns == nil {
		a.turns = map[string][]Client{}
	}
	if !slices.ContainsFunc(a.turns[turn], same(client)) {
		a.turns[turn] = append(a.turns[turn], client)
	}
}

// take returns who waits for the turn, for the last time.
func (a *awaited) take(turn string) []Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	clients := a.turns[turn]
	delete(a.turns, turn)
	return clients
}

// drop forgets a client: in one turn, or with no turn's id in all.
func (a *awaited) drop(turn string, client Client) {
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

// tellFinished tells those who show the session, and those who asked about the turn.
func (s *Session) tellFinished(params protocol.TurnFinished) {
	told := s.house.awaited.take(params.Turn)
	for _, a := range s.attached() {
		if !slices.ContainsFunc(told, same(a.client)) {
			told = append(told, a.client)
		}
	}
	for _, client := range told {
		client.Notify(protocol.MethodTurnFinished, params)
	}
}
