package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Before implements [policy.Hooks]. What is about to be done is also asked about where a note
// that means to have hooks is not live.
func (h *Hooks) Before(ctx context.Context, a action.Action, where policy.Where) []policy.Decision {
	if h == nil {
		return nil
	}
	set := h.config.Skills()
	var all []policy.Decision
	for _, fault := range set.Unhooked() {
		name := filepath.Base(fault.File)
		all = append(all, policy.Decision{
			What: "the hooks of " + name, Kind: policy.Ask, Hook: name, File: fault.File, Line: fault.Line, OnceOnly: true,
			Reason: fmt.Sprintf("the hooks of %s are not in force, so that you are asked: line %d: %s", name, fault.Line, fault.Message),
		})
	}
	calls, err := h.callsOf(a)
	if err != nil {
		return append(all, policy.Decision{What: "the hooks", Kind: policy.Ask, OnceOnly: true, Reason: "what hooks are to be told of it cannot be read: " + err.Error()})
	}
	room := addedTotal
	for _, c := range calls {
		hooks := set.Hooks(c.event, c.tool)
		if len(hooks) == 0 {
			continue
		}
		fields := c.fields
		if c.event == skill.BeforeTool {
			fields = append(slices.Clone(fields), protocol.Field{Key: "reach", Value: h.reachOf(ctx, c)})
		}
		for _, s := range within(h.ask(ctx, hooks, eventOf(c.event, where, fields)), &room) {
			all = append(all, s.decision())
		}
	}
	return all
}

// decision is what the hook said as a decision; where it failed a person is asked.
func (s said) decision() policy.Decision {
	d := policy.Decision{What: "hook " + s.hook.Name, Kind: s.verdict, Hook: s.hook.Name, File: s.hook.File, Line: s.hook.Line, Append: s.added}
	name := fmt.Sprintf("the hook %s (%s:%d)", s.hook.Name, filepath.Base(s.hook.File), s.hook.Line)
	switch {
	case s.err != nil:
		d.Kind, d.Append, d.Reason = policy.Ask, "", fmt.Sprintf("%s failed, so that you are asked: %s", name, short(s.err.Error(), whyLimit))
	case s.verdict == policy.Refuse:
		d.Reason = name + " refuses it" + s.because()
	case s.verdict == policy.Ask:
		d.Reason = name + " asks" + s.because()
	default:
		d.Reason = name + " has no objection"
	}
	d.OnceOnly = d.Kind == policy.Ask
	return d
}

func (a answer) because() string {
	if a.why == "" {
		return ""
	}
	return ": " + a.why
}

// call is one thing that an action would do, as hooks are told of it.
type call struct {
	event     skill.HookEvent
	tool      string
	arguments protocol.Object
	fields    protocol.Object
}

// callsOf are the calls of tools that the action's kind takes it for, of a batch each by itself,
// or the message that it sends.
func (h *Hooks) callsOf(a action.Action) ([]call, error) {
	if to, sends := h.config.Kinds.Sends(a); sends {
		fields, err := a.Object()
		if err != nil {
			return nil, err
		}
		fields.Take("action")
		return []call{sending(a.Target(), to, fields)}, nil
	}
	var all []call
	for _, c := range h.config.Kinds.Calls(a) {
		arguments, err := c.Arguments()
		if err != nil {
			return nil, err
		}
		all = append(all, call{event: skill.BeforeTool, tool: c.Tool, arguments: arguments,
			fields: protocol.Object{{Key: "tool", Value: c.Tool}, {Key: "arguments", Value: arguments}}})
	}
	return all, nil
}

// Unknown says of which tools a hook is that are not there, "" if they all are: it is not called,
// and who wrote it may think that it guards something.
func Unknown(one *skill.Hook, tools policy.Tools) string {
	for _, name := range one.Tools {
		if name == "*" || name == "agent-spawn" || strings.HasPrefix(name, "emacs-") {
			continue
		}
		if _, _, found := tools.Find(name); found {
			continue
		}
		if near := tools.Nearest(name); near != "" {
			return fmt.Sprintf("no tool is named %q now; did you mean %q?", name, near)
		}
		return fmt.Sprintf("no tool is named %q now", name)
	}
	return ""
}

func sending(target, to string, payload protocol.Object) call {
	return call{event: skill.BeforeSend, arguments: payload, fields: protocol.Object{
		{Key: "target", Value: protocol.Keyword(target)}, {Key: "to", Value: to}, {Key: "text", Value: payload.Text("text")}}}
}

// eventOf is what a hook is told.
func eventOf(event skill.HookEvent, where policy.Where, fields protocol.Object) protocol.Object {
	told := append(protocol.Object{{Key: "event", Value: protocol.Keyword(event)}}, fields...)
	told = append(told, protocol.Field{Key: "session", Value: where.Session}, protocol.Field{Key: "turn", Value: where.Turn},
		protocol.Field{Key: "channel", Value: protocol.Keyword(where.Route.Channel)})
	if where.Route.Chat != "" {
		told = append(told, protocol.Field{Key: "chat-id", Value: where.Route.Chat})
	}
	return told
}

// reachOf is what a call would touch, a list; nil where its tool does not say that.
func (h *Hooks) reachOf(ctx context.Context, c call) any {
	if h.config.Tools == nil {
		return nil
	}
	if _, _, found := h.config.Tools.Find(c.tool); !found {
		return nil
	}
	_, reach, err := h.config.Tools.Reach(ctx, c.tool, c.arguments)
	if err != nil {
		return nil // it is refused for that, if it is done at all
	}
	all := make([]any, len(reach))
	for i, r := range reach {
		one := protocol.Object{{Key: "kind", Value: protocol.Keyword(r.Kind)}}
		for _, f := range [...]struct{ key, value string }{{"path", r.Path}, {"url", r.URL}, {"command", r.Command}} {
			if f.value != "" {
				one = append(one, protocol.Field{Key: f.key, Value: f.value})
			}
		}
		all[i] = one
	}
	return all
}
