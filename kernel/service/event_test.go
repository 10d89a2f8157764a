package service_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/reaction"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// newSkills returns the service with the shipped skills and one prompt skill.
func newSkills(t *testing.T) service.Skills {
	t.Helper()
	home := t.TempDir()
	text := "---\nname: tea-time\ndescription: How tea is made. Use it when tea is wanted.\n---\nBoil water.\n"
	if err := os.Mkdir(filepath.Join(home, "tea-time"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "tea-time", "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	specs := kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs
	grants := skill.NewGrants(skill.GrantsConfig{File: filepath.Join(home, "policy.org"), Home: home})
	s := service.Skills{Specs: specs, Grants: grants, Notes: skill.New(skill.Config{Shipped: skills.Notes(), Home: home, Specs: specs, Logger: discardLogger, Grants: grants})}
	s.Notes.Load(t.Context())
	s.Prompts = skillmd.New(skillmd.Config{Home: home, Logger: discardLogger})
	s.Prompts.Load(t.Context())
	return s
}

// fakeIntake implements everything that the intake of events uses, and records the calls.
type fakeIntake struct {
	submitted []protocol.Event
	cancelled []protocol.TurnParams
	broadcast []string
	resolved  []string
	matching  []string
	waits     []string
	known     string
	consent   string
	reacted   map[string]int
	missing   string // the error of a setting that does not exist any more
}

func (i *fakeIntake) ResolveSent(ctx context.Context, event *protocol.Event) error {
	return i.Resolve(ctx, event)
}
func (i *fakeIntake) Resolve(_ context.Context, event *protocol.Event) error {
	i.resolved = append(i.resolved, event.ID)
	if i.missing != "" {
		return protocol.Errorf(protocol.CodeNotFound, "%s", i.missing)
	}
	return nil
}
func (i *fakeIntake) TurnOfEvent(_ context.Context, event string) (journal.Turn, error) {
	if event == i.known {
		return journal.Turn{}, nil
	}
	return journal.Turn{}, protocol.Errorf(protocol.CodeNotFound, "there is none")
}
func (i *fakeIntake) Submit(_ context.Context, event protocol.Event) (protocol.EventResult, error) {
	i.submitted = append(i.submitted, event)
	return protocol.EventResult{Event: event.ID, Turn: "t"}, nil
}
func (i *fakeIntake) Broadcast(_ context.Context, event protocol.Event, skills []string) (protocol.EventResult, error) {
	i.broadcast = append(i.broadcast, skills...)
	i.submitted = append(i.submitted, event)
	return protocol.EventResult{Event: event.ID}, nil
}
func (i *fakeIntake) Cancel(_ context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	i.cancelled = append(i.cancelled, p)
	return protocol.TurnCancelResult{Cancelled: true, Turn: "t-running"}, nil
}
func (i *fakeIntake) Matching(context.Context, protocol.Event) []string { return i.matching }
func (i *fakeIntake) CheckConsent(agreed string) error {
	if agreed != i.consent {
		return protocol.Errorf(protocol.CodeConsent, "agree to %s", i.consent)
	}
	return nil
}

func (i *fakeIntake) Turn(context.Context, string) (journal.Turn, error) {
	return journal.Turn{Skill: "one"}, nil
}
func (i *fakeIntake) CountSince(_ context.Context, session string, _ time.Time) (int, error) {
	return i.reacted[session], nil
}

func (i *fakeIntake) service(newID func() string) service.Intake {
	reactions := reaction.New(reaction.Config{Matcher: i, Turns: i, PerHour: func() int { return 2 }, Logger: discardLogger})
	return service.Intake{Settings: i, Known: i, Sessions: i, Matcher: i, Consent: i, Reactions: reactions, Heartbeat: i, NewID: newID, Logger: discardLogger}
}

// A message goes to its conversation, a command to its skill, and a misspelt command to no model.
func TestEvents(t *testing.T) {
	s := newSkills(t)
	reader := service.EventReader{Notes: s.Notes.Current, Prompts: s.Prompts.Current}
	i := &fakeIntake{}
	var senders []string
	conn := serve(t, service.Events{Reader: reader, Intake: i.service(func() string { return "made" }), RecordSender: func(client *rpc.Client, event string) {
		senders = append(senders, client.Info().Name+" "+event)
	}}.Methods())("a shell")
	send := func(pairs ...protocol.Field) (protocol.Event, error) {
		i.submitted = nil
		var result protocol.EventResult
		err := conn.Call(within(t), protocol.MethodEvent, protocol.Object(pairs), &result)
		if len(i.submitted) == 1 {
			return i.submitted[0], err
		}
		return protocol.Event{}, err
	}
	field := func(key string, value any) protocol.Field { return protocol.Field{Key: key, Value: value} }
	message := field("sensor", protocol.Keyword("chat-message"))

	event, err := send(message, field("text", "hello"))
	if err != nil || event.ID != "made" || event.Session != protocol.MainSession || event.Route != protocol.LocalRoute(protocol.ChannelCLI) || !slices.Equal(senders, []string{"a shell made"}) {
		t.Errorf("a message: %+v, %v, used %v", event, err, senders)
	}
	event, err = send(message, field("id", "q1"), field("text", "/tea-time with milk"))
	if err != nil || event.Sensor != protocol.SensorChatMessage || event.Payload.Text(protocol.PayloadSkill) != "tea-time" {
		t.Errorf("a skill that is text: %+v, %v", event, err)
	}
	command := s.Notes.Current().Commands()[0].Name
	event, err = send(message, field("id", "q2"), field("text", "/"+command+" one two"))
	if err != nil || event.Sensor != protocol.SensorUserCommand || event.Command != command || event.Arguments != "one two" {
		t.Errorf("a command: %+v, %v", event, err)
	}
	_, err = send(message, field("id", "q3"), field("text", "/"+command+"x"))
	wantError(t, "a misspelt command", err, protocol.CodeNotFound, "did you mean /"+command)
	_, err = send(message, field("id", "q4"), field("text", "hello"), field("channel", protocol.Keyword("telegram")))
	wantError(t, "a channel", err, protocol.CodeForbidden, "a client's channel is :emacs or :cli")

	i.consent = "a host"
	_, err = send(message, field("id", "q5"), field("text", "hello"))
	wantError(t, "without consent", err, protocol.CodeConsent, "a host")
	if event, err := send(message, field("id", "q5"), field("text", "hello"), field("consent", "a host")); err != nil || event.ID != "q5" {
		t.Errorf("with consent: %+v, %v", event, err)
	}
	i.consent, i.missing, i.known = "", "the model is gone", "q5"
	_, err = send(message, field("id", "q6"), field("text", "hello"))
	wantError(t, "a setting that is gone", err, protocol.CodeNotFound, "the model is gone")
	if event, err := send(message, field("id", "q5"), field("text", "hello")); err != nil || event.ID != "q5" {
		t.Errorf("an event that is sent again: %+v, %v", event, err)
	}
}

// Takes takes each event with the text "wait", and Enqueue has it wait.
func (i *fakeIntake) Takes(event protocol.Event) bool { return event.Text == "wait" }
func (i *fakeIntake) Enqueue(_ context.Context, event protocol.Event) error {
	i.waits = append(i.waits, event.Text)
	return nil
}

// An event that is no message goes to every skill that matches, and waits for the heartbeat if there is none.
func TestBroadcast(t *testing.T) {
	i := &fakeIntake{}
	take := i.service(func() string { return "made" }).Take
	event := protocol.Event{Sensor: "heartbeat", Route: protocol.Route{Kind: protocol.RouteNone}}
	if result, err := take(t.Context(), event); err != nil || result.Event != "made" || len(i.submitted)+len(i.broadcast) > 0 {
		t.Errorf("for nobody: %+v, %v, %+v", result, err, i)
	}
	if result, err := take(t.Context(), protocol.Event{Sensor: "rain", Text: "wait"}); err != nil || !result.Waits || i.waits[len(i.waits)-1] != "wait" {
		t.Errorf("for the heartbeat: %+v, %v", result, err)
	}
	i.matching = []string{"one", "two"}
	if _, err := take(t.Context(), event); err != nil || len(i.submitted) != 1 || !slices.Equal(i.broadcast, i.matching) {
		t.Errorf("for two: %v, %+v", err, i)
	}
}

// What happens in an Org file goes to each skill that reacts, in the conversation of its reactions and with the
// settings of that; an event that is only checked goes to none.
func TestReactions(t *testing.T) {
	i := &fakeIntake{matching: []string{"one", "two", "three"}, reacted: map[string]int{"reactions-of-three": 2}}
	s := newSkills(t)
	reader := service.EventReader{Notes: s.Notes.Current, Prompts: s.Prompts.Current}
	conn := serve(t, service.Events{Reader: reader, Intake: i.service(func() string { return "made" }), RecordSender: func(*rpc.Client, string) {}}.Methods())("a shell")
	event := protocol.Object{{Key: "sensor", Value: protocol.Keyword("org-save")}, {Key: "id", Value: "e1"}, {Key: "file", Value: "/a.org"},
		{Key: "headings", Value: []any{protocol.Object{{Key: "id", Value: "h"}, {Key: "by", Value: "t1"}}}}}
	var checked protocol.EventCheckResult
	if err := conn.Call(within(t), protocol.MethodEventCheck, event, &checked); err != nil || len(i.submitted) > 0 {
		t.Errorf("checked: %v, %+v", err, i.submitted)
	}
	if len(checked.Skills) != 3 || !strings.Contains(checked.Skills[0].Refused, "itself") || checked.Skills[1].Refused != "" ||
		checked.Skills[1].Session != "reactions-of-two" || !strings.Contains(checked.Skills[2].Refused, "2 times within an hour") {
		t.Errorf("checked: %+v", checked)
	}
	var result protocol.EventResult
	if err := conn.Call(within(t), protocol.MethodEvent, event, &result); err != nil || result.Event != "e1+two" {
		t.Errorf("taken: %+v, %v", result, err)
	}
	if len(i.submitted) != 1 || i.submitted[0].Session != "reactions-of-two" || !slices.Equal(i.broadcast, []string{"two"}) || !slices.Equal(i.resolved, []string{"e1+two"}) {
		t.Errorf("submitted: %+v to %q, resolved %q", i.submitted, i.broadcast, i.resolved)
	}
	err := conn.Call(within(t), protocol.MethodEventCheck, protocol.Object{{Key: "sensor", Value: protocol.Keyword("interrupt")}}, &checked)
	wantError(t, "an interrupt", err, protocol.CodeInvalidParams, "is for one skill")
	heartbeat := protocol.Object{{Key: "sensor", Value: protocol.Keyword("heartbeat")}}
	if err := conn.Call(within(t), protocol.MethodEventCheck, heartbeat, &checked); err != nil || len(checked.Skills) != 3 || checked.Skills[0].Session != "main" {
		t.Errorf("a heartbeat: %+v, %v", checked, err)
	}
	i.consent = "elsewhere"
	err = conn.Call(within(t), protocol.MethodEvent, event, &result)
	wantError(t, "without consent", err, protocol.CodeConsent, "elsewhere")
}

// fakeComposer composes nothing, and records its calls.
type fakeComposer struct{ calls []string }

func (d *fakeComposer) Prompt(_ context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult {
	d.calls = append(d.calls, strings.Join([]string{event.Text, string(event.Sensor), string(mode), string(kind)}, "/"))
	return protocol.PromptResult{Note: "composed"}
}

// The prompt of a draft is composed with its settings, even if the draft has no text.
func TestPrompt(t *testing.T) {
	s := newSkills(t)
	i, d := &fakeIntake{}, &fakeComposer{}
	conn := serve(t, service.Prompts{Reader: service.EventReader{Notes: s.Notes.Current, Prompts: s.Prompts.Current}, Settings: i, Composer: d}.Methods())("a shell")
	get := func(pairs ...protocol.Field) (result protocol.PromptResult, err error) {
		err = conn.Call(within(t), protocol.MethodPromptGet, protocol.Object(pairs), &result)
		return result, err
	}
	if result, err := get(protocol.Field{Key: "id", Value: "d"}); err != nil || result.Note != "composed" || len(i.resolved) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := get(protocol.Field{Key: "text", Value: "hello"}, protocol.Field{Key: protocol.PromptMode, Value: "minimal"}, protocol.Field{Key: protocol.PromptKind, Value: "task"}); err != nil {
		t.Error(err)
	}
	if want := []string{"…/chat-message//", "hello/chat-message/minimal/task"}; !slices.Equal(d.calls, want) {
		t.Errorf("composed for %v and not %v", d.calls, want)
	}
	_, err := get(protocol.Field{Key: protocol.PromptMode, Value: "long"})
	wantError(t, "a mode that is none", err, protocol.CodeInvalidParams, `no mode "long"`)
	_, err = get(protocol.Field{Key: protocol.PromptKind, Value: "poem"})
	wantError(t, "a kind that is none", err, protocol.CodeInvalidParams, `no kind "poem"`)
	i.missing = "the profile is gone"
	_, err = get()
	wantError(t, "a setting that is gone", err, protocol.CodeNotFound, "the profile is gone")
}

// An interrupt stops what runs in its conversation. It is for no skill and needs no settings.
func TestInterrupt(t *testing.T) {
	i := &fakeIntake{matching: []string{"any"}, missing: "a model is gone", consent: "elsewhere"}
	got, err := i.service(func() string { return "made" }).Take(t.Context(), protocol.Event{Sensor: protocol.SensorInterrupt, Session: "garden"})
	if err != nil || got.Event != "made" || got.Turn != "t-running" {
		t.Errorf("%+v, %v", got, err)
	}
	if len(i.cancelled) != 1 || i.cancelled[0].Session != "garden" || len(i.submitted)+len(i.broadcast)+len(i.resolved) > 0 {
		t.Errorf("it stopped %+v, submitted %+v to %q", i.cancelled, i.submitted, i.broadcast)
	}
}
