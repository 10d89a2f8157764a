package main

import (
	"context"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/kind"
	"org-agent/kernel/notekind"
	"org-agent/kernel/sensor"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// builtInKinds returns the kinds of actions that every kernel knows. They can judge and describe actions
// but not perform them.
func builtInKinds() *kind.Set { return kind.New(daemon.Kinds(act.Deps{})...) }

// builtInSpecs returns the specs of the kinds that every kernel knows.
func builtInSpecs() action.Specs { return builtInKinds().Specs() }

// kindsWith returns the kinds of a kernel whose notes define these actions.
func kindsWith(actions []*skill.Action) *kind.Set {
	return builtInKinds().With(notekind.Kinds(actions)...)
}

// notes returns the configuration of the notes of a directory, as a kernel of the home has it.
func (proc *process) notes(directory string) (skill.Config, error) {
	grants, err := proc.grants()
	return skill.Config{
		Shipped: skills.Notes(), Home: directory, Grants: grants, Persona: proc.persona(),
		Specs: builtInSpecs, Tools: daemon.ToolNames, CheckEvent: sensor.CheckEvent,
	}, err
}

// noteOptions returns the options of a single note, as a kernel of the home has them.
func (proc *process) noteOptions() (skill.Options, error) {
	grants, err := proc.grants()
	return skill.Options{Grants: grants, Persona: proc.persona(), Specs: builtInSpecs, Tools: daemon.ToolNames, CheckEvent: sensor.CheckEvent}, err
}

// liveNotes loads the notes of a home as a kernel would. It discards what they log.
func (proc *process) liveNotes(ctx context.Context, paths config.Paths) (*skill.Set, error) {
	config, err := proc.notes(paths.Skills)
	if err != nil {
		return nil, err
	}
	registry := skill.New(config)
	registry.Load(ctx)
	return registry.Current(), nil
}

// personNotes is liveNotes for callers that need only hooks and actions, which the shipped notes do not
// have. It loads nothing and returns nil if the home has no notes.
func (proc *process) personNotes(ctx context.Context, paths config.Paths) (*skill.Set, error) {
	if own, err := skill.List(paths.Skills); err == nil && len(own) == 0 {
		return nil, nil
	}
	return proc.liveNotes(ctx, paths)
}
