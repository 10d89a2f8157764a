// Package lru keeps what was used lately, up to a bound: what can be had again by reading
// or reckoning, and is asked for again and again.
package lru

import "sync"

// Cache keeps values by their keys until others that were used later take their room. It is
// safe for many goroutines; the zero value keeps nothing. Keys must stand for what never
// changes, and who is given a value must not change what it points to.
type Cache[K comparable, V any] struct {
	bound int

	mu sync.Mutex
	// What is used is in young. When that is half the bound, it becomes old, and what was old
	// is forgotten: everything used since is kept, and nothing must be put in order.
	young, old map[K]kept[V]
	size       int // of young
}

type kept[V any] struct {
	value V
	size  int
}

// New returns a cache for values that take so many bytes together.
func New[K comparable, V any](bound int) *Cache[K, V] {
	return &Cache[K, V]{bound: bound}
}

// Get returns the value of a key, if it is kept.
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

// Put keeps a value that takes so many bytes. One that would take more than half the room is
// not kept.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, kept[V]{value, max(size, 0) + around})
}

// around is what an entry takes beside its value.
const around = 64

func (c *Cache[K, V]) put(key K, one kept[V]) {
	if one.size > c.bound/2 {
		return
	}
	if known, ok := c.young[key]; ok {
		c.size -= known.size
		delete(c.young, key)
	}
	if c.young == nil || c.size+one.size > c.bound/2 {
		c.old, c.young, c.size = c.young, map[K]kept[V]{}, 0
	}
	c.young[key] = one
	c.size += one.size
}
