package skill

import (
	"context"
	"time"

	"org-agent/kernel/lisp"
)

// NewSet is newSet. A set comes from a registry, which reads files; a test of the order of skills
// has its skills at hand.
func NewSet(skills []*Skill) *Set { return newSet(skills) }

// CatchUp is catchUp. [Registry.Watch] calls it at a time of its own.
func (r *Registry) CatchUp(ctx context.Context) (again time.Duration) { return r.catchUp(ctx) }

// Grants returns what the registry was made with, which only its notes use.
func (r *Registry) Grants() *Grants { return r.config.Grants }

// Understand is understand. A request has the meaning of what exists when it is made; a test asks
// for what does not exist, too.
func (r *Registry) Understand(kind, what string) Capability {
	return r.config.Grants.understand(kind, what)
}

// Matches is matches. A set asks its skills in order, and a test asks one.
func (k *Skill) Matches(ctx context.Context, event lisp.Data) (bool, error) {
	return k.matches(ctx, event)
}

// CatchAll reports whether the trigger accepted the probe, which only a set of skills shows.
func (k *Skill) CatchAll() bool { return k.catchAll }

// Elsewhere has the hints for names of earlier systems.
var Elsewhere = elsewhere
