package agent

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Matching returns the names of the skills that answer a broadcast event, the preferred one first.
// Their triggers run here and not again when the turns are answered. What happens in the person's Org
// files, and a heartbeat, is only for skills that are about it: not for one that matches everything, which would ask a model
// each time.
func (a *Agent) Matching(ctx context.Context, event protocol.Event) []string {
	matching, faults := a.config.Sources.Skills.Current().Matching(ctx, eventOf(journal.Turn{Session: event.Session, Event: event.ID, Question: event}))
	for _, err := range faults {
		a.config.Sources.Logger.Warn("trigger failed", "session", event.Session, "event", event.ID, "err", err)
	}
	particular := event.Sensor.OfOrg() || event.Sensor == protocol.SensorHeartbeat
	var names []string
	for _, k := range matching {
		if !particular || !k.MatchesAll() {
			names = append(names, k.Name)
		}
	}
	return names
}
