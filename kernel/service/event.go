package service

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/reaction"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

// EventReader reads the events that clients report. It knows the commands.
type EventReader struct {
	Notes   func() *skill.Set
	Prompts func() *skillmd.Set
}

// Read returns the event that a client reports, with the client's channel. A text that is a command
// becomes a command event.
func (r EventReader) Read(client *rpc.Client, params protocol.Object) (protocol.Event, error) {
	event, err := protocol.ParseEvent(params)
	if err != nil {
		return event, err
	}
	switch channel := cmp.Or(event.Route.Channel, client.Capabilities().Channel()); channel {
	case protocol.ChannelEmacs, protocol.ChannelCLI:
		event.Route = protocol.LocalRoute(channel)
	default:
		return event, protocol.Errorf(protocol.CodeForbidden,
			"a client's channel is :emacs or :cli; messages of :%s come through that channel", channel)
	}
	return event, r.command(&event)
}

// placeholder is the message with which a prompt is shown before there is a message.
const placeholder = "…"

// ReadDraft returns the event of a request that only shows something about it. An event without a
// text gets a stand-in.
func (r EventReader) ReadDraft(client *rpc.Client, params protocol.Object) (protocol.Event, error) {
	if strings.TrimSpace(params.Text("text")) == "" && params.Text("sensor") != string(protocol.SensorUserCommand) {
		params.Set("text", placeholder)
	}
	if params.Text("sensor") == "" {
		params.Set("sensor", protocol.Keyword(protocol.SensorChatMessage))
	}
	return r.Read(client, params)
}

// command turns a message that begins with the name of a command into that command. A message with
// an unknown command is refused and not sent to a model, because the text after the name was not
// meant for one.
//
// The commands of prompt skills stay messages, which name the skill to use.
func (r EventReader) command(event *protocol.Event) error {
	live := r.Notes()
	name, arguments := event.Command, event.Arguments
	if event.Sensor == protocol.SensorChatMessage {
		var ok bool
		if name, arguments, ok = skill.SplitCommand(event.Text); !ok {
			return nil
		}
	}
	_, found := live.Command(name)
	if !found && r.Prompts().Command(name) != nil {
		event.Sensor, event.Command, event.Arguments = protocol.SensorChatMessage, "", ""
		event.Payload.Set(protocol.PayloadSkill, name)
		return nil
	}
	if event.Sensor != protocol.SensorChatMessage {
		return nil
	}
	if found {
		event.Sensor, event.Command, event.Arguments = protocol.SensorUserCommand, name, arguments
		return nil
	}
	if near := live.NearCommand(name); near != "" {
		return protocol.Errorf(protocol.CodeNotFound,
			"there is no command /%s; did you mean /%s? To send it as it is, put a word before the /", name, near)
	}
	return nil
}

// Intake takes events from every source. It resolves the settings of an event, and submits it to
// its conversation for the best skill, or for all skills that match. What happens in the person's Org files
// goes to the skills that react to it. An interrupt stops the running turn of
// its conversation at once, and nothing else: what waits there goes on.
type Intake struct {
	Settings SentResolver
	Known    KnownEvents
	Sessions Broadcaster
	Matcher  Matcher
	Consent  Consent
	// Reactions decides about events of the person's Org files.
	Reactions *reaction.Reactions
	// Heartbeat is for events that no skill is for.
	Heartbeat EventQueue
	NewID     func() string
	Logger    *slog.Logger
}

// Take implements [sensor.Take]. An event without a session belongs to the main session.
func (i Intake) Take(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	event.Session = cmp.Or(event.Session, protocol.MainSession)
	if event.ID == "" {
		event.ID = i.NewID()
	}
	if event.Sensor == protocol.SensorInterrupt {
		stopped, err := i.Sessions.Cancel(ctx, protocol.TurnParams{Session: event.Session})
		return protocol.EventResult{Event: event.ID, Turn: stopped.Turn}, err
	}
	if event.Sensor.OfOrg() {
		return i.Reactions.React(ctx, event, i.broadcast)
	}
	if err := i.admit(ctx, &event); err != nil {
		return protocol.EventResult{}, err
	}
	if !event.Broadcast() {
		return i.Sessions.Submit(ctx, event)
	}
	skills := i.Matcher.Matching(ctx, event)
	if len(skills) == 0 { // the event is acknowledged, and nobody waits for an answer
		waits := i.Heartbeat.Takes(event)
		if err := i.Heartbeat.Enqueue(ctx, event); err != nil {
			return protocol.EventResult{}, err
		}
		i.Logger.Debug("no skill is for the event", "session", event.Session, "event", event.ID, "sensor", event.Sensor, "waits", waits)
		return protocol.EventResult{Event: event.ID, Waits: waits}, nil
	}
	return i.Sessions.Broadcast(ctx, event, skills)
}

// admit resolves the settings of an event, and checks the person's consent. An event that was taken before is
// acknowledged again, even if its model or settings are gone.
func (i Intake) admit(ctx context.Context, event *protocol.Event) error {
	if _, err := i.Known.TurnOfEvent(ctx, event.ID); protocol.ErrorCode(err) == protocol.CodeNotFound {
		if err := i.Settings.ResolveSent(ctx, event); err != nil {
			return err
		}
	}
	return i.Consent.CheckConsent(event.Consent)
}

// broadcast implements [reaction.Submit].
func (i Intake) broadcast(ctx context.Context, event protocol.Event, skill string) (protocol.EventResult, error) {
	if err := i.admit(ctx, &event); err != nil {
		return protocol.EventResult{}, err
	}
	return i.Sessions.Broadcast(ctx, event, []string{skill})
}

// Check returns which skills an event would go to that is for all of them, and submits it to none.
func (i Intake) Check(ctx context.Context, event protocol.Event) (protocol.EventCheckResult, error) {
	if !event.Broadcast() || event.Sensor == protocol.SensorInterrupt {
		return protocol.EventCheckResult{}, protocol.Errorf(protocol.CodeInvalidParams, "a :%s is for one skill, if for any", event.Sensor)
	}
	event.Session = cmp.Or(event.Session, protocol.MainSession)
	if event.Sensor.OfOrg() {
		plan, err := i.Reactions.Plan(ctx, event)
		return protocol.EventCheckResult{Skills: plan.Skills}, err
	}
	var result protocol.EventCheckResult
	for _, name := range i.Matcher.Matching(ctx, event) {
		result.Skills = append(result.Skills, protocol.EventSkill{Name: name, Session: event.Session})
	}
	result.Waits = len(result.Skills) == 0 && i.Heartbeat.Takes(event)
	return result, nil
}

// Events takes the events that clients report.
type Events struct {
	Reader EventReader
	Intake Intake
	// RecordSender records which client sent an event. That client performs the answer's actions in
	// Emacs.
	RecordSender func(client *rpc.Client, event string)
}

// EventResolver resolves the settings of a message.
type EventResolver interface {
	Resolve(ctx context.Context, event *protocol.Event) error
}

// SentResolver resolves the settings of a sent message, unless they were resolved for its draft.
type SentResolver interface {
	ResolveSent(ctx context.Context, event *protocol.Event) error
}

// KnownEvents finds the turns of events. The error for an unknown event has the code
// [protocol.CodeNotFound].
type KnownEvents interface {
	TurnOfEvent(ctx context.Context, event string) (journal.Turn, error)
}

// Submitter submits an event to its conversation.
type Submitter interface {
	Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
}

// Broadcaster also submits an event to each of several skills, each in its own turn, and stops turns.
type Broadcaster interface {
	Submitter
	Broadcast(ctx context.Context, event protocol.Event, skills []string) (protocol.EventResult, error)
	Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error)
}

// EventQueue has those events wait that it takes.
type EventQueue interface {
	Takes(event protocol.Event) bool
	Enqueue(ctx context.Context, event protocol.Event) error
}

// Matcher returns the skills that match an event that is not a message.
type Matcher interface {
	Matching(ctx context.Context, event protocol.Event) []string
}

// Consent fails until a person has agreed that text is sent to a host. agreed is the host to which
// they agree now, or "".
type Consent interface {
	CheckConsent(agreed string) error
}

// Methods returns the methods of this service.
func (e Events) Methods() []Method {
	return []Method{{protocol.MethodEvent, ForClient(e.take)}, {protocol.MethodEventCheck, ForClient(e.check)}}
}

// check answers what an event would lead to.
func (e Events) check(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.EventCheckResult, error) {
	event, err := e.Reader.Read(client, params)
	if err != nil {
		return protocol.EventCheckResult{}, err
	}
	return e.Intake.Check(ctx, event)
}

// take takes an event that a client reports.
func (e Events) take(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.EventResult, error) {
	event, err := e.Reader.Read(client, params)
	if err != nil {
		return protocol.EventResult{}, err
	}
	if event.ID == "" {
		event.ID = e.Intake.NewID()
	}
	e.RecordSender(client, event.ID) // before Take, because the turn may act at once
	return e.Intake.Take(ctx, event)
}
