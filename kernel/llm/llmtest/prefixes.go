package llmtest

import "sync"

// prefix is a beginning of a request: a hash of it, and how many bytes it has.
type prefix struct {
	hash  string
	bytes int
	// marked is set if the server is to keep this beginning. Otherwise it only looks for it.
	marked bool
}

// cached counts the bytes of a request: those that the server had kept, those that it keeps now, and the
// others.
type cached struct{ read, created, fresh int }

// cache has the beginnings of requests that a server was to keep. The zero value is ready.
type cache struct {
	mu   sync.Mutex
	kept map[string]bool
}

// lookback is how many blocks before a mark a server looks for a beginning that it has kept.
const lookback = 20

// count returns what was kept of a request whose beginnings are these, one for each block, and keeps those
// that are marked.
func (c *cache) count(all []prefix) (counted cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]bool{}
	}
	total, marked := 0, 0
	for i, p := range all {
		total = p.bytes
		if !p.marked {
			continue
		}
		marked = p.bytes
		for j := i; j >= max(0, i-lookback); j-- {
			if c.kept[all[j].hash] {
				counted.read = max(counted.read, all[j].bytes)
			}
		}
	}
	for _, p := range all {
		if p.marked {
			c.kept[p.hash] = true
		}
	}
	counted.created, counted.fresh = max(0, marked-counted.read), total-max(marked, counted.read)
	return counted
}
