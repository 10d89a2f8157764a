package telegramtest

import (
	"bytes"
	"image"
	_ "image/jpeg" // pictures are looked at
	_ "image/png"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// method is a method of the server.
type method struct {
	name  string
	takes string // the parameters; those with an exclamation mark must be there
	file  string // the parameter that is a file
	do    func(s *Server, c call) (any, error)
}

const (
	sendParameters = "chat_id! message_thread_id disable_notification protect_content reply_parameters reply_markup "
	captions       = "caption caption_entities "
)

// methods are what a bot may call here.
var methods = func() map[string]method {
	all := map[string]method{}
	for _, m := range []method{
		{"getMe", "", "", getMe},
		{"getUpdates", "offset limit timeout allowed_updates", "", nil},
		{"sendMessage", sendParameters + "text! entities link_preview_options", "", send},
		{"sendPhoto", sendParameters + captions + "photo!", "photo", send},
		{"sendDocument", sendParameters + captions + "document! disable_content_type_detection", "document", send},
		{"sendAudio", sendParameters + captions + "audio!", "audio", send},
		{"sendVideo", sendParameters + captions + "video!", "video", send},
		{"sendAnimation", sendParameters + captions + "animation!", "animation", send},
		{"sendVoice", sendParameters + captions + "voice!", "voice", send},
		{"editMessageText", "chat_id! message_id! text! entities link_preview_options reply_markup", "", edit},
		{"editMessageCaption", "chat_id! message_id! caption caption_entities reply_markup", "", edit},
		{"deleteMessage", "chat_id! message_id!", "", deleteMessage},
		{"setMessageReaction", "chat_id! message_id! reaction is_big", "", react},
		{"sendChatAction", "chat_id! message_thread_id action!", "", chatAction},
		{"getFile", "file_id!", "", getFile},
		{"answerCallbackQuery", "callback_query_id! text show_alert url cache_time", "", answerQuery},
	} {
		all[m.name] = m
	}
	return all
}()

func getMe(*Server, call) (any, error) {
	return map[string]any{
		"id": BotID, "is_bot": true, "first_name": "Loft Agent", "username": BotUsername, "can_join_groups": true, "can_read_all_group_messages": false, "supports_inline_queries": false,
	}, nil
}

// chatOf returns the chat of a call, and its topic.
func (s *Server) chatOf(c call) (*chat, int, error) {
	id, err := c.number("chat_id")
	if err != nil {
		return nil, 0, err
	}
	in := s.chats[id]
	if in == nil {
		return nil, 0, badRequest("chat not found")
	}
	if in.moved != 0 {
		return nil, 0, &problem{outcome: Outcome{Code: http.StatusBadRequest, Description: "Bad Request: group chat was upgraded to a supergroup chat"}, moved: in.moved}
	}
	if in.refuses != "" {
		return nil, 0, &problem{outcome: Outcome{Code: http.StatusForbidden, Description: in.refuses}}
	}
	thread, err := c.number("message_thread_id")
	if err == nil && thread != 0 && in.topics[int(thread)] == "" {
		err = badRequest("message thread not found")
	}
	return in, int(thread), err
}

// messageOf returns the message of a call.
func (s *Server) messageOf(c call, missing string) (*Message, error) {
	in, _, err := s.chatOf(c)
	if err != nil {
		return nil, err
	}
	id, err := c.number("message_id")
	if err != nil {
		return nil, err
	}
	m := in.messages[int(id)]
	if m == nil {
		return nil, badRequest("%s", missing)
	}
	return m, nil
}

func send(s *Server, c call) (any, error) {
	in, thread, err := s.chatOf(c)
	if err != nil {
		return nil, err
	}
	m := &Message{Chat: in.ID, Thread: thread, Method: c.name, Name: c.named, Data: c.file, mine: true}
	if m.Text, m.Looks, err = c.textAndLooks(); err != nil {
		return nil, err
	}
	if m.Buttons, err = c.buttons(); err != nil {
		return nil, err
	}
	var reply struct {
		Message int  `json:"message_id"`
		Allow   bool `json:"allow_sending_without_reply"`
	}
	if err := c.decode("reply_parameters", &reply); err != nil {
		return nil, err
	}
	if in.messages[reply.Message] != nil {
		m.ReplyTo = reply.Message
	} else if reply.Message != 0 && !reply.Allow {
		return nil, badRequest("message to be replied not found")
	}
	if err := c.decode("link_preview_options", new(struct {
		Disabled bool `json:"is_disabled"`
	})); err != nil {
		return nil, err
	}
	if c.name == "sendPhoto" {
		if err := photo(c.file); err != nil {
			return nil, err
		}
	}
	in.last++
	m.ID = in.last
	in.messages[m.ID] = m
	in.order = append(in.order, m.ID)
	return s.shown(m), nil
}

// photo refuses what is no picture, or one that is too large or too narrow.
func photo(data []byte) error {
	if len(data) > 10<<20 {
		return badRequest("file is too big")
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return badRequest("IMAGE_PROCESS_FAILED")
	}
	if c.Width+c.Height > 10000 || c.Width > 20*c.Height || c.Height > 20*c.Width {
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

func edit(s *Server, c call) (any, error) {
	m, err := s.messageOf(c, "message to edit not found")
	if err != nil {
		return nil, err
	}
	if !m.mine {
		return nil, badRequest("message can't be edited")
	}
	if c.name == "editMessageText" && m.Method != "sendMessage" {
		return nil, badRequest("there is no text in the message to edit")
	}
	if c.name == "editMessageCaption" && m.Method == "sendMessage" {
		return nil, badRequest("there is no caption in the message to edit")
	}
	text, looks, err := c.textAndLooks()
	if err != nil {
		return nil, err
	}
	buttons, err := c.buttons()
	if err != nil {
		return nil, err
	}
	if text == m.Text && reflect.DeepEqual(looks, m.Looks) && reflect.DeepEqual(buttons, m.Buttons) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.Text, m.Looks, m.Buttons = text, looks, buttons
	m.Edits++
	return s.shown(m), nil
}

func deleteMessage(s *Server, c call) (any, error) {
	m, err := s.messageOf(c, "message to delete not found")
	if err != nil {
		return nil, err
	}
	if in := s.chats[m.Chat]; !m.mine && in.Type != "private" {
		return nil, badRequest("message can't be deleted")
	}
	delete(s.chats[m.Chat].messages, m.ID)
	return true, nil
}

func react(s *Server, c call) (any, error) {
	m, err := s.messageOf(c, "message to react not found")
	if err != nil {
		return nil, err
	}
	var wanted []struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	if err := c.decode("reaction", &wanted); err != nil {
		return nil, err
	}
	if len(wanted) > 1 {
		return nil, badRequest("REACTIONS_TOO_MANY")
	}
	var reactions []string
	for _, r := range wanted {
		if r.Type != "emoji" || !isReaction(r.Emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
		reactions = append(reactions, r.Emoji)
	}
	m.reactions = reactions
	return true, nil
}

func chatAction(s *Server, c call) (any, error) {
	if _, _, err := s.chatOf(c); err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Fields("typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note"), c.text("action")) {
		return nil, badRequest("wrong parameter action in request")
	}
	return true, nil
}

func getFile(s *Server, c call) (any, error) {
	id := c.text("file_id")
	data, ok := s.files[id]
	if !ok {
		return nil, badRequest("invalid file_id")
	}
	if len(data) > 20<<20 {
		return nil, badRequest("file is too big")
	}
	return map[string]any{"file_id": id, "file_unique_id": "u" + id, "file_size": len(data), "file_path": "documents/" + id}, nil
}

func answerQuery(s *Server, c call) (any, error) {
	id := c.text("callback_query_id")
	if answered, ok := s.callbacks[id]; !ok || answered {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	s.callbacks[id] = true
	return true, nil
}

// isReaction reports whether bots may react with an emoji. These are the code points of those of the manual.
func isReaction(emoji string) bool {
	var points []string
	for _, r := range emoji {
		points = append(points, strconv.FormatInt(int64(r), 16))
	}
	return slices.Contains(strings.Fields(reactions), strings.Join(points, "-"))
}

const reactions = `
1f44d 1f44e 2764 1f525 1f970 1f44f 1f601 1f914 1f92f 1f631 1f92c 1f622 1f389 1f929 1f92e 1f4a9
1f64f 1f44c 1f54a 1f921 1f971 1f974 1f60d 1f433 2764-200d-1f525 1f31a 1f32d 1f4af 1f923 26a1 1f34c 1f3c6
1f494 1f928 1f610 1f353 1f37e 1f48b 1f595 1f608 1f634 1f62d 1f913 1f47b 1f468-200d-1f4bb 1f440 1f383 1f648
1f607 1f628 1f91d 270d 1f917 1fae1 1f385 1f384 2603 1f485 1f92a 1f5ff 1f192 1f498 1f649 1f984
1f618 1f48a 1f64a 1f60e 1f47e 1f937-200d-2642 1f937 1f937-200d-2640 1f621
`
