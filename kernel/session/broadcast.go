package session

import (
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/protocol"
)

// matchedByTrigger says, as the origin of a setting, why a skill answers a broadcast event.
const matchedByTrigger = "its trigger, for an event that is for all,"

// Broadcast submits an event to all of the skills. Each skill answers in a turn of its own, in their
// order. When it returns nil all turns are durable in the journal. The turn of the last skill has the
// event's id, and is the result; the earlier ones have the id with a number behind it. A repeated
// event is acknowledged again and answered once, also if the kernel ended half way, because the
// event's own id is recorded last.
func (h *Sessions) Broadcast(ctx context.Context, event protocol.Event, skills []string) (result protocol.EventResult, err error) {
	if event.ID == "" {
		event.ID = h.config.NewID()
	}
	if _, err := h.config.Journal.Turns.TurnOfEvent(ctx, event.ID); protocol.ErrorCode(err) != protocol.CodeNotFound {
		if err != nil {
			return result, err
		}
		return h.Submit(ctx, event) // it is known
	}
	for i, name := range skills {
		one := event
		if i < len(skills)-1 {
			one.ID = fmt.Sprintf("%.*s+%d", protocol.IDLimit-8, event.ID, i+1)
		}
		one.Settings = append(slices.Clone(event.Settings), protocol.TurnSetting{Name: protocol.SettingSkill, Value: name, From: matchedByTrigger})
		if result, err = h.Submit(ctx, one); err != nil {
			return result, err
		}
	}
	return result, nil
}
