package telegramtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Ada is the person who writes where nobody else is said to.
const Ada int64 = 1001

// Chat is a chat.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"` // private, group, supergroup, channel
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

type chat struct {
	Chat
	topics   map[int]string
	messages map[int]*Message
	order    []int
	last     int
	refuses  string // the description of a refusal, "" for none
	moved    int64
}

// Message is a message of the bot as people see it now.
type Message struct {
	Chat    int64
	ID      int
	Thread  int
	Method  string // which sent it
	Text    string // or the caption
	Looks   []Entity
	ReplyTo int
	Buttons [][]Button
	Name    string // of the file
	Data    []byte
	Edits   int

	mine      bool
	reactions []string // of the bot
	theirs    []string // of Ada
}

// Entity is a part of a text that looks otherwise, in UTF-16 code units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Button is a button below a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// AddChat adds a chat, or changes it.
func (s *Server) AddChat(c Chat) {
	s.set(func() {
		if known := s.chats[c.ID]; known != nil {
			known.Chat = c
			return
		}
		s.chats[c.ID] = &chat{Chat: c, topics: map[int]string{}, messages: map[int]*Message{}}
	})
}

// AddTopic begins a topic in a forum, and returns its number.
func (s *Server) AddTopic(in int64, name string) int {
	return s.Say(in, map[string]any{"message_thread_id": 0, "is_topic_message": true, "forum_topic_created": map[string]any{"name": name, "icon_color": 7322096}})
}

// Say has somebody write a message, with these fields beside the usual ones, and returns its number. The sender is Ada
// unless a field says otherwise.
func (s *Server) Say(in int64, fields map[string]any) (id int) {
	s.set(func() {
		c := s.chats[in]
		if c == nil {
			panic(fmt.Sprintf("telegramtest: there is no chat %d", in))
		}
		c.last++
		id = c.last
		body := map[string]any{
			"message_id": id, "date": time.Now().Unix(), "chat": c.Chat, "from": map[string]any{"id": Ada, "is_bot": false, "first_name": "Ada", "language_code": "en"},
		}
		for name, value := range fields {
			body[name] = value
		}
		if topic, ok := body["forum_topic_created"].(map[string]any); ok {
			body["message_thread_id"], c.topics[id] = id, topic["name"].(string)
		}
		c.messages[id] = &Message{Chat: in, ID: id}
		text, err := json.Marshal(body)
		if err != nil {
			panic("telegramtest: " + err.Error())
		}
		s.post("message", text)
	})
	return id
}

// Press has Ada press a button of the bot's, and returns the number of the query. The button must be there.
func (s *Server) Press(in int64, message int, data string) (query string) {
	s.set(func() {
		m := s.chats[in].messages[message]
		if m == nil || !slices.ContainsFunc(m.Buttons, func(row []Button) bool {
			return slices.ContainsFunc(row, func(b Button) bool { return b.Data == data })
		}) {
			panic(fmt.Sprintf("telegramtest: the message %d has no button %q", message, data))
		}
		query = strconv.Itoa(4000000 + len(s.callbacks))
		s.callbacks[query] = false
		text, err := json.Marshal(map[string]any{
			"id": query, "from": map[string]any{"id": Ada, "is_bot": false, "first_name": "Ada"}, "chat_instance": "-42", "data": data, "message": s.shown(m),
		})
		if err != nil {
			panic("telegramtest: " + err.Error())
		}
		s.post("callback_query", text)
	})
	return query
}

// React has Ada react to a message in place of all reactions that she has to it, or without an emoji take them back.
func (s *Server) React(in int64, message int, emoji ...string) {
	s.set(func() {
		c := s.chats[in]
		m := c.messages[message]
		if m == nil {
			panic(fmt.Sprintf("telegramtest: there is no message %d", message))
		}
		of := func(all []string) []map[string]string {
			reactions := []map[string]string{}
			for _, e := range all {
				reactions = append(reactions, map[string]string{"type": "emoji", "emoji": e})
			}
			return reactions
		}
		text, err := json.Marshal(map[string]any{
			"chat": c.Chat, "message_id": message, "user": map[string]any{"id": Ada, "is_bot": false, "first_name": "Ada"}, "date": time.Now().Unix(),
			"old_reaction": of(m.theirs), "new_reaction": of(emoji),
		})
		if err != nil {
			panic("telegramtest: " + err.Error())
		}
		m.theirs = emoji
		s.post("message_reaction", text)
	})
}

// Shown returns a message of the bot as the server sends it to the bot, such as within a message that answers it.
func (s *Server) Shown(in int64, message int) map[string]any {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.shown(s.chats[in].messages[message])
}

// Answered reports whether the bot said that the press of a button arrived.
func (s *Server) Answered(query string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.callbacks[query]
}

// Sent returns the messages of the bot in a chat, in the order in which they were sent, without those that were taken back.
func (s *Server) Sent(in int64) (sent []Message) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	c := s.chats[in]
	if c == nil {
		return nil
	}
	for _, id := range c.order {
		if m := c.messages[id]; m != nil && m.mine {
			sent = append(sent, *m)
		}
	}
	return sent
}

// Reactions returns how the bot reacted to a message.
func (s *Server) Reactions(in int64, message int) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if m := s.chats[in].messages[message]; m != nil {
		return slices.Clone(m.reactions)
	}
	return nil
}

// Block has a chat refuse the bot, with the description of an error 403.
func (s *Server) Block(in int64, description string) {
	s.set(func() { s.chats[in].refuses = description })
}

// Migrate makes a supergroup of a group, and tells the bot.
func (s *Server) Migrate(group, supergroup int64) {
	s.mutex.Lock()
	title := s.chats[group].Title
	s.mutex.Unlock()
	s.AddChat(Chat{ID: supergroup, Type: "supergroup", Title: title})
	s.Say(group, map[string]any{"migrate_to_chat_id": supergroup})
	s.set(func() { s.chats[group].moved = supergroup })
	s.Say(supergroup, map[string]any{"migrate_from_chat_id": group})
}

// AddFile stores a file that somebody sends, and returns its id.
func (s *Server) AddFile(data []byte) (id string) {
	s.set(func() {
		id = fmt.Sprintf("BQACAgIAAxk-%d", len(s.files)+1)
		s.files[id] = data
	})
	return id
}

// shown returns a message of the bot as the server sends it. The mutex is held.
func (s *Server) shown(m *Message) map[string]any {
	body := map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(), "chat": s.chats[m.Chat].Chat,
		"from": map[string]any{"id": BotID, "is_bot": true, "first_name": "Loft Agent", "username": BotUsername},
	}
	if m.Thread != 0 {
		body["message_thread_id"], body["is_topic_message"] = m.Thread, true
	}
	field, looks := "text", "entities"
	if m.Method != "sendMessage" {
		field, looks = "caption", "caption_entities"
	}
	if m.Text != "" {
		body[field] = m.Text
	}
	if len(m.Looks) > 0 {
		body[looks] = m.Looks
	}
	return body
}
