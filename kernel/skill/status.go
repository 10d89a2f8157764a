package skill

import (
	"log/slog"
	"slices"
	"strings"
)

// State is the state of a note: whether its skills answer events.
type State string

// The states of a note.
const (
	// Live means that the note's skills answer.
	Live State = "live"
	// Failed means that the note has faults. If LastGood is true, an earlier version answers.
	Failed State = "failed"
	// Shadowed means that a note of the home has the same name.
	Shadowed State = "shadowed"
	// Duplicate means that another note already defines a skill, a tool or an action with the same name.
	Duplicate State = "duplicate"
)

// Status is the state of one note. The note's keywords are those of the newest version, live or not.
type Status struct {
	File        string `json:"file"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Skill is the name of the note's skill. Several names are separated by blanks. It is "" if the
	// note never loaded.
	Skill   string `json:"skill,omitempty"`
	State   State  `json:"state"`
	Shipped bool   `json:"shipped,omitempty"`
	// Hash is the SHA-256 of the newest version's blocks, in hex.
	Hash     string `json:"hash,omitempty"`
	Version  string `json:"version,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// Capabilities are the requested ones. Granted are the granted ones, by their names in
	// policy.org, since the day Since. Withheld is the reason why nothing is granted.
	Capabilities []string `json:"capabilities,omitempty"`
	Granted      []string `json:"granted,omitempty"`
	Since        string   `json:"since,omitempty"`
	Withheld     string   `json:"withheld,omitempty"`
	// Commands are the commands that its skills declare.
	Commands []Command `json:"commands,omitempty"`
	// Actions are the actions that the note defines.
	Actions []ActionStatus `json:"actions,omitempty"`
	// Tools are the tools that the note defines.
	Tools []ToolStatus `json:"tools,omitempty"`
	// Hooks are the hooks of the newest version.
	Hooks []*Hook `json:"hooks,omitempty"`
	// Tests is how many tests of the newest version ran. All tests of a live version passed.
	Tests int `json:"tests,omitempty"`
	// LastGood is true if the newest version failed and an earlier one is live.
	LastGood    bool         `json:"last-good,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

// status describes the note from its newest version and the one that is live.
func (s *slot) status() Status {
	newest := s.newest
	status := Status{
		File: newest.File, Title: newest.Title, Description: newest.Description, Shipped: s.origin.shipped,
		Hash: newest.Hash, Version: newest.Version, Capabilities: newest.Capabilities, Tests: newest.proven, State: s.state,
		LastGood:    s.published && s.live != newest,
		Diagnostics: slices.Concat(newest.Diagnostics, s.faults, s.blocked, s.without),
	}
	status.Since, status.Withheld = newest.consent.since, newest.consent.why
	if newest.consent.granted {
		status.Granted = newest.consent.names()
	}
	described := newest
	if s.live != nil {
		described = s.live
	}
	status.Hooks = described.hooks
	for _, a := range described.actions {
		status.Actions = append(status.Actions, a.status())
	}
	for _, t := range described.tools {
		status.Tools = append(status.Tools, t.status())
	}
	var names []string
	for i, k := range described.skills {
		names = append(names, k.Name)
		status.Commands = append(status.Commands, k.Commands...)
		if i == 0 || k.Priority > status.Priority {
			status.Priority = k.Priority
		}
	}
	status.Skill = strings.Join(names, " ")
	return status
}

// Log writes the state of the note: one line, or one for each of its faults.
func (s Status) Log(log *slog.Logger) {
	if len(s.Diagnostics) == 0 {
		log.Info("note loaded", "file", s.File, "skill", s.Skill, "state", s.State)
		return
	}
	for _, fault := range s.Diagnostics {
		log.Warn("note not in order", "file", s.File, "state", s.State, "err", fault.String())
	}
}
