package service

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// Faults are what people were told of that is not in order, so that each is told once for as
// long as it lasts. Notify tells every client; both fields are required.
type Faults struct {
	Logger *slog.Logger
	Notify func(method string, params any)

	mu   sync.Mutex
	told map[string][]string // by what they are of
}

// Tell logs and notifies of those that were not told before. now is all that is wrong with one
// sort of things.
func (f *Faults) Tell(of string, now []string) {
	f.mu.Lock()
	before := f.told[of]
	if f.told == nil {
		f.told = map[string][]string{}
	}
	f.told[of] = now
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

// Lasting is what people were told of and is still so.
func (f *Faults) Lasting() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, of := range slices.Sorted(maps.Keys(f.told)) {
		all = append(all, f.told[of]...)
	}
	return all
}
