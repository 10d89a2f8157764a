package service

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// Faults remembers the faults of which people were notified, so that each is reported once while it
// lasts. Notify notifies every client, and Clients counts them. All fields are required.
type Faults struct {
	Logger  *slog.Logger
	Notify  func(method string, params any)
	Clients func() int

	mu       sync.Mutex
	reported map[string][]string // by subject
}

// Report takes all current faults of a subject. It logs those that it did not hold before and notifies
// the clients of them.
func (f *Faults) Report(subject string, current []string) {
	f.mu.Lock()
	before := f.reported[subject]
	if f.reported == nil {
		f.reported = map[string][]string{}
	}
	f.reported[subject] = current
	f.mu.Unlock()
	for _, text := range current {
		if !slices.Contains(before, text) {
			f.Logger.Warn("not in order: "+subject, "err", text)
			f.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
		}
	}
	if len(before) > 0 && len(current) == 0 {
		f.Logger.Info("in order again: " + subject)
	}
}

// Warn warns the clients once of something that is not in order. If no client is connected, the text is
// a fault of the subject, of which the next client that connects is notified.
func (f *Faults) Warn(subject, text string) {
	if f.Clients() == 0 {
		f.Report(subject, []string{text})
		return
	}
	f.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
}

// Current returns the reported faults that still hold.
func (f *Faults) Current() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, subject := range slices.Sorted(maps.Keys(f.reported)) {
		all = append(all, f.reported[subject]...)
	}
	return all
}
