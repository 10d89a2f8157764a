package transport

import (
	"log/slog"
	"sync"

	"org-agent/kernel/text"
)

// ignoredLimit is how many kinds of what is ignored are logged.
const ignoredLimit = 64

// Ignored logs what a server sends and nobody here knows. Each kind is logged once. Without a Logger nothing
// is logged.
type Ignored struct {
	Logger   *slog.Logger
	Provider string

	mu   sync.Mutex
	seen map[string]bool
}

// Note logs that something of a kind is ignored: what is "event", "block" or the like.
func (i *Ignored) Note(what, kind string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	kind = text.PlainLine(kind, MessageLimit)
	key := what + " " + kind
	if i.Logger == nil || i.seen[key] || len(i.seen) == ignoredLimit {
		return
	}
	if i.seen == nil {
		i.seen = map[string]bool{}
	}
	i.seen[key] = true
	i.Logger.Warn("the server sends something unknown, which is ignored", "provider", i.Provider, "what", what, "kind", kind)
}
