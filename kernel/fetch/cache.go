package fetch

import (
	"slices"
	"sync"
	"time"
)

// The limits of the cache.
const (
	cacheTime  = 15 * time.Minute
	cachePages = 64
	cacheBytes = 16 << 20
)

// cache holds pages by the exact address of the request: /Foo and /foo are different.
type cache struct {
	mu    sync.Mutex
	pages []cachedPage // the oldest first
	bytes int
}

// cachedPage is a page and the time until which it may be used.
type cachedPage struct {
	address string
	page    Page
	until   time.Time
}

// get returns the page of an address, if the cache has it.
func (c *cache) get(address string, now time.Time) (Page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.pages {
		if p := &c.pages[i]; p.address == address && now.Before(p.until) {
			return p.page, true
		}
	}
	return Page{}, false
}

// put adds a page, and drops pages that are too old or beyond the limits.
func (c *cache) put(address string, page Page, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(func(p cachedPage) bool { return p.address == address || !now.Before(p.until) })
	c.pages = append(c.pages, cachedPage{address, page, now.Add(cacheTime)})
	c.bytes += len(page.Text)
	for len(c.pages) > cachePages || c.bytes > cacheBytes {
		oldest := c.pages[0].address
		c.drop(func(p cachedPage) bool { return p.address == oldest })
	}
}

func (c *cache) drop(which func(cachedPage) bool) {
	c.pages = slices.DeleteFunc(c.pages, func(p cachedPage) bool {
		gone := which(p)
		if gone {
			c.bytes -= len(p.page.Text)
		}
		return gone
	})
}
