package agent

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// choice is the data of a row of kind choice: the skill that answers the turn, and those
// that would have if it had not.
type choice struct {
	Skill    string        `json:"skill"`
	Hash     string        `json:"hash"`
	Version  string        `json:"version,omitempty"`
	Priority int           `json:"priority"`
	File     string        `json:"file"`
	Line     int           `json:"line,omitempty"`
	Shipped  bool          `json:"shipped,omitempty"`
	Command  string        `json:"command,omitempty"` // it has this one, which was given
	Set      string        `json:"set,omitempty"`     // by this, and no trigger was asked
	Rivals   []skill.Rival `json:"rivals,omitempty"`
	Unasked  int           `json:"unasked,omitempty"` // there was no time to ask so many others
	Faults   []string      `json:"faults,omitempty"`  // of triggers that failed
}

// recordChoice keeps why this skill answers.
func (r *run) recordChoice(ctx context.Context, live *skill.Set, faults []error) {
	k := r.skill
	made := choice{
		Skill: k.Name, Hash: k.Hash, Version: k.Version, Priority: k.Priority, File: k.File, Line: k.Line(),
		Shipped: k.Shipped, Command: r.turn.Record.Question.Command,
	}
	if set := settingOf(r.turn.Record.Settings, protocol.SettingSkill); live.Named(set.Value) == k && set.Value != "" {
		made.Set = set.From
	} else {
		made.Rivals, made.Unasked = live.Rivals(ctx, r.event(), k)
	}
	for _, err := range faults {
		made.Faults = append(made.Faults, err.Error())
	}
	r.record(ctx, journal.KindChoice, made)
}
