package tool_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// TestPast checks that a search goes as far back as the result says, and stays in its own
// conversation where others listen.
func TestPast(t *testing.T) {
	day := func(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }
	at := func(days int) string { return time.Now().AddDate(0, 0, days).UTC().Format(time.RFC3339) }
	var asked protocol.SessionSearchParams
	past := tool.Past{
		Sessions: func(context.Context) (protocol.SessionListResult, error) {
			return protocol.SessionListResult{Sessions: []protocol.SessionInfo{
				{Name: "main", Turns: 3, Updated: at(-1), Words: "the samovar"}, {Name: "club", Turns: 1, Updated: at(-2), Words: "roses"},
				{Name: "old", Turns: 1, Updated: at(-30), Words: "a car"}, {Name: "empty", Updated: at(0)},
			}}, nil
		},
		Search: func(_ context.Context, p protocol.SessionSearchParams) (protocol.SessionSearchResult, error) {
			asked = p
			return protocol.SessionSearchResult{Hits: []protocol.SearchHit{{Session: "old", Role: protocol.RoleAgent, Time: at(-30), Snippet: "a\ncar"}}}, nil
		},
	}
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }, Past: past})
	if err != nil {
		t.Fatal(err)
	}
	call := func(alone bool, name string, args string) string {
		t.Helper()
		r := r.For(&tool.Caller{Conversation: tool.Conversation{Session: "club", Name: "club", Alone: alone}})
		text, _, err := r.Call(t.Context(), name, argumentsOf(t, args))
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	}
	for name, c := range map[string]struct {
		alone     bool
		tool      string
		args      string
		has, not  string
		session   string // the searched session
		fromStart bool
	}{
		"the last days":          {alone: true, tool: "list_conversations", args: `{}`, has: "- main (", not: "old"},
		"how far is said":        {alone: true, tool: "list_conversations", args: `{}`, has: `:since "` + day(-7) + `", which is 7 days`},
		"all":                    {alone: true, tool: "list_conversations", args: `{"since": "all"}`, has: "- old (", not: "empty"},
		"by words":               {alone: true, tool: "list_conversations", args: `{"query": "roses"}`, has: "- club (", not: "main"},
		"none":                   {alone: true, tool: "list_conversations", args: `{"query": "zeppelin"}`, has: "no such conversation, :since"},
		"no day":                 {alone: true, tool: "list_conversations", args: `{"since": "soon"}`, has: "error: \"soon\" is not a day"},
		"with others":            {tool: "list_conversations", args: `{"since": "all"}`, has: "- club (", not: "main"},
		"said":                   {alone: true, tool: "search_messages", args: `{"query": "car"}`, has: "you in old: a car"},
		"said, how far":          {alone: true, tool: "search_messages", args: `{"query": "car"}`, has: `:since "` + day(-7) + `", which is`},
		"said ever":              {alone: true, tool: "search_messages", args: `{"query": "car", "since": "all", "until": "2026-01-02"}`, has: `:since "all"`, fromStart: true},
		"said there":             {alone: true, tool: "search_messages", args: `{"query": "car", "session": "main"}`, has: "1 found", session: "main"},
		"said elsewhere, others": {tool: "search_messages", args: `{"query": "car", "session": "main"}`, has: "error: others listen here"},
		"said here, others":      {tool: "search_messages", args: `{"query": "car"}`, has: "1 found", session: "club"},
	} {
		t.Run(name, func(t *testing.T) {
			asked = protocol.SessionSearchParams{}
			got := call(c.alone, c.tool, c.args)
			if !strings.Contains(got, c.has) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("told is %q, want %q and not %q", got, c.has, c.not)
			}
			if asked.Session != c.session || c.fromStart && asked.Since != "" {
				t.Errorf("asked was %+v", asked)
			}
		})
	}
}
