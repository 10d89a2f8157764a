package session

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Find returns the turn of the id, with its question and one answer. If the turn has not ended, the
// client is notified of its end, as if it showed the conversation.
func (h *Sessions) Find(ctx context.Context, client Client, p protocol.TurnFindParams) (protocol.TurnFindResult, error) {
	switch p.Form {
	case "", protocol.FormSubtree, protocol.FormPlain, protocol.FormRaw:
	default:
		return protocol.TurnFindResult{}, protocol.Errorf(protocol.CodeInvalidParams,
			"%q is no :form of a text; :subtree, :plain and :raw are", p.Form)
	}
	turn, err := owner(ctx, h.config.Journal, p.ID)
	if err == nil && !turn.State.Final() {
		id := turn.ID
		h.endWaiters.add(id, client)
		if turn, err = h.config.Journal.Turns.Turn(ctx, id); err != nil || turn.State.Final() {
			h.endWaiters.drop(id, client)
		}
	}
	if err != nil {
		return protocol.TurnFindResult{}, err
	}
	acts, err := h.config.Journal.Acts.ActsOf(ctx, turn.ID)
	if err != nil {
		return protocol.TurnFindResult{}, err
	}
	result := protocol.TurnFindResult{
		Session: turn.Session, Turn: turn.ID, Event: turn.Event, State: turn.State,
		Question: questionInForm(p.Form, turn),
	}
	for _, act := range acts {
		if act.Kind == journal.ActAction || act.Kind == journal.ActSent && act.ID != p.ID {
			continue
		}
		result.AnswerID, result.Answer, result.Notice = act.ID, answerInForm(p.Form, act), act.Kind == journal.ActNotice
		if act.ID == p.ID {
			break
		}
	}
	return result, nil
}

// owner returns the turn by the id of its question, of one of its answers, or its own.
func owner(ctx context.Context, j Journal, id string) (journal.Turn, error) {
	turn, err := j.Turns.TurnOfEvent(ctx, id)
	if protocol.ErrorCode(err) != protocol.CodeNotFound {
		return turn, err
	}
	act, err := j.Acts.Act(ctx, id)
	switch {
	case err == nil:
		return j.Turns.Turn(ctx, act.Turn)
	case protocol.ErrorCode(err) != protocol.CodeNotFound:
		return journal.Turn{}, err
	}
	turn, err = j.Turns.Turn(ctx, id)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		err = protocol.Errorf(protocol.CodeNotFound, "nothing that was said has the id %q", id)
	}
	return turn, err
}

// questionInForm returns the question in the form.
func questionInForm(form protocol.Form, turn journal.Turn) string {
	if form == protocol.FormRaw || form == protocol.FormPlain {
		return turn.Question.Text
	}
	return questionSubtree(turn)
}

// answerInForm returns the text of an act in the form. Notices of the kernel have no raw form.
func answerInForm(form protocol.Form, act journal.Act) string {
	switch {
	case form == protocol.FormPlain || form == protocol.FormRaw && act.Kind == journal.ActNotice:
		return act.Plain
	case form == protocol.FormRaw:
		return act.Raw
	}
	return act.Text
}
