package lru

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestCache checks that a value is the last one of its key, that recently used values are there,
// and that the bound holds.
func TestCache(t *testing.T) {
	const bound = 100 * (10 + entryOverhead)
	c, put, random := New[int, int](bound), map[int]int{}, rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		key := random.IntN(300)
		if random.IntN(2) == 0 {
			c.Put(key, i, random.IntN(20))
			put[key] = i
		}
		value, ok := c.Get(key)
		if ok && value != put[key] {
			t.Fatalf("step %d: the value of %d is %d, not %d", i, key, value, put[key])
		}
		if _, again := c.Get(key); ok && !again {
			t.Fatalf("step %d: what was asked for a moment ago is gone", i)
		}
		size := 0
		for _, generation := range []map[int]entry[int]{c.young, c.old} {
			for _, one := range generation {
				size += one.size
			}
		}
		if size > bound {
			t.Fatalf("step %d: %d bytes are kept, more than %d", i, size, bound)
		}
	}
	c.Put(1, 1, bound)
	if value, ok := c.Get(1); ok && value != put[1] {
		t.Errorf("what takes more than the room is kept, as %d", value)
	}
}

// TestCacheKeepsUsedEntries checks that a working set of half the bound stays, however many other
// values are added.
func TestCacheKeepsUsedEntries(t *testing.T) {
	c := New[int, int](100 * (1 + entryOverhead))
	for i := range 10_000 {
		c.Put(1000+i, i, 1)
		for key := range 5 {
			if value, ok := c.Get(key); i > 0 && (!ok || value != key) {
				t.Fatalf("after %d others %d is gone", i, key)
			}
			c.Put(key, key, 1)
		}
	}
}

func TestCacheTogether(t *testing.T) {
	c := New[int, int](10_000)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for i := range 2000 {
				c.Put(i%200, i%200, 8)
				if value, ok := c.Get((i * 7) % 200); ok && value != (i*7)%200 {
					t.Errorf("the value of %d is %d", (i*7)%200, value)
				}
			}
		})
	}
	work.Wait()
}

// TestCacheZero checks that the zero value holds nothing and can be used.
func TestCacheZero(t *testing.T) {
	var c Cache[string, int]
	c.Put("a", 1, 1)
	if _, ok := c.Get("a"); ok {
		t.Error("the zero value keeps something")
	}
}
