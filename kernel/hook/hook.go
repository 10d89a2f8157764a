// Package hook asks the hooks of a person's notes: functions in Lisp and scripts for a shell that
// are told of an event before or after it, and say what they think of it. They only narrow what
// may be done, and may add something for the model; what they add is data for it, never a message
// of the person.
//
// A hook in Lisp runs in its note, within the limits of notes; a script runs in the fence of
// kernel/sandbox with no file, no network and the event as JSON on its input. All that are about
// an event are called at once, and none waits for another but those of one note. Of what is
// about to be done one that fails is taken to ask; for other events it is logged.
//
// Hooks is safe for many goroutines. It starts none that outlives a call.
package hook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

// Kinds know what hooks are told of an action.
type Kinds interface {
	// Calls are the calls of tools that the action is taken for.
	Calls(a action.Action) []action.Call
	// Sends says to whom the action sends its text; false where it sends nothing.
	Sends(a action.Action) (to string, sends bool)
}

// Config is what hooks are asked with. Skills, Kinds and Kind are required.
type Config struct {
	// Kinds are those of the actions that hooks are asked about.
	Kinds Kinds
	// Skills are those that are live now.
	Skills func() *skill.Set
	// Tools say what a call would touch; nil: hooks are not told.
	Tools policy.Tools
	// Kind says what fence scripts run in.
	Kind func() sandbox.Kind
	// Home, Hidden and Environment are as in [sandbox.Command].
	Home        string
	Hidden      []string
	Environment func(string) string
	// ScriptTime is how long a script may run; 0 is five seconds.
	ScriptTime time.Duration
	// Dry: what hooks in Lisp write or log is dropped.
	Dry bool
	// Logger takes the failures of hooks that are asked for what was done. Default: dropped.
	Logger *slog.Logger
}

// scriptLimit is how many scripts run at a time, of all conversations.
const scriptLimit = 16

// Hooks asks hooks. A nil Hooks has none.
type Hooks struct {
	config  Config
	scripts chan struct{} // has a value for each that runs
}

// New returns what asks the hooks of the live notes.
func New(config Config) *Hooks {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.ScriptTime <= 0 {
		config.ScriptTime = 5 * time.Second
	}
	return &Hooks{config: config, scripts: make(chan struct{}, scriptLimit)}
}

// Added is what a hook has for the model.
type Added struct {
	Hook, Text string
}

// said is what a hook said of an event.
type said struct {
	hook *skill.Hook
	answer
	err error
}

// ask asks hooks of an event, all at once.
func (h *Hooks) ask(ctx context.Context, hooks []*skill.Hook, event protocol.Object) []said {
	all := make([]said, len(hooks))
	if len(hooks) == 0 {
		return nil
	}
	data, err := plist.Marshal(event)
	list, _ := data.(sexp.List)
	var work sync.WaitGroup
	for i, one := range hooks {
		all[i] = said{hook: one, err: err}
		if err == nil {
			work.Go(func() { all[i].answer, all[i].err = h.call(ctx, one, event, list) })
		}
	}
	work.Wait()
	return all
}

// call asks one hook.
func (h *Hooks) call(ctx context.Context, one *skill.Hook, event protocol.Object, list sexp.List) (answer, error) {
	if one.Script != "" {
		return h.run(ctx, one.Script, event)
	}
	value, err := one.Call(ctx, list, h.config.Dry)
	if err != nil {
		return answer{}, err
	}
	return answerOf(value)
}
