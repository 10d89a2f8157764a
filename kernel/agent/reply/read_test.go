package reply

import (
	"testing"
	"time"
)

// TestPause: text at the pace of a reader comes thirty times a second, fast text in larger batches, and in
// still larger ones to a client to which batches cost much.
func TestPause(t *testing.T) {
	for _, c := range []struct {
		bytes      int
		wish, want time.Duration
	}{
		{0, 0, 33 * time.Millisecond},
		{5, 0, 38 * time.Millisecond},
		{10, time.Second, 43 * time.Millisecond},
		{1000, 0, 40 * time.Millisecond},
		{1000, -time.Second, 40 * time.Millisecond},
		{1000, 20 * time.Millisecond, 40 * time.Millisecond},
		{1000, 120 * time.Millisecond, 120 * time.Millisecond},
		{100, 200 * time.Millisecond, 133 * time.Millisecond},
		{1000, time.Hour, 200 * time.Millisecond},
	} {
		if got := pause(c.bytes, c.wish); got != c.want {
			t.Errorf("after %d bytes, with the wish %v, the pause is %v and not %v", c.bytes, c.wish, got, c.want)
		}
	}
}
