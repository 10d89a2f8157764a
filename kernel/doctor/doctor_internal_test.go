package doctor

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestCheckThatFails checks that a check that panics or hangs becomes a finding.
func TestCheckThatFails(t *testing.T) {
	found := bounded(t.Context(), Config{}, check{"x", func(context.Context, Config) []Finding { panic("oh") }})
	if len(found) != 1 || found[0].State != Fail || !strings.Contains(found[0].Text, "oh") {
		t.Errorf("%+v", found)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	defer close(release)
	found = bounded(ctx, Config{}, check{"x", func(context.Context, Config) []Finding { <-release; return nil }})
	if len(found) != 1 || !strings.Contains(found[0].Text, "in time") {
		t.Errorf("%+v", found)
	}
}
