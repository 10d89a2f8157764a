package agent

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Matching returns the names of the skills that answer a broadcast event, the preferred one first.
// Their triggers run here and not again when the turns are answered. What happens in the person's Org
// files is only for skills that are about it: not for one that matches everything.
func (a *Agent) Matching(ctx context.Context, event protocol.Event) []string {
	matching, faults := a.config.Sources.Skills.Current().Matching(ctx, eventOf(journal.Turn{Session: event.Session, Event: event.ID, Question: event}))
	for _, err := range faults {
		a.config.Sources.Logger.Warn("trigger failed", "session", event.Session, "event", event.ID, "err", err)
	}
	var names []string
	for _, k := range matching {
		if !event.Sensor.OfOrg() || !k.MatchesAll() {
			names = append(names, k.Name)
		}
	}
	return names
}
