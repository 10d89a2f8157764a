package config

import (
	"reflect"
	"slices"
)

// SameModels reports whether the same models would be asked in the same way with other settings.
func (s Settings) SameModels(other Settings) bool {
	models := func(s Settings) Settings {
		return Settings{LLM: s.LLM, Models: s.Models, Off: s.Off, IdleTimeout: s.IdleTimeout, TurnTimeout: s.TurnTimeout, refused: s.refused}
	}
	return reflect.DeepEqual(models(s), models(other))
}

// StartChanges returns what a kernel that started with these settings does not take over from
// others while it runs, as people find it in config.org.
func (s Settings) StartChanges(other Settings) []string {
	var changes []string
	for _, setting := range []struct {
		name          string
		before, after any
	}{
		{"Embeddings", s.Embeddings, other.Embeddings},
		{"Web", []any{s.Search, s.Proxy}, []any{other.Search, other.Proxy}},
		{"PROGRAMS", s.Programs, other.Programs},
		{"MCP", withoutLines(s.MCP), withoutLines(other.MCP)},
		{"SUBAGENTS", s.Subagents, other.Subagents},
		{"PROPOSE_AFTER", s.ProposeAfter, other.ProposeAfter},
		{"NOTES", []any{s.Notes, s.NotesSet}, []any{other.Notes, other.NotesSet}},
	} {
		if !reflect.DeepEqual(setting.before, setting.after) {
			changes = append(changes, setting.name)
		}
	}
	return changes
}

// withoutLines returns the servers without the lines at which they are, which do not matter.
func withoutLines(servers []MCPServer) []MCPServer {
	servers = slices.Clone(servers)
	for i := range servers {
		servers[i].Line = 0
	}
	return servers
}
