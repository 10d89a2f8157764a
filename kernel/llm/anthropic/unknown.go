package anthropic

import (
	"log/slog"
	"sync"
)

// unknownsLimit is how many kinds of unknown events are told of.
const unknownsLimit = 32

// unknowns are the kinds of events and blocks that are not known. Each is told of once. The zero value is
// ready.
type unknowns struct {
	mu   sync.Mutex
	seen map[string]bool
}

// note tells of a kind that is not known.
func (u *unknowns) note(logger *slog.Logger, provider, what, kind string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := what + " " + kind
	if u.seen[key] || len(u.seen) == unknownsLimit {
		return
	}
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[key] = true
	logger.Warn("the server sends something unknown, which is ignored", "provider", provider, "what", what, "kind", kind)
}
