// Package doctor finds faults of an instance and repairs those that it can. It works with a kernel
// and without one, beside a kernel that hangs, and in a broken home. Looking for faults changes
// nothing, except that a small file is written and removed again to see whether that is possible, and takes a
// limited time. It spends no tokens, with one exception: it asks a server of
// embeddings for the vector of one word.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

// State is the severity of a finding.
type State string

// The states of a finding.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, but a person should look at it
	Fail State = "fail" // something does not work
)

// Finding is the result of one check.
type Finding struct {
	// Check is the name of the check. Several findings may have one name.
	Check string `json:"check"`
	State State  `json:"state"`
	// Text is the finding. Advice says what to do, or is "".
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	// Mend says what the repair would do. It is "" if the doctor cannot repair the fault.
	Mend string `json:"mend,omitempty"`
	// Mended is true if the fault was repaired. Failure is the reason if the repair failed.
	Mended  bool   `json:"mended,omitempty"`
	Failure string `json:"failure,omitempty"`

	mend func(ctx context.Context) error
}

// Config configures the checks. Paths, Env and Version are required.
type Config struct {
	Paths   config.Paths
	Env     func(string) string
	Version string // of this program
	// Drivers are the protocols of model servers.
	Drivers llm.Drivers
	// Grants returns what policy.org grants to notes. nil: grants are not checked.
	Grants func(settings config.Settings) *skill.Grants
	// Channels returns what is wrong with the properties of a channel. nil: they are not checked.
	Channels func(c config.Channel) error
	// Specs returns the kernel's kinds of actions, with which notes are loaded.
	Specs func() action.Specs
	// Begins is called with the name of each check before it runs. May be nil.
	Begins func(check string)
	// Tools are the names of all tools. nil: names of tools are not checked.
	Tools []string
	// Self is true if the kernel examines itself. It is then not asked whether it answers.
	Self bool
	// WithoutSafety is true if this kernel was started without the safety rules in its prompts.
	// Another kernel reports this in its status.
	WithoutSafety bool
	// Sandbox returns the fence for commands, and an error if something prevents a better one. nil:
	// no commands are run.
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
		{"config", settings}, {"model", model}, {"speech", speech}, {"search", search}, {"mcp", mcpServers}, {"channels", channels}, {"embeddings", embeddings}, {"notes", notes}, {"policy", grants}, {"persona", persona}, {"memory", index}, {"disk", disk}, {"clock", clock}, {"sandbox", fence},
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

// timeout is how long one check may take.
const timeout = 20 * time.Second

// Examine runs all checks, or only those that are named. A check that panics or takes too long gives a
// finding too.
func Examine(ctx context.Context, c Config, only ...string) []Finding {
	var found []Finding
	for _, row := range checks() {
		if len(only) > 0 && !slices.Contains(only, row.name) {
			continue
		}
		if c.Begins != nil {
			c.Begins(row.name)
		}
		for _, f := range bounded(ctx, c, row) {
			f.Check = row.name
			found = append(found, f)
		}
	}
	return found
}

// bounded runs a check and waits for it at most timeout. A check that hangs in the system, for
// example on a dead network disk, is abandoned; it changes nothing.
func bounded(ctx context.Context, c Config, row check) []Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
			return []Finding{{State: Fail, Text: "the check did not finish in time", Advice: "check whether the disk and the network respond"}}
		}
	}
}

// Mend repairs the findings that can be repaired, in order, and examines again. It returns the new
// findings, and those that were repaired or whose repair failed.
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

// by adds a repair to a finding.
func (f Finding) by(what string, mend func(ctx context.Context) error) Finding {
	f.Mend, f.mend = what, mend
	return f
}
