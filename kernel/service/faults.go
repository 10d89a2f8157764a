package service

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// Faults remembers the faults of which people were notified, so that each is reported once while it
// lasts. Notify notifies every client. Both fields are required.
type Faults struct {
	Logger *slog.Logger
	Notify func(method string, params any)

	mu       sync.Mutex
	reported map[string][]string // by the thing that has the faults
}

// Tell logs the faults that were not reported before and notifies the clients. now holds all
// current faults of one thing.
func (f *Faults) Tell(of string, now []string) {
	f.mu.Lock()
	before := f.reported[of]
	if f.reported == nil {
		f.reported = map[string][]string{}
	}
	f.reported[of] = now
	f.mu.Unlock()
	for _, text := range now {
		if !slices.Contains(before, text) {
			f.Logger.Warn("not in order: "+of, "err", text)
			f.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
		}
	}
	if len(before) > 0 && len(now) == 0 {
		f.Logger.Info("in order again: " + of)
	}
}

// Lasting returns the reported faults that still hold.
func (f *Faults) Lasting() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, of := range slices.Sorted(maps.Keys(f.reported)) {
		all = append(all, f.reported[of]...)
	}
	return all
}
