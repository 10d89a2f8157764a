package journal

import (
	"testing"
	"time"
)

func TestFlushTimes(t *testing.T) {
	j := newJournal("none")
	if got := j.Flushes(); got != (Flushes{}) {
		t.Errorf("before any: %+v", got)
	}
	j.database.flushes.add(time.Hour)
	for range flushesKept / 100 {
		for i := range 100 {
			j.database.flushes.add(time.Duration(i+1) * time.Millisecond)
		}
	}
	for i := range flushesKept % 100 {
		j.database.flushes.add(time.Duration(i+1) * time.Millisecond)
	}
	got := j.Flushes()
	if got.Count != flushesKept+1 || got.Longest != time.Hour || got.Median < 40*time.Millisecond || got.Median > 55*time.Millisecond || got.P99 < 98*time.Millisecond || got.P99 > 100*time.Millisecond {
		t.Errorf("%+v", got)
	}
}
