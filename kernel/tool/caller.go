package tool

import (
	"context"
	"sync"
)

// Caller is the turn in which calls are made: what a tool must know about the turn, and how much of
// each tool the turn has used. The owner of the turn makes one and gives it to [Registry.For]. All
// calls made with it share the turn's limits. The zero value is a turn outside of any conversation,
// which can ask nobody and start no subagents. It must not be copied.
type Caller struct {
	// Conversation is the turn's conversation.
	Conversation Conversation
	// RequestedSkill is the skill that the person asked for by name, or "". The turn may use it
	// even if it is for people only.
	RequestedSkill string
	// Asker asks the person of the turn. nil: nobody can be asked.
	Asker Asker
	// Results returns the result of an earlier call of the conversation, by its id. nil: there are
	// none.
	Results func(ctx context.Context, id string) (string, error)
	// Subagents starts subagents for the turn. nil: the turn can start none.
	Subagents Subagents

	mu    sync.Mutex
	used  map[string]bool
	bytes int
	saved int
}

// For returns the registry for a caller: its calls are made in the caller's turn. Without a caller
// each call is a turn by itself.
func (r *Registry) For(caller *Caller) *Registry {
	if r == nil {
		return nil
	}
	return &Registry{tools: r.tools, others: r.others, caller: caller}
}

// by returns the caller of a call.
func (r *Registry) by() *Caller {
	if r.caller == nil {
		return &Caller{}
	}
	return r.caller
}

// use counts the use of a name and reports whether it is allowed. A name that was used before is
// allowed. At most limit different names are.
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

// countSaved counts one more saved record and reports whether it is allowed.
func (c *Caller) countSaved(limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saved++
	return c.saved <= limit
}

// take returns how many of the wanted bytes are left of limit, and counts them as used.
func (c *Caller) take(wanted, limit int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := min(wanted, limit-c.bytes)
	c.bytes += got
	return got
}
