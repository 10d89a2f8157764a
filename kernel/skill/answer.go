package skill

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// Answer is text as an action that answers where event came from: what the kernel makes of
// a reply that is prose.
func Answer(event sexp.List, text string) sexp.List {
	payload, _ := plist.Get(event, "payload")
	head := sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target")}
	switch channel, _ := plist.KeywordValue(payload, "channel"); channel {
	case "telegram", "signal":
		head = append(head, channel, plist.Keyword("chat-id"), plist.String(ConversationID(event)))
	case "matrix":
		head = append(head, channel, plist.Keyword("room-id"), plist.String(ConversationID(event)))
	default:
		head = append(head, plist.Keyword("emacs"), plist.Keyword("action"), plist.Keyword("insert-at-end"),
			plist.Keyword("buffer"), plist.String("*org-agent-chat*"))
	}
	return append(head, plist.Keyword("text"), plist.String(text))
}

// ConversationID is the room or chat that event came from, "" in Emacs and on the command
// line.
func ConversationID(event sexp.List) string {
	payload, _ := plist.Get(event, "payload")
	for _, key := range []string{"room-id", "chat-id"} {
		if id, ok := plist.Text(payload, key); ok && id != "" {
			return id
		}
	}
	return ""
}
