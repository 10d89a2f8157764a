package skill

import (
	"context"
	"slices"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
)

// Rival is a skill that would have answered an event had the chosen one not.
type Rival struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`
	Priority int    `json:"priority"`
	// CatchAll: it answers whatever nobody else does; its trigger was not asked.
	CatchAll bool `json:"catch-all,omitempty"`
}

// rivalsTime bounds what looking for rivals may take: it only serves those who ask later
// why a skill was chosen, and an answer does not wait for that.
const rivalsTime = time.Millisecond

// Rivals returns the skills that come after chosen and match the event as well, the
// preferred first. Those before it have said no already; a skill that was chosen for its
// command has none. Each trigger is asked once, and what it logs is dropped. Unasked counts
// those that there was no time for.
func (s *Set) Rivals(ctx context.Context, event sexp.List, chosen *Skill) (rivals []Rival, unasked int) {
	if s.commanded(event) != nil {
		return nil, 0
	}
	ctx, cancel := context.WithTimeout(ctx, rivalsTime)
	defer cancel()
	order := s.ordered()
	place := slices.Index(order, chosen)
	if place < 0 {
		return nil, 0
	}
	data := lisp.NewData(event)
	for _, k := range order[place+1:] {
		switch {
		case k.catchAll:
			rivals = append(rivals, Rival{k.Name, k.Hash, k.Priority, true})
		case ctx.Err() != nil:
			unasked++
		default:
			o := &occasion{purpose: purposePreview}
			err := k.call(ctx, o, "trigger", k.trigger, data)
			if ctx.Err() != nil && err != nil {
				unasked++
			} else if err == nil && o.isTrue {
				rivals = append(rivals, Rival{k.Name, k.Hash, k.Priority, false})
			}
		}
	}
	return rivals, unasked
}
