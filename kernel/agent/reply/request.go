package reply

import (
	"context"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// lastRequest is the last request of a session and its row in the journal. It shares its texts with the
// cache of the history.
type lastRequest struct {
	request history.RequestRow
	row     int64
	depth   int // the number of earlier rows that have parts of it
}

// requestCacheBytes bounds the last requests in memory. If a session's last request is not in memory,
// its next request is written whole.
const requestCacheBytes = 32 << 20

// recordRequest records the rendered request with a description of the earlier turns in it. It does not
// write again the first messages that equal those of the session's last request.
func (a *asker) recordRequest(ctx context.Context) {
	request := history.RowOf(a.rendered)
	session := a.turn.Record.Session
	last, _ := a.turn.Sender.requests.Get(session)
	now := lastRequest{request: request}
	data := struct {
		history.RequestRow
		journal.Repeats
		History *protocol.History `json:",omitempty"`
		For     string            `json:",omitempty"`
	}{RequestRow: request, History: a.turn.Requests.History(), For: a.purpose}
	if same := sameMessages(last.request.Messages, request.Messages); last.row > 0 && last.depth < journal.RepeatsLimit &&
		(same > 0 || last.request.System == request.System) {
		now.depth = last.depth + 1
		data.Repeats = journal.Repeats{Base: last.row, Same: same, SameSystem: last.request.System == request.System}
		data.Messages = request.Messages[same:]
		if data.SameSystem {
			data.System = ""
		}
	}
	if now.row = a.turn.Rows.RecordNow(ctx, journal.KindModelRequest, "", data); now.row == 0 {
		return
	}
	size := len(request.System)
	for _, m := range request.Messages {
		size += len(m.Content)
	}
	a.turn.Sender.requests.Put(session, now, size)
}

// sameMessages returns how many first messages two requests have in common. A row has only a
// description of an image, so a message with an image equals no other.
func sameMessages(before, now []history.MessageRow) int {
	same := 0
	for same < min(len(before), len(now)) {
		a, b := before[same], now[same]
		if a.Role != b.Role || a.Content != b.Content || len(a.Images)+len(b.Images) > 0 {
			break
		}
		same++
	}
	return same
}
