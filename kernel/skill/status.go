package skill

import (
	"slices"
	"strings"
)

// State says whether a note's skills answer events.
type State string

// The states of a note.
const (
	// Live: its skills answer.
	Live State = "live"
	// Failed: it has faults. LastGood says that an earlier version of it answers.
	Failed State = "failed"
	// Shadowed: a note of the home has the same name.
	Shadowed State = "shadowed"
	// Duplicate: another note already defines a skill of the same name.
	Duplicate State = "duplicate"
)

// Status is the state of one note. The note's keywords are those of the newest version, live or not.
type Status struct {
	File        string `json:"file"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Skill is the name of the note's skill, several with a blank between, or "" when it
	// never loaded.
	Skill   string `json:"skill,omitempty"`
	State   State  `json:"state"`
	Shipped bool   `json:"shipped,omitempty"`
	// Hash is the SHA-256 of the newest version's blocks, in hex.
	Hash     string `json:"hash,omitempty"`
	Version  string `json:"version,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// Capabilities are those that it asks for. Granted are those that were granted, by their names
	// in policy.org, since the day Since. Withheld is the reason why they were not.
	Capabilities []string `json:"capabilities,omitempty"`
	Granted      []string `json:"granted,omitempty"`
	Since        string   `json:"since,omitempty"`
	Withheld     string   `json:"withheld,omitempty"`
	// Commands are the commands that its skills declare.
	Commands []Command `json:"commands,omitempty"`
	// Hooks are the hooks of the newest version.
	Hooks []*Hook `json:"hooks,omitempty"`
	// Tests is how many tests the newest version has that ran; of a live one all passed.
	Tests int `json:"tests,omitempty"`
	// LastGood says that the newest version failed and an earlier one is live.
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
