package agent

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// eventOf returns the event that a skill's functions get before the first step of a turn.
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
	if record.Question.Sensor == protocol.SensorSubagent {
		payload = append(payload, plist.Keyword("subagent"), plist.T)
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

// contextPlist describes the items that were sent along, for a skill's functions. These get the names
// and sizes; only the model gets the contents.
func contextPlist(items []protocol.ContextItem) sexp.List {
	list := make(sexp.List, len(items))
	for i, item := range items {
		described := sexp.List{
			plist.Keyword("kind"), plist.Keyword(item.Kind), plist.Keyword("name"), plist.String(item.Name),
			plist.Keyword("bytes"), plist.Int(int64(item.Bytes)),
		}
		if item.Place != "" {
			described = append(described, plist.Keyword("place"), plist.String(item.Place))
		}
		list[i] = described
	}
	return list
}
