package hook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"org-agent/kernel/action"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// Before implements [policy.Hooks]. If the newest version of a note with hooks is not live, it also
// asks the person.
func (h *Hooks) Before(ctx context.Context, a action.Action, where policy.Where) []policy.Decision {
	if h == nil {
		return nil
	}
	set := h.config.Skills()
	var all []policy.Decision
	for _, fault := range set.HookFaults() {
		name := filepath.Base(fault.File)
		all = append(all, policy.Decision{
			What: "the hooks of " + name, Kind: policy.Ask, Hook: name, File: fault.File, Line: fault.Line, OnceOnly: true,
			Reason: fmt.Sprintf("the hooks of %s are not in force, so that you are asked: line %d: %s", name, fault.Line, fault.Message),
		})
	}
	calls, err := callsOf(a, where.Kinds)
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
			fields = append(slices.Clone(fields), protocol.Field{Key: "reach", Value: reachOf(ctx, c, where)})
		}
		for _, r := range cutTo(h.ask(ctx, hooks, eventOf(c.event, where, fields)), &room) {
			all = append(all, r.decision())
		}
	}
	return all
}

// decision returns the response as a decision. If the hook failed, the person is asked.
func (r response) decision() policy.Decision {
	d := policy.Decision{What: "hook " + r.hook.Name, Kind: r.verdict, Hook: r.hook.Name, File: r.hook.File, Line: r.hook.Line, Append: r.added}
	name := fmt.Sprintf("the hook %s (%s:%d)", r.hook.Name, filepath.Base(r.hook.File), r.hook.Line)
	switch {
	case r.err != nil:
		d.Kind, d.Append, d.Reason = policy.Ask, "", fmt.Sprintf("%s failed, so that you are asked: %s", name, text.Abridge(r.err.Error(), whyLimit))
	case r.verdict == policy.Refuse:
		d.Reason = name + " refuses it" + r.because()
	case r.verdict == policy.Ask:
		d.Reason = name + " asks" + r.because()
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

// call is one thing that an action would do: a call of a tool, or a message.
type call struct {
	event     skill.HookEvent
	tool      string
	arguments protocol.Object
	fields    protocol.Object
}

// callsOf returns the calls of tools that the action stands for, those of a batch one by one, or
// the message that it sends.
func callsOf(a action.Action, kinds policy.Kinds) ([]call, error) {
	if to, sends := kinds.Sends(a); sends {
		fields, err := a.Object()
		if err != nil {
			return nil, err
		}
		fields.Remove("action")
		return []call{sending(a.Target(), to, fields)}, nil
	}
	var all []call
	for _, c := range kinds.Calls(a) {
		arguments, err := c.Arguments()
		if err != nil {
			return nil, err
		}
		all = append(all, call{event: skill.BeforeTool, tool: c.Tool, arguments: arguments,
			fields: protocol.Object{{Key: "tool", Value: c.Tool}, {Key: "arguments", Value: arguments}}})
	}
	return all, nil
}

// Names returns the names under which hooks know actions that call no tool.
type Names interface{ CallNames() []string }

// UnknownTool says which tool of a hook does not exist. It returns "" if all exist. The hook is
// never called for such a tool, though its author may think that it guards something.
func UnknownTool(one *skill.Hook, tools policy.Tools, actions Names) string {
	known := actions.CallNames()
	for _, name := range one.Tools {
		if name == "*" || slices.ContainsFunc(known, func(action string) bool { return skill.SameTool(action, name) }) {
			continue
		}
		if _, _, found := tools.Find(name); found {
			continue
		}
		return fmt.Sprintf("no tool is named %q now%s", name, suggest.Question(cmp.Or(tools.Nearest(name), suggest.Of(name, known)), "%q"))
	}
	return ""
}

// WarnUnknown logs which hooks of notes guard a tool that does not exist.
func WarnUnknown(log *slog.Logger, notes []skill.Status, tools policy.Tools, actions Names) {
	for _, note := range notes {
		for _, h := range note.Hooks {
			if why := UnknownTool(h, tools, actions); why != "" {
				log.Warn("a hook is never called", "hook", h.Name, "file", h.File, "line", h.Line, "err", why)
			}
		}
	}
}

func sending(target, to string, payload protocol.Object) call {
	return call{event: skill.BeforeSend, arguments: payload, fields: protocol.Object{
		{Key: "target", Value: protocol.Keyword(target)}, {Key: "to", Value: to}, {Key: "text", Value: payload.Text("text")}}}
}

// eventOf returns the event as hooks get it.
func eventOf(event skill.HookEvent, where policy.Where, fields protocol.Object) protocol.Object {
	object := append(protocol.Object{{Key: "event", Value: protocol.Keyword(event)}}, fields...)
	object = append(object, protocol.Field{Key: "session", Value: where.Session}, protocol.Field{Key: "turn", Value: where.Turn},
		protocol.Field{Key: "channel", Value: protocol.Keyword(where.Route.Channel)})
	if where.Route.Chat != "" {
		object = append(object, protocol.Field{Key: "chat-id", Value: where.Route.Chat})
	}
	return object
}

// reachOf returns a list of what a call would touch, or nil if its tool does not report that.
func reachOf(ctx context.Context, c call, where policy.Where) any {
	if where.Tools == nil {
		return nil
	}
	if _, _, found := where.Tools.Find(c.tool); !found {
		return nil
	}
	_, reach, err := where.Tools.Reach(ctx, c.tool, c.arguments)
	if err != nil {
		return nil // performing the action refuses it with this error
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
