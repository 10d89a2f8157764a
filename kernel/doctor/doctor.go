// Package doctor looks for faults of an instance and mends those that it can. It works with a
// kernel and without one, beside a kernel that hangs, and in a home that is broken. Looking
// changes nothing and takes a bounded time. It spends no tokens, except that a server of
// embeddings is asked for the vector of one word.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

// State is how bad a finding is.
type State string

// The states of a finding.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, and should be looked at
	Fail State = "fail" // something does not work
)

// Finding is the result of looking at one thing.
type Finding struct {
	// Check is the name of the check. Several findings may have one name.
	Check string `json:"check"`
	State State  `json:"state"`
	// Text says what was found; Advice what to do, "" for nothing.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	// Mend says what mending would do, "" when the doctor cannot.
	Mend string `json:"mend,omitempty"`
	// Mended says that mending was done; Failure why it was not.
	Mended  bool   `json:"mended,omitempty"`
	Failure string `json:"failure,omitempty"`

	mend func(ctx context.Context) error
}

// Config configures the checks. Paths, Env and Version are required.
type Config struct {
	Paths   config.Paths
	Env     func(string) string
	Version string // of this program
	// Drivers are the protocols of the servers of models.
	Drivers llm.Drivers
	// Grants are what policy.org grants, for the notes; nil looks at none.
	Grants func(config.Settings) *skill.Grants
	// Tools are the names of the tools there are; nil looks for none that are named.
	Tools []string
	// Self: the kernel itself looks, and is not asked whether it answers.
	Self bool
	// WithoutSafety: this kernel was started so that no prompt has the rules of safety. Of
	// another its status tells.
	WithoutSafety bool
	// Sandbox says what commands can be fenced in with, and what is in the way of a better
	// fence; nil when no command is run.
	Sandbox func(ctx context.Context) (sandbox.Kind, error)
}

// check is a check and its name.
type check struct {
	name string
	look func(ctx context.Context, c Config) []Finding
}

// checks are all checks in the order of their findings. A check comes before those that depend on it.
func checks() []check {
	return []check{
		{"home", home}, {"state", state}, {"run", run}, {"token", token}, {"kernel", kernel}, {"journal", journalState},
		{"config", settings}, {"model", model}, {"speech", speech}, {"search", search}, {"mcp", mcpServers}, {"embeddings", embeddings}, {"notes", notes}, {"policy", grants}, {"persona", persona}, {"memory", memoryIndex}, {"disk", disk}, {"clock", clock}, {"sandbox", fence},
	}
}

// Names returns the names of the checks.
func Names() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// patience is how long one check may take.
const patience = 20 * time.Second

// Examine runs all checks, or only those that are named. A check that panics or takes too long gives a
// finding too.
func Examine(ctx context.Context, c Config, only ...string) []Finding {
	var found []Finding
	for _, row := range checks() {
		if len(only) > 0 && !slices.Contains(only, row.name) {
			continue
		}
		for _, f := range bounded(ctx, c, row) {
			f.Check = row.name
			found = append(found, f)
		}
	}
	return found
}

// bounded runs a check and waits for it at most patience. A check that hangs in the system, as on a dead
// network disk, is left behind; it changes nothing.
func bounded(ctx context.Context, c Config, row check) []Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				done <- []Finding{{State: Fail, Text: fmt.Sprintf("the check itself failed: %v", fault), Advice: "this is a fault of the program: report it"}}
			}
		}()
		done <- row.look(ctx, c)
	}()
	select {
	case found := <-done:
		return found
	case <-ctx.Done():
		select {
		case found := <-done:
			return found
		case <-time.After(time.Second):
			return []Finding{{State: Fail, Text: "this could not be looked at in time", Advice: "look whether the disk or the network answers at all"}}
		}
	}
}

// Mend mends the findings that can be mended, in order, and examines again. It returns the findings of
// afterwards, and those that were mended or whose mending failed.
func Mend(ctx context.Context, c Config, only ...string) []Finding {
	var done []Finding
	for _, f := range Examine(ctx, c, only...) {
		if f.mend == nil || ctx.Err() != nil {
			continue
		}
		if err := f.mend(ctx); err != nil {
			f.Failure = err.Error()
		} else {
			f.Mended, f.State = true, OK
		}
		done = append(done, f)
	}
	after := Examine(ctx, c, only...)
	for i, f := range after {
		for _, was := range done {
			if was.Check == f.Check && was.Text == f.Text {
				after[i].Failure = was.Failure
			}
		}
	}
	mended := slices.DeleteFunc(done, func(f Finding) bool { return !f.Mended })
	return append(mended, after...)
}

// Worst returns the worst state of the findings.
func Worst(found []Finding) State {
	worst := OK
	for _, f := range found {
		if f.State == Fail || f.State == Warn && worst == OK {
			worst = f.State
		}
	}
	return worst
}

func ok(format string, args ...any) Finding {
	return Finding{State: OK, Text: fmt.Sprintf(format, args...)}
}

func warn(advice, format string, args ...any) Finding {
	return Finding{State: Warn, Text: fmt.Sprintf(format, args...), Advice: advice}
}

func fail(advice, format string, args ...any) Finding {
	return Finding{State: Fail, Text: fmt.Sprintf(format, args...), Advice: advice}
}

// by gives a finding the means to mend it.
func (f Finding) by(what string, mend func(ctx context.Context) error) Finding {
	f.Mend, f.mend = what, mend
	return f
}
