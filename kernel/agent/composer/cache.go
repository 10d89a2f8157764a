package composer

import (
	"reflect"
	"slices"
	"sync"

	"org-agent/kernel/prompt"
)

// cache keeps the system prompts that were composed last. As long as files, notes and settings
// stay as they are, a prompt is the same from turn to turn. The zero value is ready.
type cache struct {
	mu   sync.Mutex
	last []cached // the most recently wanted one first
}

// cached is a prompt with what it was composed of.
type cached struct {
	library *prompt.Library
	facts   prompt.Facts
	prompt  prompt.Prompt
}

// cacheSize is how many prompts are kept: conversations that are held at once may be told
// different things.
const cacheSize = 8

// compose returns what the library composes of the facts. Neither the facts nor the prompt may be
// changed afterwards.
func (c *cache) compose(library *prompt.Library, facts prompt.Facts) prompt.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.last, func(m cached) bool { return m.library == library && reflect.DeepEqual(m.facts, facts) })
	if at < 0 {
		c.last = append(c.last[:min(len(c.last), cacheSize-1)], cached{library, facts, library.Compose(facts)})
		at = len(c.last) - 1
	}
	found := c.last[at]
	copy(c.last[1:at+1], c.last[:at])
	c.last[0] = found
	return found.prompt
}
