package agent

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// sent is the last request of a session, and its row in the journal. Its texts are those of the
// history, which are kept anyway.
type sent struct {
	request llm.Request
	row     int64
	depth   int // rows that it is spread over, but for its own
}

// sentKept is how many bytes of last requests are kept. The next request of a session whose
// last one is forgotten is written whole.
const sentKept = 32 << 20

// recordRequest records what a model is asked, with what it shows of earlier turns: what the
// last request of the session said already is not written again.
func (r *run) recordRequest(ctx context.Context, request llm.Request) {
	session := r.turn.Record.Session
	last, _ := r.agent.sent.Get(session)
	now := sent{request: request}
	data := struct {
		llm.Request
		journal.Repeats
		History *protocol.History `json:",omitempty"`
		For     string            `json:",omitempty"`
	}{Request: request, History: r.compose.History(), For: r.purpose}
	if same := sameMessages(last.request.Messages, request.Messages); last.row > 0 && last.depth < journal.RepeatsLimit &&
		(same > 0 || last.request.System == request.System) {
		now.depth = last.depth + 1
		data.Repeats = journal.Repeats{Base: last.row, Same: same, SameSystem: last.request.System == request.System}
		data.Messages = request.Messages[same:]
		if data.SameSystem {
			data.System = ""
		}
	}
	if now.row = r.recordOf(ctx, journal.KindModelRequest, "", data); now.row == 0 {
		return
	}
	size := len(request.System)
	for _, m := range request.Messages {
		size += len(m.Content)
	}
	r.agent.sent.Put(session, now, size)
}

// sameMessages is how many messages two requests begin with alike. One with an image is told
// of only, so that it is like no other.
func sameMessages(before, now []llm.Message) int {
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
