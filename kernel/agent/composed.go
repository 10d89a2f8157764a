package agent

import (
	"reflect"
	"slices"
	"sync"

	"org-agent/kernel/prompt"
)

// composed keeps the system prompts that were composed last: as long as files, notes and
// settings are as they were, a prompt is the same from turn to turn. The zero value is ready.
type composed struct {
	mu   sync.Mutex
	last []made // the one that was asked for last first
}

// made is what was composed, and of what.
type made struct {
	library *prompt.Library
	facts   prompt.Facts
	prompt  prompt.Prompt
}

// composedKept is how many prompts are kept: conversations that are held at once may be told
// different things.
const composedKept = 8

// of is what the library composes of the facts. Neither the facts nor the prompt may be changed
// afterwards.
func (c *composed) of(library *prompt.Library, facts prompt.Facts) prompt.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.last, func(m made) bool { return m.library == library && reflect.DeepEqual(m.facts, facts) })
	if at < 0 {
		c.last = append(c.last[:min(len(c.last), composedKept-1)], made{library, facts, library.Compose(facts)})
		at = len(c.last) - 1
	}
	found := c.last[at]
	copy(c.last[1:at+1], c.last[:at])
	c.last[0] = found
	return found.prompt
}
