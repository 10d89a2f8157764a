package skill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// Skill is one defskill of a note that was loaded. Its fields do not change.
type Skill struct {
	// Name is the registered name, in lower case without a colon.
	Name string
	// File is the note, as diagnostics name it.
	File string
	// Hash is the SHA-256 of the note's blocks, in hex.
	Hash string
	// Title, Description and Version are the note's keywords, or "".
	Title, Description, Version string
	// Priority orders skills whose triggers are true. The highest answers.
	Priority int
	// Dependencies are the names of the notes and skills that the skill declares to need.
	Dependencies []string
	// Commands are the commands that the skill declares. Another note that declares the same
	// command may have it instead.
	Commands []Command
	// Shipped is true if the note came with the program.
	Shipped bool

	note *Note
	// The functions are nil where the skill has none.
	trigger, neuro, symbolic, augment lisp.Value
	// augmentText is a :system-prompt-augment that is a string.
	augmentText string
	// catchAll is true if the trigger accepted the probe.
	catchAll bool
	line     int

	triggerFailed, augmentFailed atomic.Bool
}

// OutcomeKind is the kind of result of a neuro function.
type OutcomeKind int

// The outcomes of a neuro function.
const (
	// None means that the function returned nil: the skill has no answer.
	None OutcomeKind = iota
	// Reply means that the function asked the model. Text is the model's reply, whatever the
	// function returned.
	Reply
	// Prompt means that the function did not ask the model. Text is the question for the model.
	Prompt
	// Proposal means that the function returned a property list, which needs no model.
	Proposal
)

// String returns the kind's name in lower case.
func (k OutcomeKind) String() string {
	return [...]string{"none", "reply", "prompt", "proposal"}[k]
}

// Outcome is the result of a neuro function. The kind decides which of Text and Proposal is set.
type Outcome struct {
	Kind     OutcomeKind
	Text     string
	Proposal sexp.List
}

// triggerTime is how long a trigger may run. Every message waits for it.
const triggerTime = time.Second

// FunctionError is the failure of a function of a skill. Its text may be shown to the person with
// whom the agent talks. The wrapped error holds all details for the note's author.
type FunctionError struct {
	Skill string
	// Role is the function's role in the skill: trigger, neuro, symbolic or system-prompt-augment.
	Role string
	Err  error
}

// Error returns the place and the reason, without data of the event or the proposal.
func (e *FunctionError) Error() string {
	var fault *lisp.Error
	if !errors.As(e.Err, &fault) {
		return fmt.Sprintf("the %s function of the skill %s failed: %v", e.Role, e.Skill, e.Err)
	}
	var b strings.Builder
	if fault.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", fault.File, fault.Line, fault.Column)
	}
	fmt.Fprintf(&b, "the %s function of the skill %s failed: %s", e.Role, e.Skill, publicMessage(fault))
	return b.String()
}

// Unwrap returns the error that the function signalled.
func (e *FunctionError) Unwrap() error { return e.Err }

// publicMessage returns the message of an error, or only its class if the message contains data. It
// returns a message about a file or a grant whole, because that names a path and the missing grant.
func publicMessage(fault *lisp.Error) string {
	const longest = 160
	if _, ok := errors.AsType[*withheldError](fault); ok {
		return fault.Message
	}
	message, _, _ := strings.Cut(fault.Message, "\n")
	if fault.Class == "FILE-ERROR" {
		return message
	}
	if strings.Contains(message, "(:") || strings.Contains(message, "(|") || len(message) > longest {
		return strings.ToLower(strings.ReplaceAll(fault.Class, "-", " "))
	}
	return message
}

// call calls one of the skill's functions and stores its value in the occasion.
func (k *Skill) call(ctx context.Context, o *invocation, role string, function lisp.Value, args ...lisp.Data) error {
	if err := k.note.apply(ctx, o, function, args...); err != nil {
		return &FunctionError{Skill: k.Name, Role: role, Err: err}
	}
	return nil
}

// matches calls the trigger, if there is one. It returns only the first of the trigger's errors.
func (k *Skill) matches(ctx context.Context, event lisp.Data) (bool, error) {
	if k.trigger == nil {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	o := &invocation{purpose: purposeTrigger}
	err := k.call(limited, o, "trigger", k.trigger, event)
	if err == nil {
		return o.isTrue, nil
	}
	if ctx.Err() != nil || k.triggerFailed.Swap(true) {
		return false, nil
	}
	return false, err
}

// Line returns the line at which the note defines the skill.
func (k *Skill) Line() int { return k.line }

// MatchesAll reports whether the trigger accepts every event.
func (k *Skill) MatchesAll() bool { return k.catchAll }

// Checks reports whether the skill has a symbolic function.
func (k *Skill) Checks() bool { return k.symbolic != nil }

// Neuro runs the skill's neuro function for event. The function can ask the model with ask. The
// outcome of a skill without one is None. The error is a *[FunctionError].
func (k *Skill) Neuro(ctx context.Context, event sexp.List, ask Asker) (Outcome, error) {
	return k.answer(ctx, purposeNeuro, event, ask)
}

// DryRun runs Neuro without effects, to show what the model would be asked. Files that the function
// writes, text that it logs and events that it injects are dropped.
func (k *Skill) DryRun(ctx context.Context, event sexp.List, ask Asker) (Outcome, error) {
	return k.answer(ctx, purposeDryNeuro, event, ask)
}

func (k *Skill) answer(ctx context.Context, p purpose, event sexp.List, ask Asker) (Outcome, error) {
	if k.neuro == nil {
		return Outcome{}, nil
	}
	o := &invocation{purpose: p, asker: ask}
	if err := k.call(ctx, o, "neuro", k.neuro, lisp.NewData(event)); err != nil {
		return Outcome{}, err
	}
	if o.unfit == nil {
		switch x := o.result.(type) {
		case plist.String:
			if o.modelAsked {
				return Outcome{Kind: Reply, Text: string(x)}, nil
			}
			return Outcome{Kind: Prompt, Text: string(x)}, nil
		case sexp.List:
			if len(x) == 0 {
				return Outcome{}, nil
			}
			return Outcome{Kind: Proposal, Proposal: x}, nil
		}
	}
	return Outcome{}, k.unfit("neuro", "a string, a property list or nil", o)
}

// Symbolic passes a proposal through the skill's symbolic function. It returns the same action if
// the function returned an equal one or does not exist, another action if the function changed it,
// and nil if the function refused it. An error refuses it too and is a *[FunctionError].
func (k *Skill) Symbolic(ctx context.Context, action, event sexp.List) (sexp.List, error) {
	return k.check(ctx, purposeSymbolic, action, lisp.NewData(event))
}

// Preview runs Symbolic without effects, for an answer that is still being written. Text that the
// function logs and events that it injects are dropped.
func (k *Skill) Preview(ctx context.Context, action, event sexp.List) (sexp.List, error) {
	return k.check(ctx, purposePreview, action, lisp.NewData(event))
}

// Passes reports for each action whether Preview would return it unchanged.
func (k *Skill) Passes(ctx context.Context, actions []sexp.List, event sexp.List) []bool {
	passes, data := make([]bool, len(actions)), lisp.NewData(event)
	for i, action := range actions {
		returned, err := k.check(ctx, purposePreview, action, data)
		passes[i] = err == nil && plist.Equal(returned, action)
	}
	return passes
}

func (k *Skill) check(ctx context.Context, p purpose, action sexp.List, event lisp.Data) (sexp.List, error) {
	if k.symbolic == nil {
		return action, nil
	}
	o := &invocation{purpose: p}
	if err := k.call(ctx, o, "symbolic", k.symbolic, lisp.NewData(action), event); err != nil {
		return nil, err
	}
	returned, ok := o.result.(sexp.List)
	switch {
	case o.unfit != nil || !ok:
		return nil, k.unfit("symbolic", "an action or nil", o)
	case len(returned) == 0:
		return nil, nil
	case plist.Equal(returned, action):
		return action, nil
	}
	return returned, nil
}

func (k *Skill) unfit(role, wanted string, o *invocation) error {
	err := fmt.Errorf("it returned what is not %s", wanted)
	if o.unfit != nil {
		err = fmt.Errorf("%w: %w", err, o.unfit)
	}
	return &FunctionError{Skill: k.Name, Role: role, Err: err}
}

// Augment returns the text that the skill adds to every system prompt, or "". A function that fails
// or does not return a string adds nothing, which is logged once.
func (k *Skill) Augment(ctx context.Context) string {
	if k.augment == nil {
		return k.augmentText
	}
	limited, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	o := &invocation{purpose: purposeAugment}
	err := k.call(limited, o, "system-prompt-augment", k.augment)
	if err == nil {
		if text, ok := o.result.(plist.String); ok {
			return string(text)
		}
		if plist.IsNil(o.result) && o.unfit == nil {
			return ""
		}
		err = k.unfit("system-prompt-augment", "a string or nil", o)
	}
	if ctx.Err() == nil && !k.augmentFailed.Swap(true) {
		k.note.options.Logger.Warn("a skill's part of the system prompt is left out", "skill", k.Name, "err", err)
	}
	return ""
}
