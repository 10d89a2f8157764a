package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Recordings reads turns of a journal for tests that replay them.
type Recordings struct {
	Turns Turns
	Rows  composer.Rows
	Acts  interface {
		ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
	}
}

// Recording returns a turn for a test: the event that the skill got, the usable replies of the turn's
// last attempt, and the action that became its answer. The error has CodeNotFound if there is no such
// turn. A turn without an answer cannot be replayed.
func (r Recordings) Recording(ctx context.Context, id string) (skill.Recording, error) {
	turn, err := r.Turns.Turn(ctx, id)
	if err != nil {
		return skill.Recording{}, fmt.Errorf("recall the turn: %w", err)
	}
	replies, err := r.repliesOf(ctx, id)
	if err != nil {
		return skill.Recording{}, fmt.Errorf("recall the turn %s: %w", id, err)
	}
	acts, err := r.Acts.ActsOf(ctx, id)
	if err != nil {
		return skill.Recording{}, fmt.Errorf("recall the turn %s: %w", id, err)
	}
	recording := skill.Recording{Event: eventOf(turn), Replies: replies}
	for _, a := range acts {
		if a.Kind != journal.ActAnswer {
			continue
		}
		answer, err := action.Read(a.Action)
		if err != nil {
			return skill.Recording{}, fmt.Errorf("recall the turn %s: read its action: %w", id, err)
		}
		recording.Action = answer.List()
	}
	if recording.Action == nil {
		return skill.Recording{}, fmt.Errorf("the turn %s has no answer to compare with", id)
	}
	return recording, nil
}

// repliesOf returns the model's replies in the turn's last attempt, without the unusable ones.
func (r Recordings) repliesOf(ctx context.Context, turn string) ([]string, error) {
	var replies []string
	query := journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindTurn, journal.KindModelReply, journal.KindProposal}}
	for {
		entries, err := r.Rows.Entries(ctx, query)
		if err != nil || len(entries) == 0 {
			return replies, err
		}
		for _, e := range entries {
			query.After = e.Seq
			var data struct {
				State          protocol.TurnState
				Text, Unusable string
				journal.Stub
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return nil, fmt.Errorf("read row %d: %w", e.Seq, err)
			}
			if data.Missing != "" {
				return nil, fmt.Errorf("the %s in row %d is not here: %s", e.Kind, e.Seq, data.Missing)
			}
			switch {
			case e.Kind == journal.KindTurn && data.State == protocol.TurnQueued:
				replies = nil
			case e.Kind == journal.KindModelReply:
				replies = append(replies, data.Text)
			case e.Kind == journal.KindProposal && data.Unusable != "" && len(replies) > 0:
				replies = replies[:len(replies)-1]
			}
		}
	}
}
