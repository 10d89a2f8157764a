package session

import (
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/protocol"
)

// matchedByTrigger says, as the origin of a setting, why a skill answers a broadcast event.
const matchedByTrigger = "its trigger, for an event that is for all,"

// Broadcast takes an event that is for all of the skills: each answers it in a turn of its own,
// with an answer of its own, in their order. When it returns nil the journal has all of the
// turns, on the disk. The turn of the last skill has the event's id, and the result names that one;
// those before it have the id with their number behind it. The same event again is acknowledged
// again and answered once, also when the kernel ended half way: the event's own id is kept last.
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
