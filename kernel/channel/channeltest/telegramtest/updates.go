package telegramtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// kinds are the kinds of updates that there are.
var kinds = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message", "edited_business_message", "deleted_business_messages",
	"message_reaction", "message_reaction_count", "inline_query", "chosen_inline_result", "callback_query", "shipping_query", "pre_checkout_query", "purchased_paid_media",
	"poll", "poll_answer", "my_chat_member", "chat_member", "chat_join_request", "chat_boost", "removed_chat_boost",
}

// getUpdates gives out updates. A second request ends the first one.
func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, c call) {
	limit, timeout := 100, 0
	var allowed []string
	var err error
	for name, to := range map[string]*int{"limit": &limit, "timeout": &timeout} {
		if text := c.text(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil {
				reply(w, Outcome{Code: http.StatusBadRequest, Description: "Bad Request: invalid " + name})
				return
			}
		}
	}
	offset, err := strconv.ParseInt("0"+c.text("offset"), 10, 64)
	if text := c.text("allowed_updates"); err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &allowed)
	}
	if err != nil || limit < 1 || limit > 100 || timeout < 0 || slices.ContainsFunc(allowed, func(k string) bool { return !slices.Contains(kinds, k) }) {
		reply(w, Outcome{Code: http.StatusBadRequest, Description: "Bad Request: wrong parameters of getUpdates"})
		return
	}
	s.mutex.Lock()
	if s.webhook {
		s.mutex.Unlock()
		reply(w, Outcome{Code: http.StatusConflict, Description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"})
		return
	}
	if s.poller != nil {
		close(s.poller)
	}
	mine := make(chan struct{})
	s.poller = mine
	s.confirm(offset)
	s.mutex.Unlock()
	defer s.set(func() {
		if s.poller == mine {
			s.poller = nil
		}
	})
	end := time.NewTimer(time.Duration(timeout) * time.Second)
	defer end.Stop()
	for {
		s.mutex.Lock()
		given, changed, down, revoked := s.pending(allowed, limit), s.onChange(), s.down, s.revoked
		s.mutex.Unlock()
		if revoked {
			reply(w, Outcome{Code: http.StatusUnauthorized, Description: "Unauthorized"})
			return
		}
		if down {
			panic(http.ErrAbortHandler)
		}
		if len(given) > 0 || timeout == 0 {
			succeed(w, given)
			return
		}
		select {
		case <-changed:
		case <-end.C:
			timeout = 0
		case <-mine:
			reply(w, Outcome{Code: http.StatusConflict, Description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"})
			return
		case <-r.Context().Done():
			return
		}
	}
}

// confirm drops the updates before an offset.
func (s *Server) confirm(offset int64) {
	for len(s.updates) > 0 && s.updates[0].id < offset {
		s.arrived, s.updates = append(s.arrived, s.updates[0]), s.updates[1:]
	}
}

func (s *Server) pending(allowed []string, limit int) []json.RawMessage {
	given := []json.RawMessage{}
	for _, u := range s.updates {
		if len(given) < limit && (len(allowed) == 0 || slices.Contains(allowed, u.kind)) {
			given = append(given, u.raw)
		}
	}
	return given
}

// Unconfirmed returns how many updates the bot did not say to have.
func (s *Server) Unconfirmed() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.updates)
}

// Rewind gives out the last n updates again that the bot said to have, as if the server had not heard it.
func (s *Server) Rewind(n int) {
	s.set(func() {
		n = min(n, len(s.arrived))
		s.updates = append(slices.Clone(s.arrived[len(s.arrived)-n:]), s.updates...)
		s.arrived = s.arrived[:len(s.arrived)-n]
	})
}

// Renumber has the next update any number, as after a week without one.
func (s *Server) Renumber(next int64) { s.set(func() { s.next = next }) }

// Update has something happen, and returns the update's number.
func (s *Server) Update(kind string, body any) int64 {
	text, err := json.Marshal(body)
	if err != nil {
		panic("telegramtest: " + err.Error())
	}
	return s.Replay(kind, text)
}

// Replay has happen what was recorded, under a number of its own.
func (s *Server) Replay(kind string, body json.RawMessage) (id int64) {
	s.set(func() { id = s.post(kind, body) })
	return id
}

func (s *Server) post(kind string, body json.RawMessage) int64 {
	id := s.next
	s.next++
	raw, err := json.Marshal(map[string]any{"update_id": id, kind: body})
	if err != nil {
		panic("telegramtest: " + err.Error())
	}
	s.updates = append(s.updates, update{id, kind, raw})
	return id
}

// Duplicate gives out the last update twice, and the one before it behind it, as no server should.
func (s *Server) Duplicate() {
	s.set(func() {
		if n := len(s.updates); n > 1 {
			s.updates = append(s.updates[:n-2:n-2], s.updates[n-1], s.updates[n-2], s.updates[n-1])
		}
	})
}
