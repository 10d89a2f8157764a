package skill

import (
	"context"
	"slices"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
)

// Rival is a skill that would have answered an event if the chosen skill had not.
type Rival struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`
	Priority int    `json:"priority"`
	// CatchAll is true if the skill answers every event that no other skill does. Its trigger was
	// not called.
	CatchAll bool `json:"catch-all,omitempty"`
}

// rivalsTime limits how long Rivals looks. Rivals only explain later why a skill was chosen, so an
// answer does not wait for them.
const rivalsTime = time.Millisecond

// Rivals returns the skills after chosen that match the event too, in the order of preference.
// Skills before it did not match. A skill that was chosen for its command has no rivals. Each
// trigger is called once, and its log lines are dropped. unasked is the number of skills for which
// there was no time.
func (s *Set) Rivals(ctx context.Context, event sexp.List, chosen *Skill) (rivals []Rival, unasked int) {
	if s.commandSkill(event) != nil {
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
			o := &invocation{purpose: purposePreview}
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
