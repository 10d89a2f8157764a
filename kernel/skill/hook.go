package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
)

// HookEvent is the name of an event that hooks are called for.
type HookEvent string

// The events.
const (
	BeforeTool   HookEvent = "before-tool"
	AfterTool    HookEvent = "after-tool"
	BeforeSend   HookEvent = "before-send" // a message to somebody, or into another conversation
	SessionStart HookEvent = "session-start"
	SessionEnd   HookEvent = "session-end" // nobody shows a conversation any more, and nothing is left to answer
	TurnStart    HookEvent = "turn-start"
	TurnEnd      HookEvent = "turn-end"
	Heartbeat    HookEvent = "heartbeat" // only for [Set.Checks]
)

var hookEvents = []string{string(BeforeTool), string(AfterTool), string(BeforeSend), string(SessionStart), string(SessionEnd), string(TurnStart), string(TurnEnd)}

// maximumHooks is the maximum number of hooks of a note. Every call may have to wait for all of
// them.
const maximumHooks = 32

// Hook is one defhook of a note, or one of its shell blocks with :hook. Its fields do not
// change.
type Hook struct {
	Name string `json:"name"`
	// File is the note, as diagnostics name it.
	File  string    `json:"file"`
	Line  int       `json:"line"`
	Event HookEvent `json:"event"`
	// Tools are the names of the tools that the hook is for. Empty means all tools.
	Tools []string `json:"tools,omitempty"`
	// Script is the text for a shell; "" for a hook in Lisp.
	Script string `json:"script,omitempty"`

	note     *Note
	function lisp.Value
}

// about reports whether the hook is called for an event of this tool. The tool is "" for an event
// without a tool.
func (h *Hook) about(event HookEvent, tool string) bool {
	return h.Event == event && (len(h.Tools) == 0 || slices.ContainsFunc(h.Tools, func(name string) bool {
		return name == "*" || SameTool(name, tool)
	}))
}

// SameTool reports whether two names in hooks are of the same tool.
func SameTool(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", "-"), strings.ReplaceAll(b, "_", "-"))
}

// On returns the event with the tools, as a note spells it.
func (h *Hook) On() string { return strings.Join(append([]string{string(h.Event)}, h.Tools...), " ") }

// The maximum time of a hook in Lisp, and of its wait for other calls of its note.
const (
	hookTime    = time.Second
	hookTimeout = 5 * time.Second
)

var errSlowHook = fmt.Errorf("it took longer than %v", hookTime)

// Call calls a hook in Lisp and returns its value as data. If dry is set, files that it writes and
// text that it logs are dropped. The error says where in the note the hook failed.
func (h *Hook) Call(ctx context.Context, event sexp.List, dry bool) (sexp.Sexp, error) {
	o := &invocation{purpose: purposeHook}
	if dry {
		o.purpose = purposeDryHook
	}
	if err := h.note.applyQuickly(ctx, o, h.function, lisp.NewData(event)); err != nil {
		return nil, err
	}
	if o.unfit != nil {
		return nil, fmt.Errorf("it returned what is no data: %w", o.unfit)
	}
	return o.result, nil
}

// applyQuickly is apply for a function that has hookTime, after a wait of at most hookTimeout for
// other calls of the note.
func (n *Note) applyQuickly(ctx context.Context, o *invocation, function lisp.Value, args ...lisp.Data) error {
	patient, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	limited, stop := context.WithCancelCause(patient)
	defer stop(nil)
	var timer *time.Timer
	o.onBegin = func() { timer = time.AfterFunc(hookTime, func() { stop(errSlowHook) }) }
	err := n.apply(limited, o, function, args...)
	if timer != nil {
		timer.Stop()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(limited), errSlowHook):
		return errSlowHook
	case ctx.Err() == nil && patient.Err() != nil:
		return fmt.Errorf("its note was busy for %v", hookTimeout)
	}
	return inNote(err)
}

// inNote returns the error of a function of a note with its place, and without data of the call.
func inNote(err error) error {
	if fault, ok := errors.AsType[*lisp.Error](err); ok && fault.Line > 0 {
		return fmt.Errorf("%s:%d:%d: %s", filepath.Base(fault.File), fault.Line, fault.Column, publicMessage(fault))
	}
	return err
}

// expandDefhook turns (defhook NAME :on EVENT :function F) into a call that evaluates F. EVENT is the
// name of an event, or a list of it and names of tools.
func expandDefhook(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a hook: %w", err)
	}
	values := map[string]lisp.Value{}
	for i := 1; i < len(args); i += 2 {
		key, ok := args[i].(*lisp.Symbol)
		switch {
		case !ok || !key.Keyword() || key.Name() != "ON" && key.Name() != "FUNCTION":
			return nil, fmt.Errorf("the hook %s: defhook has the keys :on and :function", name)
		case i+1 == len(args):
			return nil, fmt.Errorf("the last key of the hook %s has no value", name)
		case values[key.Name()] != nil:
			return nil, fmt.Errorf("the hook %s has two values for :%s", name, strings.ToLower(key.Name()))
		}
		values[key.Name()] = args[i+1]
	}
	if values["ON"] == nil || values["FUNCTION"] == nil {
		return nil, fmt.Errorf("the hook %s is written as (defhook %s :on (before-tool \"exec\") :function #'NAME)", name, name)
	}
	return lisp.NewList(call.Symbol("%REGISTER-HOOK"), lisp.NewString(name),
		lisp.NewList(call.Symbol("QUOTE"), values["ON"]), values["FUNCTION"]), nil
}

// registerHook adds a hook whose function was evaluated.
func registerHook(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a hook: %w", err)
	}
	words, ok := lisp.Slice(args[1], maximumHooks)
	if quote, is := firstOf(words).(*lisp.Symbol); ok && is && quote.Name() == "QUOTE" && len(words) == 2 {
		words, ok = lisp.Slice(words[1], maximumHooks)
	}
	if !ok || len(words) == 0 {
		words = []lisp.Value{args[1]}
	}
	var event string
	var tools []string
	for i, word := range words {
		text, err := nameOf(word)
		if err != nil {
			return nil, fmt.Errorf("the :on of the hook %s: %w", name, err)
		}
		if i == 0 {
			event = text
		} else {
			tools = append(tools, text)
		}
	}
	h := &Hook{Name: name, Line: n.definitionLine("defhook", name), note: n}
	if err := h.on(event, tools); err != nil {
		return nil, fmt.Errorf("the hook %s: %w", name, err)
	}
	if h.function, err = functionOf("function", args[2]); err != nil {
		return nil, fmt.Errorf("the hook %s: %w", name, err)
	}
	if defines, err := defining(call, "defhook"); !defines {
		return args[0], err
	}
	return args[0], n.addHook(h)
}

func firstOf(values []lisp.Value) lisp.Value {
	if len(values) == 0 {
		return lisp.Nil
	}
	return values[0]
}

// on sets the event and the tools that the hook is called for.
func (h *Hook) on(event string, tools []string) error {
	event = strings.ToLower(strings.TrimPrefix(event, ":"))
	if !slices.Contains(hookEvents, event) {
		message := fmt.Sprintf("there is no event %q; there are %s", event, strings.Join(hookEvents, ", "))
		if near := suggest.Of(event, hookEvents); near != "" {
			message = fmt.Sprintf("there is no event %q; did you mean %s?", event, near)
		}
		return errors.New(message)
	}
	h.Event, h.Tools = HookEvent(event), tools
	if len(tools) > 0 && h.Event != BeforeTool && h.Event != AfterTool {
		return fmt.Errorf("only %s and %s are about tools, and %s names some", BeforeTool, AfterTool, event)
	}
	return nil
}

// addHook adds a hook. The hooks of a note are in the order of their lines.
func (n *Note) addHook(h *Hook) error {
	switch {
	case slices.ContainsFunc(n.hooks, func(other *Hook) bool { return other.Name == h.Name }):
		return fmt.Errorf("the note defines the hook %s twice", h.Name)
	case len(n.hooks) == maximumHooks:
		return fmt.Errorf("the note has more than %d hooks", maximumHooks)
	}
	h.File = n.File
	n.hooks = append(n.hooks, h)
	slices.SortStableFunc(n.hooks, func(a, b *Hook) int { return a.Line - b.Line })
	return nil
}

// definitionLine returns the line at which the block being loaded defines something by an operator
// and names, or else the first line of the block.
func (n *Note) definitionLine(operator string, names ...string) int {
	if n.block == nil {
		return 1
	}
	pattern := `(?i)\([a-z:]*` + operator
	for _, name := range names {
		pattern += `\s+[:'#"]*` + regexp.QuoteMeta(name)
	}
	definition := regexp.MustCompile(pattern + `[\s")]`)
	for i, line := range strings.Split(n.block.Body, "\n") {
		if definition.MatchString(line + "\n") {
			line, _ := n.block.Position(i+1, 1)
			return line
		}
	}
	return n.block.Line
}

// scanHooks adds the shell blocks that are hooks.
func (n *Note) scanHooks(doc *org.Document) (faults []Diagnostic) {
	for _, found := range doc.HookBlocks() {
		b := found.Block
		fault := func(format string, arguments ...any) {
			faults = append(faults, Diagnostic{File: n.File, Line: b.Line, Column: b.Indent + 1, Message: fmt.Sprintf(format, arguments...)})
		}
		switch strings.ToLower(b.Language) {
		case "sh", "bash", "shell":
		case "lisp", "common-lisp":
			fault("a hook in Lisp is defined by (defhook NAME :on (%s) :function #'NAME), and its block has no :hook", found.Event)
			continue
		default:
			fault("a block that is a hook is one of sh or bash, not of %q", b.Language)
			continue
		}
		h := &Hook{Name: strings.ToLower(b.Name), Line: b.Line, Script: b.Body, note: n}
		if h.Name == "" {
			h.Name = fmt.Sprintf("%s-%d", n.key, b.Line)
		}
		tools := strings.FieldsFunc(found.Tools, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		if err := h.on(found.Event, tools); err != nil {
			fault(":hook: %v", err)
			continue
		}
		if strings.TrimSpace(h.Script) == "" {
			fault("the hook %s is empty", h.Name)
			continue
		}
		if err := n.addHook(h); err != nil {
			fault("%v", err)
		}
	}
	return faults
}

// hookText matches the text of a note that is meant to have hooks, even if the note is broken.
var hookText = regexp.MustCompile(`(?im)\(\s*[a-z:-]*defhook[\s):]|^[ \t]*#\+(begin_src|headers?:|property:).*[ \t]:hook\b|^[ \t]*:header-args[^ \t\n]*:.*[ \t]:hook\b`)

// Hooks returns the hooks for an event, in the order of their notes. Tool is "" for an event without
// a tool. The slice is the caller's.
func (s *Set) Hooks(event HookEvent, tool string) []*Hook {
	var found []*Hook
	if s != nil {
		for _, h := range s.hooks {
			if h.about(event, tool) {
				found = append(found, h)
			}
		}
	}
	return found
}

// HookFaults returns one fault for each note that is meant to have hooks and whose newest version
// is not live. Its hooks are not called, so the caller has to ask the person instead.
func (s *Set) HookFaults() []Diagnostic {
	if s == nil {
		return nil
	}
	return slices.Clone(s.hookFaults)
}

// assignHooks returns the hooks of the live notes, and the faults for [Set.HookFaults].
func assignHooks(order []*slot) (hooks []*Hook, hookFaults []Diagnostic) {
	order = slices.Clone(order)
	slices.SortFunc(order, byPlace)
	for _, s := range order {
		if s.published {
			hooks = append(hooks, s.live.hooks...)
		}
		if s.state == Shadowed || s.published && s.live == s.newest || !s.newest.mentionsHooks {
			continue
		}
		fault := Diagnostic{File: s.newest.File, Line: 1, Column: 1, Message: "it is not live"}
		for _, d := range slices.Concat(s.faults, s.blocked) {
			if !d.Warning {
				fault = d
				break
			}
		}
		hookFaults = append(hookFaults, fault)
	}
	return hooks, hookFaults
}
