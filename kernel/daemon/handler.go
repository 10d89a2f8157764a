package daemon

import (
	"cmp"
	"context"
	"errors"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// method answers one method of the wire.
type method func(ctx context.Context, client *rpc.Client, params any) (any, error)

// on makes a method of a function that knows the type of its parameters.
func on[P, R any](answer func(ctx context.Context, client *rpc.Client, params *P) (R, error)) method {
	return func(ctx context.Context, client *rpc.Client, params any) (any, error) {
		return answer(ctx, client, params.(*P))
	}
}

// onParams makes a method of a function to which it is all the same who asks.
func onParams[P, R any](answer func(ctx context.Context, params P) (R, error)) method {
	return on(func(ctx context.Context, _ *rpc.Client, params *P) (R, error) { return answer(ctx, *params) })
}

// methods is the table of what clients may ask. Parameters and results have the
// types that [protocol.Methods] gives.
func (d *daemon) methods() map[string]method {
	return map[string]method{
		protocol.MethodEvent:         on(d.event),
		protocol.MethodTurnCancel:    onParams(d.cancel),
		protocol.MethodTurnRetry:     on(d.retry),
		protocol.MethodTurnPrefer:    onParams(d.sessions.Prefer),
		protocol.MethodTurnSteer:     onParams(d.sessions.Steer),
		protocol.MethodModelList:     on(d.listModels),
		protocol.MethodSessionModel:  on(d.chooseModel),
		protocol.MethodSessionPreset: on(d.choosePreset),
		protocol.MethodPresetList:    on(d.listPresets),
		protocol.MethodSettingsGet:   on(d.getSettings),
		protocol.MethodUsageGet:      on(d.usage),
		protocol.MethodTurnGet: on(func(ctx context.Context, c *rpc.Client, p *protocol.TurnGetParams) (protocol.TurnGetResult, error) {
			return d.sessions.Get(ctx, c, *p)
		}),
		protocol.MethodTurnFind: on(func(ctx context.Context, c *rpc.Client, p *protocol.TurnFindParams) (protocol.TurnFindResult, error) {
			return d.sessions.Find(ctx, c, *p)
		}),
		protocol.MethodSessionList: on(func(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.SessionListResult, error) {
			return d.sessions.List(ctx)
		}),
		protocol.MethodSessionLoad: on(func(ctx context.Context, c *rpc.Client, p *protocol.SessionLoadParams) (protocol.SessionLoadResult, error) {
			result, err := d.sessions.Attach(ctx, c, *p)
			if result.Model == "" {
				result.Model = d.models.Model()
			}
			return result, errors.Join(err, d.sessions.Remind(ctx, c, result.Session))
		}),
		protocol.MethodSessionLeave: on(func(_ context.Context, c *rpc.Client, p *protocol.SessionLeaveParams) (protocol.Empty, error) {
			d.sessions.Leave(c, p.Session)
			d.left(p.Session)
			return protocol.Empty{}, nil
		}),
		protocol.MethodSessionSearch:   onParams(d.sessions.Search),
		protocol.MethodSessionRename:   onParams(d.sessions.Rename),
		protocol.MethodSessionFork:     onParams(d.sessions.Fork),
		protocol.MethodSubagentList:    onParams(d.subagentList),
		protocol.MethodSessionAsked:    on(d.asked),
		protocol.MethodComplete:        on(d.complete),
		protocol.MethodSessionCompact:  on(d.compact),
		protocol.MethodApprovalList:    on(d.approvals),
		protocol.MethodApprovalGet:     on(d.approvalPart),
		protocol.MethodApprovalDecide:  on(d.decide),
		protocol.MethodQuestionList:    on(d.questions),
		protocol.MethodQuestionAnswer:  on(d.answer),
		protocol.MethodApprovalCheck:   on(d.checkApproval),
		protocol.MethodTurnChanges:     on(d.turnChanges),
		protocol.MethodTurnUndone:      on(d.turnUndone),
		protocol.MethodPromptGet:       on(d.prompt),
		protocol.MethodMemorySearch:    on(d.memorySearch),
		protocol.MethodMemoryChanges:   on(d.memoryChanges),
		protocol.MethodMemoryUndo:      on(d.memoryUndo),
		protocol.MethodMemoryIndex:     on(d.memoryIndex),
		protocol.MethodMemoryProposals: on(d.memoryProposals),
		protocol.MethodMemoryAccept:    on(d.memoryAccept),
		protocol.MethodMemoryDrop:      on(d.memoryDrop),
		protocol.MethodSkillList: on(func(context.Context, *rpc.Client, *protocol.Empty) (protocol.SkillListResult, error) {
			return d.skillList(d.skills.Statuses()), nil
		}),
		protocol.MethodSkillReload: on(func(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.SkillListResult, error) {
			statuses := d.skills.Load(ctx)
			d.prompts.Load(ctx)
			return d.skillList(statuses), nil
		}),
		protocol.MethodSkillCheck:       on(d.checkSkill),
		protocol.MethodSkillTest:        on(d.testSkill),
		protocol.MethodSkillGrant:       on(d.grantSkill),
		protocol.MethodSkillEvaluate:    on(d.evaluateInSkill),
		protocol.MethodSkillSymbols:     on(skillSymbols),
		protocol.MethodSpeechTranscribe: on(d.transcribe),
		protocol.MethodSpeechSpeak:      on(d.speak),
		protocol.MethodLogTail:          on(d.logTail),
		protocol.MethodToolList:         on(d.toolList),
		protocol.MethodToolCall:         on(d.toolCall),
		protocol.MethodDoctor:           on(d.doctor),
		protocol.MethodTraceGet:         on(d.trace),
		protocol.MethodStatus:           on(d.status),
		protocol.MethodShutdown: on(func(context.Context, *rpc.Client, *protocol.Empty) (protocol.Empty, error) {
			d.log.Info("shutdown asked for by a client")
			d.stop()
			return protocol.Empty{}, nil
		}),
	}
}

// Handle implements [rpc.Handler].
func (d *daemon) Handle(ctx context.Context, client *rpc.Client, name string, params any) (any, error) {
	answer := d.table[name]
	if answer == nil {
		return nil, protocol.Errorf(protocol.CodeMethodNotFound, "%s is not a method that clients call", name)
	}
	return answer(ctx, client, params)
}

// event takes what a client reports. The sender is remembered: it performs what
// the answer wants done in an Emacs.
func (d *daemon) event(ctx context.Context, client *rpc.Client, params *protocol.Object) (protocol.EventResult, error) {
	event, err := d.readEvent(client, *params)
	if err != nil {
		return protocol.EventResult{}, err
	}
	if event.ID == "" {
		event.ID = newID()
	}
	// One that came before is acknowledged again, whatever can be had by now.
	if _, err := d.journal.TurnOfEvent(ctx, event.ID); protocol.ErrorCode(err) == protocol.CodeNotFound {
		if err := d.settle(ctx, &event); err != nil {
			return protocol.EventResult{}, err
		}
	}
	d.editors.used(client, event.ID) // before: the turn may act at once
	if err := d.models.CheckConsent(event.Consent); err != nil {
		return protocol.EventResult{}, err
	}
	if !event.Broadcast() {
		return d.sessions.Submit(ctx, event)
	}
	skills := d.agent.Matching(ctx, event)
	if len(skills) == 0 { // it is acknowledged, and nobody waits for an answer to it
		d.log.Debug("no skill is for the event", "session", event.Session, "event", event.ID, "sensor", event.Sensor)
		return protocol.EventResult{Event: event.ID}, nil
	}
	return d.sessions.Broadcast(ctx, event, skills)
}

// readEvent is the event that a client reports: on its channel, and a command where the
// text is one.
func (d *daemon) readEvent(client *rpc.Client, params protocol.Object) (protocol.Event, error) {
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
	return event, d.readCommand(&event)
}

// readCommand makes a message that begins with the name of a command that command. One
// that seems to mean a command is not sent to a model: what stands behind the name is
// not for it.
//
// The commands of prompt skills are messages that say which skill they want used.
func (d *daemon) readCommand(event *protocol.Event) error {
	live := d.skills.Current()
	name, arguments := event.Command, event.Arguments
	if event.Sensor == protocol.SensorChatMessage {
		var ok bool
		if name, arguments, ok = skill.SplitCommand(event.Text); !ok {
			return nil
		}
	}
	_, found := live.Command(name)
	if !found && d.prompts.Current().Command(name) != nil {
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
