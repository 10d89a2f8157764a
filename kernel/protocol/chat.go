package protocol

import "strings"

// The methods for the conversations on channels. [MethodChatChanged] is a notification of the kernel.
const (
	MethodChatList     = "chat/list"
	MethodChatMessages = "chat/messages"
	MethodChatSeen     = "chat/seen"
	MethodChatSay      = "chat/say"
	MethodChatMove     = "chat/move"
	MethodChatChanged  = "chat/changed"
)

// Chat is a conversation on a channel. Session is the conversation of the agent in which it is answered. Title is "" for one
// without a name, and Shared says that others than its sender read it. Last and LastText are the time and the text of the last
// message, and LastSender is who wrote it, "" for the agent; ByHand says that the owner wrote it through its account. Unread counts the messages of others that the owner has not
// seen. Connected says that the channel is, so that something can be sent.
type Chat struct {
	Channel    Channel `json:"channel"`
	Chat       string  `json:"chat"`
	Session    string  `json:"session"`
	Title      string  `json:"title,omitempty"`
	Shared     bool    `json:"shared,omitempty"`
	Last       string  `json:"last"` // RFC 3339
	LastSender string  `json:"last-sender,omitempty"`
	LastText   string  `json:"last-text,omitempty"`
	ByHand     bool    `json:"by-hand,omitempty"`
	Unread     int     `json:"unread,omitempty"`
	Connected  bool    `json:"connected,omitempty"`
}

// ChatListResult are the conversations, that with the latest message first. Unread counts the messages of all of them. Left
// is how many conversations are not listed.
type ChatListResult struct {
	Chats  []Chat `json:"chats,omitempty"`
	Unread int    `json:"unread"`
	Left   int    `json:"left,omitempty"`
}

// ChatParams names a conversation on a channel. The kernel notifies clients with it when something in it changed.
type ChatParams struct {
	Channel Channel `json:"channel"`
	Chat    string  `json:"chat"`
}

// ChatMessagesParams asks for the last messages of a conversation, at most Limit, by default 100. With Before, only those
// before the message of that number.
type ChatMessagesParams struct {
	Channel Channel `json:"channel"`
	Chat    string  `json:"chat"`
	Before  int64   `json:"before,omitempty"`
	Limit   int     `json:"limit,omitempty"`
}

// ChatMessagesResult are messages, the oldest first. More says that there are earlier ones.
type ChatMessagesResult struct {
	Chat     Chat          `json:"chat"`
	Messages []ChatMessage `json:"messages,omitempty"`
	More     bool          `json:"more,omitempty"`
}

// ChatMessage is a message as people see it now. Sender is the permanent name of its author and Name how they call themselves;
// both are "" for the agent, and ByHand says that the owner wrote it through its account. Kind is "" for a message, and otherwise what happened in the chat.
type ChatMessage struct {
	Number      int64            `json:"number"`
	ID          string           `json:"id"`
	Kind        Keyword          `json:"kind,omitempty"`
	Sender      string           `json:"sender,omitempty"`
	Name        string           `json:"name,omitempty"`
	ByHand      bool             `json:"by-hand,omitempty"`
	Time        string           `json:"time"` // RFC 3339
	Text        string           `json:"text,omitempty"`
	ReplyTo     string           `json:"reply-to,omitempty"`
	Forwarded   string           `json:"forwarded,omitempty"`
	Edited      string           `json:"edited,omitempty"`  // RFC 3339, "" if it never was
	Deleted     string           `json:"deleted,omitempty"` // RFC 3339, "" if it is there
	Reactions   []ChatReaction   `json:"reactions,omitempty"`
	Attachments []ChatAttachment `json:"attachments,omitempty"`
}

// ChatReaction is how many people reacted to a message with an emoji.
type ChatReaction struct {
	Emoji string `json:"emoji"`
	Count int    `json:"count"`
}

// ChatAttachment is a file of a message. Path is where it is; without one Fault says why it was not kept.
type ChatAttachment struct {
	Name  string `json:"name"`
	Media string `json:"media,omitempty"` // a MIME type
	Size  int64  `json:"size"`            // bytes
	Path  string `json:"path,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// ChatSayParams is what the owner says in a conversation, through the agent's account. It is said once for an ID.
type ChatSayParams struct {
	ID      string  `json:"id"`
	Channel Channel `json:"channel"`
	Chat    string  `json:"chat"`
	Text    string  `json:"text"` // Org
}

// ChatSayResult says in words what became of it: it was sent, or waits.
type ChatSayResult struct {
	Outcome string `json:"outcome"`
}

// ChatMoveParams has a conversation on a channel answered in another conversation of the agent from now on. Session is ""
// for the one that it has of its own.
type ChatMoveParams struct {
	Channel Channel `json:"channel"`
	Chat    string  `json:"chat"`
	Session string  `json:"session,omitempty"`
}

// strangerPrefix is how the ids of items begin that are about strangers.
const strangerPrefix = "stranger "

// StrangerItem returns the id of the item about somebody who may not talk, by the channel's name and their id there.
func StrangerItem(channel, id string) string { return strangerPrefix + channel + " " + id }

// Stranger returns whom an item is about by its id, and "" twice for an item about nobody.
func Stranger(item string) (channel, id string) {
	rest, ok := strings.CutPrefix(item, strangerPrefix)
	channel, id, found := strings.Cut(rest, " ")
	if !ok || !found || channel == "" || id == "" {
		return "", ""
	}
	return channel, id
}
