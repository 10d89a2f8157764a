package tool

import (
	"context"
	"sync"
)

// turn counts what one turn has had.
type turn struct {
	mu    sync.Mutex
	used  map[string]bool
	bytes int
	kept  int
	asked string // the skill that the person asked for
	asker Asker
}

type turnKey struct{}

// WithTurn returns the context of a turn that has had nothing yet: the calls made with it
// share what a turn may have. asked is the skill that the person asked for by name, which may
// be used even if it is for people only; "" for none.
// Asker puts questions before the person whose turn it is; nil when nobody can be asked.
func WithTurn(ctx context.Context, asked string, asker Asker) context.Context {
	return context.WithValue(ctx, turnKey{}, &turn{used: map[string]bool{}, asked: asked, asker: asker})
}

// turnOf returns the turn of a call; one outside of any turn is a turn by itself.
func turnOf(ctx context.Context) *turn {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok {
		return t
	}
	return &turn{used: map[string]bool{}}
}

// use notes that something was used and reports whether it may be: what was used before,
// or one more of at most limit.
func (t *turn) use(name string, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.used[name] && len(t.used) >= limit {
		return false
	}
	t.used[name] = true
	return true
}

// keep notes that one more thing is kept and reports whether it may be.
func (t *turn) keep(limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept++
	return t.kept <= limit
}

// take takes up to wanted bytes of what is left of limit.
func (t *turn) take(wanted, limit int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	got := min(wanted, limit-t.bytes)
	t.bytes += got
	return got
}
