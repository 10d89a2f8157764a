// Package hook asks the hooks of a person's notes. A hook is a function in Lisp or a shell script
// that is called before or after an event, and answers with a verdict. Hooks only narrow what may
// be done. They may add text for the model, which is data for it and never a message of the person.
//
// A hook in Lisp runs in its note, within the limits of notes. A script runs in the fence of
// kernel/sandbox with no file, no network and the event as JSON on its input. All hooks of an event
// are called at once; only hooks in Lisp of one note wait for one another. If a hook fails before
// an action, the person is asked. After other events the failure is logged.
//
// Hooks is safe for many goroutines. It starts none that outlives a call.
package hook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

// Config configures Hooks. Skills and Kind are required.
type Config struct {
	// Skills returns the live skills.
	Skills func() *skill.Set
	// Kind returns the fence in which scripts run.
	Kind func() sandbox.Kind
	// Home, Hidden and Environment are as in [sandbox.Command].
	Home        string
	Hidden      []string
	Environment func(string) string
	// ScriptTime is how long a script may run. 0 means five seconds.
	ScriptTime time.Duration
	// Dry drops what hooks in Lisp write or log.
	Dry bool
	// Logger gets the failures of hooks after an event. nil: they are dropped.
	Logger *slog.Logger
}

// scriptLimit is the maximum number of scripts at a time, in all conversations together.
const scriptLimit = 16

// Hooks calls the hooks of the live notes. A nil Hooks has none.
type Hooks struct {
	config  Config
	scripts chan struct{} // a value for each script that runs
}

// New returns the Hooks with a configuration.
func New(config Config) *Hooks {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.ScriptTime <= 0 {
		config.ScriptTime = 5 * time.Second
	}
	return &Hooks{config: config, scripts: make(chan struct{}, scriptLimit)}
}

// Addition is a text that a hook adds for the model.
type Addition struct {
	Hook, Text string
}

// response is what a hook answered to an event, or why it failed.
type response struct {
	hook *skill.Hook
	answer
	err error
}

// ask calls the hooks of an event at once, and returns their responses in the order of the hooks.
func (h *Hooks) ask(ctx context.Context, hooks []*skill.Hook, event protocol.Object) []response {
	all := make([]response, len(hooks))
	if len(hooks) == 0 {
		return nil
	}
	data, err := plist.Marshal(event)
	list, _ := data.(sexp.List)
	var work sync.WaitGroup
	for i, one := range hooks {
		all[i] = response{hook: one, err: err}
		if err == nil {
			work.Go(func() { all[i].answer, all[i].err = h.call(ctx, one, event, list) })
		}
	}
	work.Wait()
	return all
}

// call calls one hook.
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
