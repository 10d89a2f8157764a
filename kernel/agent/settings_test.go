package agent_test

import (
	"context"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

// lookups counts what is looked up to resolve the settings of turns. It knows every name.
type lookups map[string]int

func (l lookups) CurrentName(_ context.Context, session string) (string, error) { return session, nil }
func (l lookups) SessionModel(context.Context, string) (string, error) {
	l["the conversation's model"]++
	return "", nil
}
func (l lookups) SessionPreset(context.Context, string) (string, error) {
	l["the conversation's preset"]++
	return "", nil
}
func (l lookups) Find(string) error                   { return nil }
func (l lookups) Check(context.Context, string) error { l["the model"]++; return nil }
func (l lookups) Has(string) bool                     { l["the skill"]++; return true }
func (l lookups) Names() []string                     { return nil }
func (l lookups) CheckProfile(string) error           { l["the profile"]++; return nil }

// TestSettingsAreResolvedOnce: for a plain turn each setting is looked up once when the message is
// sent, also when it was shown as a draft before, and the files of the profile are read once for the
// whole turn. What the model is sent has all of them.
func TestSettingsAreResolvedOnce(t *testing.T) {
	w := newWire(t, wideWindow, "Kiitos.")
	looked := lookups{}
	c := w.h.config
	c.Persona = func(profile string) (memory.Persona, error) {
		looked["the files of "+profile]++
		return memory.Persona{Style: "Answer in Finnish."}, nil
	}
	w.serve(c)
	resolver := settings.Resolver{
		Live: settings.NewLive(config.Paths{}, config.Settings{}), Directory: t.TempDir(),
		Names: looked, Chosen: looked, Models: looked, Skills: looked, Profiles: looked,
	}
	event := protocol.Event{ID: "event", Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs),
		Level: 1, Stamp: w.h.config.Now(), Text: "hello",
		Above: "* hello\n:PROPERTIES:\n:MODEL: test-model\n:SKILL: plain\n:PROFILE: finnish\n:TEMPERATURE: 0.5\n:MAX_TOKENS: 300\n:SYSTEM: Be brief.\n:END:\n"}
	draft := event
	w.h.must(resolver.ResolveDraft(t.Context(), &draft))
	w.h.must(resolver.ResolveSent(t.Context(), &event))
	w.submit(event)
	for _, what := range []string{"the conversation's model", "the conversation's preset", "the model", "the skill", "the profile", "the files of finnish"} {
		if looked[what] != 1 {
			t.Errorf("%s was looked up %d times, not once", what, looked[what])
		}
	}
	if len(looked) != 6 {
		t.Errorf("looked up: %v", looked)
	}
	w.sent(0, `"temperature":0.5`, `"max_tokens":300`, "Answer in Finnish.", "Be brief.")
}
