package agent

import (
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// eventOf is the context when nothing has been done yet.
func eventOf(record journal.Turn) sexp.List {
	text := record.Question.Words()
	if record.Question.Command != "" {
		text = record.Question.Arguments
	}
	sensor := record.Question.Sensor
	if record.Question.Message() {
		sensor = protocol.SensorChatMessage
	}
	payload := sexp.List{
		plist.Keyword("sensor"), plist.Keyword(sensor),
		plist.Keyword("text"), plist.String(text),
		plist.Keyword("channel"), plist.Keyword(record.Question.Route.Channel),
	}
	if record.Question.Command != "" {
		payload = append(payload, plist.Keyword("command"), plist.String(record.Question.Command))
	}
	if len(record.Question.Context) > 0 {
		payload = append(payload, plist.Keyword("context"), contextPlist(record.Question.Context))
	}
	if extra, err := plist.Marshal(record.Question.Payload); err == nil {
		if list, ok := extra.(sexp.List); ok {
			payload = append(payload, list...)
		}
	}
	return sexp.List{
		plist.Keyword("type"), plist.Keyword("event"),
		plist.Keyword("id"), plist.String(record.Event),
		plist.Keyword("session"), plist.String(record.Session),
		plist.Keyword("turn"), plist.String(record.ID),
		plist.Keyword("payload"), payload,
	}
}

// blank reports whether there is nothing to show in text.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// contextPlist is what a skill's functions are told of what went along: they see that it
// is there, the model sees what it is.
func contextPlist(items []protocol.ContextItem) sexp.List {
	list := make(sexp.List, len(items))
	for i, item := range items {
		told := sexp.List{
			plist.Keyword("kind"), plist.Keyword(item.Kind), plist.Keyword("name"), plist.String(item.Name),
			plist.Keyword("bytes"), plist.Int(int64(item.Bytes)),
		}
		if item.Place != "" {
			told = append(told, plist.Keyword("place"), plist.String(item.Place))
		}
		list[i] = told
	}
	return list
}
