package main

import (
	"context"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/kind"
	"org-agent/kernel/notekind"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// builtIn are the kinds of actions that every kernel knows, to judge and to describe.
func builtIn() *kind.Set { return kind.New(daemon.Kinds(act.Deps{})...) }

// specs are those of the kinds that every kernel knows, for notes.
func specs() action.Specs { return builtIn().Specs() }

// kinds are those that a kernel has with these notes.
func kinds(actions []*skill.Action) *kind.Set { return builtIn().With(notekind.Kinds(actions)...) }

// liveNotes loads the notes of a home as a kernel would. What they write is dropped.
func (w *world) liveNotes(ctx context.Context, paths config.Paths) (*skill.Set, error) {
	grants, err := w.grants()
	if err != nil {
		return nil, err
	}
	registry := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills, Grants: grants, Persona: w.persona(), Specs: specs})
	registry.Load(ctx)
	return registry.Current(), nil
}

// ownNotes is liveNotes for what only notes of a person have, which are hooks and actions: nothing is
// loaded where the home has no notes.
func (w *world) ownNotes(ctx context.Context, paths config.Paths) (*skill.Set, error) {
	if own, err := skill.List(paths.Skills); err == nil && len(own) == 0 {
		return nil, nil
	}
	return w.liveNotes(ctx, paths)
}
