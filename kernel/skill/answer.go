package skill

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// answer is text as an action that answers where event came from, as the kernel makes one of a
// reply that is prose: a message to the room or chat that a channel's event names, else text in
// the conversation.
func answer(event sexp.List, text string) sexp.List {
	payload, _ := plist.Get(event, "payload")
	list := sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target")}
	channel, _ := plist.KeywordValue(payload, "channel")
	for _, key := range []string{"room-id", "chat-id"} {
		if id, ok := plist.Text(payload, key); ok && id != "" && channel != "" {
			return append(list, channel, plist.Keyword(key), plist.String(id), plist.Keyword("text"), plist.String(text))
		}
	}
	return append(list, plist.Keyword("emacs"), plist.Keyword("action"), plist.Keyword("insert-at-end"),
		plist.Keyword("buffer"), plist.String("*org-agent-chat*"), plist.Keyword("text"), plist.String(text))
}
