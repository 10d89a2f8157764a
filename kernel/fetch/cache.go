package fetch

import (
	"slices"
	"sync"
	"time"
)

// What is remembered of pages.
const (
	cacheTime  = 15 * time.Minute
	cachePages = 64
	cacheBytes = 16 << 20
)

// cache remembers pages by the exact address that was asked for: /Foo is not /foo.
type cache struct {
	mu    sync.Mutex
	pages []kept // the oldest first
	bytes int
}

type kept struct {
	address string
	page    Page
	until   time.Time
}

// get is the page of an address, if it is remembered still.
func (c *cache) get(address string, now time.Time) (Page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.pages {
		if k := &c.pages[i]; k.address == address && now.Before(k.until) {
			return k.page, true
		}
	}
	return Page{}, false
}

// put remembers a page and forgets what is older, or too much.
func (c *cache) put(address string, page Page, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(func(k kept) bool { return k.address == address || !now.Before(k.until) })
	c.pages = append(c.pages, kept{address, page, now.Add(cacheTime)})
	c.bytes += len(page.Text)
	for len(c.pages) > cachePages || c.bytes > cacheBytes {
		oldest := c.pages[0].address
		c.drop(func(k kept) bool { return k.address == oldest })
	}
}

func (c *cache) drop(which func(kept) bool) {
	c.pages = slices.DeleteFunc(c.pages, func(k kept) bool {
		gone := which(k)
		if gone {
			c.bytes -= len(k.page.Text)
		}
		return gone
	})
}
