package agent

import (
	"cmp"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// conversation is where the turn takes place, for what is kept.
func (r *run) conversation() tool.Conversation {
	return conversationOf(r.turn.Record)
}

// conversationOf: the person is alone with the agent in Emacs and at the command line, unless
// the message says that others are there; of any other channel that is not known, so they are
// not. A conversation is known by its id on the channel, which names do not change.
func conversationOf(record journal.Turn) tool.Conversation {
	alone := false
	if record.Question.Route.Local() {
		group := record.Question.Payload.Get(protocol.PayloadGroup)
		alone = group == nil || group == false
	}
	return tool.Conversation{
		Session: record.Session, Turn: record.ID, Event: record.Event, Alone: alone,
		Name: cmp.Or(record.Question.Route.Chat, record.Session),
	}
}
