package matrixtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// json is the event as the agent's device is told it.
func (e *Event) json() any {
	if e.Raw != nil {
		return e.Raw
	}
	out := Object{"event_id": e.ID, "type": e.Type, "sender": e.Sender, "content": e.Content, "origin_server_ts": e.Time.UnixMilli(), "room_id": e.Room}
	unsigned := Object{"age": time.Since(e.Time).Milliseconds()}
	if e.StateKey != nil {
		out["state_key"] = *e.StateKey
		if e.Previous != nil {
			unsigned["prev_content"] = e.Previous
		}
	}
	if e.Transaction != "" {
		unsigned["transaction_id"] = e.Transaction
	}
	if e.Redacts != "" {
		out["redacts"] = e.Redacts
	}
	out["unsigned"] = unsigned
	return out
}

func (s *Server) find(room, id string) *Event {
	for _, e := range s.events {
		if e.ID == id && e.Room == room {
			return e
		}
	}
	return nil
}

// position reads a token of the stream.
func position(token string) (int, bool) {
	if len(token) < 2 || token[0] != 's' && token[0] != 't' {
		return 0, false
	}
	n, err := strconv.Atoi(token[1:])
	return n, err == nil && n >= 0
}

// sync answers with what happened since, and waits until something did.
func (a api) sync(w http.ResponseWriter, r *http.Request, _ []string) {
	s := a.server
	query := r.URL.Query()
	var wanted struct {
		Room struct {
			Timeline struct {
				Limit int `json:"limit"`
			} `json:"timeline"`
		} `json:"room"`
	}
	timeout, err := strconv.Atoi(query.Get("timeout"))
	since, ok := position(query.Get("since"))
	if !query.Has("since") {
		since, ok, timeout = 0, true, 0
	}
	if err != nil || !ok || json.Unmarshal([]byte(query.Get("filter")), &wanted) != nil || wanted.Room.Timeline.Limit <= 0 {
		badParameter.write(w)
		return
	}
	deadline := time.After(time.Duration(timeout) * time.Millisecond)
	s.set(func() { s.polls++ })
	for waits := true; ; {
		s.mutex.Lock()
		changed, now, expired, away := s.changed, len(s.events), s.expired, s.away
		out := s.since(since, min(s.timeline, wanted.Room.Timeline.Limit))
		s.mutex.Unlock()
		if away {
			panic(http.ErrAbortHandler)
		}
		if expired {
			unknownToken.write(w)
			return
		}
		if out != nil || !waits || timeout == 0 {
			answer(w, 200, Object{"next_batch": fmt.Sprintf("s%d", now), "rooms": out})
			return
		}
		select {
		case <-changed:
		case <-deadline:
			waits = false
		case <-r.Context().Done():
			return
		}
	}
}

// since returns what happened in the rooms since a place in the stream, nil for nothing.
func (s *Server) since(since, limit int) Object {
	join, invite, leave := Object{}, Object{}, Object{}
	for room, members := range s.rooms {
		var events []*Event
		for _, e := range s.events {
			if e.Position > since && e.Room == room {
				events = append(events, e)
			}
		}
		if len(events) == 0 {
			continue
		}
		switch members[Agent] {
		case "join":
			if i := lastOfAgent(events); i >= 0 && events[i].Previous["membership"] != "join" { // it came in: the room is new
				events = slices.DeleteFunc(slices.Clone(s.events), func(e *Event) bool { return e.Room != room })
			}
			join[room] = s.joined(events, limit)
		case "invite":
			if i := lastOfAgent(events); i >= 0 {
				stripped := Object{"type": "m.room.member", "sender": events[i].Sender, "state_key": Agent, "content": events[i].Content}
				invite[room] = Object{"invite_state": Object{"events": []any{stripped}}}
			}
		default:
			if i := lastOfAgent(events); i >= 0 {
				leave[room] = s.joined(events[:i+1], limit)
			}
		}
	}
	if len(join)+len(invite)+len(leave) == 0 {
		return nil
	}
	return Object{"join": join, "invite": invite, "leave": leave}
}

// lastOfAgent is the index of the last change of the agent's membership.
func lastOfAgent(events []*Event) int {
	for i, e := range slices.Backward(events) {
		if e.StateKey != nil && *e.StateKey == Agent {
			return i
		}
	}
	return -1
}

// joined is the last of the events of a room, and where the ones before begin.
func (s *Server) joined(events []*Event, limit int) Object {
	limited := len(events) > limit
	state := []any{}
	if limited {
		for _, e := range events[:len(events)-limit] {
			if e.StateKey != nil {
				state = append(state, e.json())
			}
		}
		events = events[len(events)-limit:]
	}
	timeline := []any{}
	for _, e := range events {
		timeline = append(timeline, e.json())
	}
	return Object{"state": Object{"events": state}, "timeline": Object{"events": timeline, "limited": limited, "prev_batch": fmt.Sprintf("t%d", events[0].Position)}}
}

func (a api) state(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	current := map[string]any{}
	for _, e := range s.events {
		if e.Room == parts[0] && e.StateKey != nil {
			current[e.Type+"\n"+*e.StateKey] = e.json()
		}
	}
	all := []any{}
	for _, e := range current {
		all = append(all, e)
	}
	answer(w, 200, all)
}

func (a api) event(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e := s.find(parts[0], parts[1])
	if e == nil {
		notFound.write(w)
		return
	}
	answer(w, 200, e.json())
}

func (a api) messages(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	query := r.URL.Query()
	before, ok := position(query.Get("from"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if !ok || err != nil || limit < 1 || query.Get("dir") != "b" {
		badParameter.write(w)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	chunk := []any{}
	end := ""
	for _, e := range slices.Backward(s.events) {
		if e.Position >= before || e.Room != parts[0] {
			continue
		}
		if len(chunk) == limit {
			break
		}
		chunk = append(chunk, e.json())
		end = fmt.Sprintf("t%d", e.Position)
	}
	out := Object{"start": query.Get("from"), "chunk": chunk}
	if end != "" {
		out["end"] = end
	}
	answer(w, 200, out)
}

func (a api) relations(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	chunk := []any{}
	for _, e := range slices.Backward(s.events) {
		relation, _ := e.Content["m.relates_to"].(Object)
		if e.Room == parts[0] && relation["event_id"] == parts[1] && relation["rel_type"] == parts[2] && e.Type == parts[3] && !e.Redacted {
			chunk = append(chunk, e.json())
		}
	}
	answer(w, 200, Object{"chunk": chunk})
}
