package composer

import (
	"reflect"
	"slices"
	"sync"

	"org-agent/kernel/prompt"
)

// cache keeps the system prompts that were composed last. While files, notes and settings stay as they
// are, the turns have the same prompt. The zero value is ready.
type cache struct {
	mu      sync.Mutex
	entries []cacheEntry // the most recently used one first
}

// cacheEntry is a prompt and its sources.
type cacheEntry struct {
	library *prompt.Library
	facts   prompt.Facts
	prompt  prompt.Prompt
}

// cacheSize is the number of prompts that are kept. Conversations at the same time may have different
// prompts.
const cacheSize = 8

// compose returns the library's prompt for the facts. Nothing may change the facts or the prompt
// afterwards.
func (c *cache) compose(library *prompt.Library, facts prompt.Facts) prompt.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, func(m cacheEntry) bool { return m.library == library && reflect.DeepEqual(m.facts, facts) })
	if at < 0 {
		c.entries = append(c.entries[:min(len(c.entries), cacheSize-1)], cacheEntry{library, facts, library.Compose(facts)})
		at = len(c.entries) - 1
	}
	found := c.entries[at]
	copy(c.entries[1:at+1], c.entries[:at])
	c.entries[0] = found
	return found.prompt
}
