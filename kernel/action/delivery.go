package action

import (
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Delivery says which chat of a channel gets the text of an action.
type Delivery string

// The deliveries. The zero Delivery means that there is no such action.
const (
	NoChat    Delivery = "no-chat"    // the action names no chat
	OwnChat   Delivery = "own-chat"   // the chat that the turn came from
	OtherChat Delivery = "other-chat" // any other chat
)

// Delivery returns the delivery of an action in a turn that came by this route.
func (s Specs) Delivery(route protocol.Route, a Action) Delivery {
	i := s.Find(a.Key())
	if i < 0 || s[i].Off != "" {
		return ""
	}
	chat, named := s[i].ChatOf(a)
	switch {
	case !named:
		return NoChat
	case s[i].sendsTo(route) && chat == route.Chat:
		return OwnChat
	}
	return OtherChat
}

// ChatOf returns the chat that an action of the kind addresses. named is false if actions of the
// kind name no chat. A chat may be written as a string, a number or a keyword.
func (s Spec) ChatOf(a Action) (chat string, named bool) {
	field := s.chatField()
	if field == "" {
		return "", false
	}
	value, _ := a.Field(field)
	return chatName(value), true
}

// chatField returns the name of the field that names the chat, or "" if the kind has none.
func (s Spec) chatField() string {
	for _, f := range s.Fields {
		if f.Chat {
			return f.Name
		}
	}
	return ""
}

// chatName returns a chat as text.
func chatName(value sexp.Sexp) string {
	switch v := value.(type) {
	case nil:
		return ""
	case plist.String:
		return string(v)
	}
	if plist.IsNil(value) {
		return ""
	}
	return strings.TrimPrefix(plist.Print(value), ":")
}

// defaultChatField is the field that names the chat unless the channel's kind has another one.
const defaultChatField = "chat-id"

// RouteOf returns the route of a message whose payload is a property list. The :channel names the
// channel. The chat stands in the field that the channel's kind defines, or else in :chat-id.
func (s Specs) RouteOf(payload sexp.Sexp) protocol.Route {
	word, _ := plist.KeywordValue(payload, "channel")
	channel, chat := protocol.Channel(word), ""
	for _, spec := range s {
		if field := spec.chatField(); field != "" && spec.Target == string(channel) {
			value, _ := plist.Get(payload, field)
			chat = chatName(value)
			break
		}
	}
	if chat == "" {
		value, _ := plist.Get(payload, defaultChatField)
		chat = chatName(value)
	}
	return protocol.RouteOf(protocol.SensorChatMessage, channel, chat)
}
