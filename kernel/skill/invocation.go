package skill

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
)

// Asker asks the model for a skill's neuro function.
type Asker interface {
	// Ask sends the text and returns the whole reply. The note's other calls may run
	// meanwhile. An error is signalled in the note, where it can be handled.
	Ask(ctx context.Context, ask Ask) (string, error)
}

// Ask is a note's question to the model.
type Ask struct {
	// Text is the message.
	Text string
	// System is the skill's own part of the system prompt, from :system-prompt.
	System string
	// NoHistory leaves the earlier messages out (:history nil).
	NoHistory bool
	// NoStream keeps the reply from being shown while it is written (:stream nil).
	NoStream bool
	// Prompt is how much the kernel's own prompt says in addition to System: "full", "minimal" or
	// "none" (:prompt), or "" for the default.
	Prompt string
	// NoContext leaves out the context that the person attached to the message (:context nil).
	NoContext bool
	// Options are the other keywords and their values.
	Options sexp.List
}

// purpose is the reason for a call into a note. It decides what kernel functions may do in the
// call.
type purpose int

const (
	purposeTyped    purpose = iota // code that a person typed
	purposeLoad                    // the note's top-level forms
	purposeTest                    // its test blocks
	purposeTrigger                 // a trigger
	purposeNeuro                   // a neuro function
	purposeSymbolic                // a symbolic function
	purposePreview                 // a symbolic function, for an answer that is being written
	purposeAugment                 // a system-prompt-augment function
	purposeDryNeuro                // a neuro function, to show what it would ask
	purposeHook                    // a hook
	purposeDryHook                 // a hook, to show what it would say
	purposeAction                  // the function that performs an action
	purposeTool                    // the body of a tool
	purposeGuard                   // the guard of a tool or an action
)

func (p purpose) String() string {
	return [...]string{"code typed by a person", "a form outside any function", "a test", "a trigger",
		"a neuro function", "a symbolic function", "a symbolic function", "a system-prompt-augment function", "a neuro function",
		"a hook", "a hook", "an action", "a tool", "a guard"}[p]
}

// dry reports whether the call only shows a possible result. Its log lines are dropped too.
func (p purpose) dry() bool {
	return p == purposePreview || p == purposeDryNeuro || p == purposeDryHook
}

// mayWrite reports whether the note may write files in the call. In a call without effects, writing
// succeeds and is dropped.
func (p purpose) mayWrite() bool {
	return p != purposeLoad && p != purposeTrigger && p != purposeAugment && p != purposeGuard
}

// invocation is one call into a note. It belongs to the goroutine of the call.
type invocation struct {
	purpose purpose
	asker   Asker
	// dry makes ask-neuro return its arguments instead of asking a model.
	dry bool
	// onBegin is called when this call begins, after it has waited for the note's other calls. It
	// may be nil.
	onBegin func()
	// fitting passes only as many arguments as the function takes.
	fitting bool
	// modelAsked is true if the model has been asked.
	modelAsked bool
	// isTrue and result hold the value that the function returned. unfit is true if the value is
	// not data.
	isTrue bool
	result sexp.Sexp
	unfit  error
	// withheld is true if a capability was used that is not granted.
	withheld bool
	// script holds the model's replies in a test that defines them, or is nil.
	script *script
	// answers are those of servers in a test that defines them, or nil.
	answers *answers
	// failures are the messages of the failed checks of a test.
	failures []string
}

// effectless reports whether the effects of the call outside of the note are dropped.
func (o *invocation) effectless() bool {
	return o.purpose == purposeTest || o.purpose.dry()
}

// invocationOf returns the invocation that is the reason of a call. Code that this package did not call
// was typed by a person.
func invocationOf(reason any) *invocation {
	if o, ok := reason.(*invocation); ok {
		return o
	}
	return &invocation{}
}

// DryRun returns what evaluates code of a person in an environment without asking a model: ask-neuro
// returns the list (:asked TEXT . ARGUMENTS).
func DryRun(environment *lisp.Environment) lisp.Caller {
	return environment.For(&invocation{dry: true})
}
