// Package lru caches values that were used recently, up to a bound on their size. It is for values
// that can be read or computed again.
package lru

import "sync"

// Cache holds values by their keys until values that were used later need the room. It is safe for
// many goroutines. The zero value holds nothing. A later value of a key takes the place of the one
// before. Callers must not change what a value points to.
type Cache[K comparable, V any] struct {
	bound int

	mu sync.Mutex
	// Entries that are used are in young. When young fills half of the bound it becomes old, and
	// the old map is dropped. So everything used since then stays, and no order has to be
	// maintained.
	young, old map[K]entry[V]
	size       int // the size of young
}

type entry[V any] struct {
	value V
	size  int
}

// New returns a cache that holds values of at most that size together.
func New[K comparable, V any](bound int) *Cache[K, V] {
	return &Cache[K, V]{bound: bound}
}

// Get returns the value of a key, if the cache has it.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.young[key]; ok {
		return known.value, true
	}
	known, ok := c.old[key]
	if ok {
		c.put(key, known)
	}
	return known.value, ok
}

// Put adds a value of that size. It ignores a value that needs more than half of the bound.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, entry[V]{value, max(size, 0) + entryOverhead})
}

// entryOverhead is the size of an entry without its value, in bytes.
const entryOverhead = 64

func (c *Cache[K, V]) put(key K, one entry[V]) {
	if one.size > c.bound/2 {
		return
	}
	if known, ok := c.young[key]; ok {
		c.size -= known.size
		delete(c.young, key)
	}
	if c.young == nil || c.size+one.size > c.bound/2 {
		c.old, c.young, c.size = c.young, map[K]entry[V]{}, 0
	}
	c.young[key] = one
	c.size += one.size
}
