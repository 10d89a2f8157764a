package tool

import (
	"context"
	"sync"
)

// Caller is the turn that calls are made in: what a tool has to know of it, and what it has had.
// Whoever runs the turn makes one, and gives it to [Registry.For]; the calls made with it share
// what a turn may have. The zero value is a turn that is in no conversation, and in which nobody
// can be asked and no work is handed on. It must not be copied.
type Caller struct {
	// Conversation is where the turn is.
	Conversation Conversation
	// Asked is the skill that the person asked for by name, which may be used even if it is
	// for people only; "" for none.
	Asked string
	// Asker puts questions before the person whose turn it is; nil when nobody can be asked.
	Asker Asker
	// Results is what came of an earlier call of the conversation, by its id; nil when there is
	// none to ask for.
	Results func(ctx context.Context, id string) (string, error)
	// Spawner hands on work of the turn; nil when none can be handed on.
	Spawner Spawner

	mu    sync.Mutex
	used  map[string]bool
	bytes int
	kept  int
}

// For returns the registry as the caller has it: its calls are made in the caller's turn. Without
// that a call is a turn by itself.
func (r *Registry) For(caller *Caller) *Registry {
	if r == nil {
		return nil
	}
	return &Registry{tools: r.tools, others: r.others, caller: caller}
}

// by is who makes a call.
func (r *Registry) by() *Caller {
	if r.caller == nil {
		return &Caller{}
	}
	return r.caller
}

// use notes that something was used and reports whether it may be: what was used before,
// or one more of at most limit.
func (c *Caller) use(name string, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.used[name] && len(c.used) >= limit {
		return false
	}
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[name] = true
	return true
}

// keep notes that one more thing is kept and reports whether it may be.
func (c *Caller) keep(limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept++
	return c.kept <= limit
}

// take takes up to wanted bytes of what is left of limit.
func (c *Caller) take(wanted, limit int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := min(wanted, limit-c.bytes)
	c.bytes += got
	return got
}
