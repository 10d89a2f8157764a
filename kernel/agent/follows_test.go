package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/agent"
	"org-agent/kernel/protocol"
)

// TestPromptFollows: the next prompt is made of what the person's files, the notes and the
// conversation are then.
func TestPromptFollows(t *testing.T) {
	h := newHousehold(t)
	a := agent.New(h.config)
	look := func() (skill, text string) {
		t.Helper()
		shown := a.Prompt(t.Context(), protocol.Event{ID: "now", Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs),
			Text: "where does the samovar number 17 stand?", Level: 1, Stamp: h.config.Now()}, "", "")
		var all strings.Builder
		for _, part := range shown.Parts {
			all.WriteString(part.Text + "\n")
		}
		return shown.Skill + shown.Note, all.String()
	}
	edit := func(name, old, now string) {
		t.Helper()
		path := filepath.Join(h.home, name)
		text, err := os.ReadFile(path)
		h.must(err)
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %q", name, old)
		}
		h.must(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, now)), 0o644))
	}
	for _, c := range []struct {
		what   string
		change func()
		gone   string
		come   string
	}{
		{"a persona file", func() { edit("USER.org", "at some length", "in short") }, "", "It is said here in short"},
		{"a memory file", func() { edit("MEMORY.org", "number 17 stands in Samarkand", "number 17 stands in Bukhara") }, "number 17 stands in Samarkand", "number 17 stands in Bukhara"},
		{"a skill", func() {
			edit("skills/skill-9/SKILL.md", "when it is of use", "when it is of none")
			h.config.Sources.Prompts.Load(t.Context())
		}, "the skill number 9 is for, and when it is of use", "the skill number 9 is for, and when it is of none"},
		{"the conversation", h.say, "", "which notes mention Samarkand?"},
	} {
		if _, before := look(); !strings.Contains(before, c.gone) || strings.Contains(before, c.come) {
			t.Errorf("before %s: %s", c.what, before)
		}
		c.change()
		if _, after := look(); c.gone != "" && strings.Contains(after, c.gone) || !strings.Contains(after, c.come) {
			t.Errorf("after %s: %s", c.what, after)
		}
	}
	before, _ := look()
	edit("skills/note-3.org", `"note-3"`, `"samovar"`)
	h.config.Sources.Skills.Load(t.Context())
	if after, _ := look(); before == after || !strings.Contains(after, "note-3") {
		t.Errorf("chosen is %q, and was %q", after, before)
	}
}
