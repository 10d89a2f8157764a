package service

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

// EventReader reads what clients report. It knows which commands there are.
type EventReader struct {
	Notes   func() *skill.Set
	Prompts func() *skillmd.Set
}

// Read is the event that a client reports: on its channel, and a command where the text is one.
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

// standIn is the message of a prompt that is looked at before there is one.
const standIn = "…"

// ReadDraft is an event that a client only wants to see something of. Without a text it has a
// stand-in.
func (r EventReader) ReadDraft(client *rpc.Client, params protocol.Object) (protocol.Event, error) {
	if strings.TrimSpace(params.Text("text")) == "" && params.Text("sensor") != string(protocol.SensorUserCommand) {
		params.Set("text", standIn)
	}
	if params.Text("sensor") == "" {
		params.Set("sensor", protocol.Keyword(protocol.SensorChatMessage))
	}
	return r.Read(client, params)
}

// command makes a message that begins with the name of a command that command. One that seems
// to mean a command is not sent to a model: what stands behind the name is not for it.
//
// The commands of prompt skills are messages that say which skill they want used.
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

// Intake takes events, whoever reports them: what holds for one is decided, and it is taken into
// its conversation for the best skill or for all that match.
type Intake struct {
	Settings SentResolver
	Known    KnownEvents
	Sessions Broadcaster
	Matcher  Matcher
	Consent  Consent
	NewID    func() string
	Logger   *slog.Logger
}

// Take implements [sensor.Take]. An event without a session is of the main one.
func (i Intake) Take(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	event.Session = cmp.Or(event.Session, protocol.MainSession)
	if event.ID == "" {
		event.ID = i.NewID()
	}
	// One that came before is acknowledged again, whatever can be had by now.
	if _, err := i.Known.TurnOfEvent(ctx, event.ID); protocol.ErrorCode(err) == protocol.CodeNotFound {
		if err := i.Settings.ResolveSent(ctx, &event); err != nil {
			return protocol.EventResult{}, err
		}
	}
	if err := i.Consent.CheckConsent(event.Consent); err != nil {
		return protocol.EventResult{}, err
	}
	if !event.Broadcast() {
		return i.Sessions.Submit(ctx, event)
	}
	skills := i.Matcher.Matching(ctx, event)
	if len(skills) == 0 { // it is acknowledged, and nobody waits for an answer to it
		i.Logger.Debug("no skill is for the event", "session", event.Session, "event", event.ID, "sensor", event.Sensor)
		return protocol.EventResult{Event: event.ID}, nil
	}
	return i.Sessions.Broadcast(ctx, event, skills)
}

// Events takes what clients report.
type Events struct {
	Reader EventReader
	Intake Intake
	// Used notes which client sent an event: it performs what the answer wants done in an
	// Emacs.
	Used func(client *rpc.Client, event string)
}

// EventResolver decides what holds for a message.
type EventResolver interface {
	Resolve(ctx context.Context, event *protocol.Event) error
}

// SentResolver decides what holds for a message that was sent, unless that was decided when it
// was a draft.
type SentResolver interface {
	ResolveSent(ctx context.Context, event *protocol.Event) error
}

// KnownEvents knows the events that came. Its error for another has the code
// [protocol.CodeNotFound].
type KnownEvents interface {
	TurnOfEvent(ctx context.Context, event string) (journal.Turn, error)
}

// Submitter takes an event into its conversation.
type Submitter interface {
	Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
}

// Broadcaster also takes an event for each of several skills, in a turn of its own.
type Broadcaster interface {
	Submitter
	Broadcast(ctx context.Context, event protocol.Event, skills []string) (protocol.EventResult, error)
}

// Matcher knows which skills an event is for that is no message.
type Matcher interface {
	Matching(ctx context.Context, event protocol.Event) []string
}

// Consent fails while a person has not agreed to where the words go; agreed is the host that
// they agree to now, or "".
type Consent interface {
	CheckConsent(agreed string) error
}

// Methods lists what is answered.
func (e Events) Methods() []Method {
	return []Method{{protocol.MethodEvent, ForClient(e.take)}}
}

// take takes what a client reports.
func (e Events) take(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.EventResult, error) {
	event, err := e.Reader.Read(client, params)
	if err != nil {
		return protocol.EventResult{}, err
	}
	if event.ID == "" {
		event.ID = e.Intake.NewID()
	}
	e.Used(client, event.ID) // before: the turn may act at once
	return e.Intake.Take(ctx, event)
}
