package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
)

//go:embed start_subagent.md
var startSubagentManual string

// taskLimit is the maximum size of a task in bytes. A longer text belongs in a file.
const taskLimit = 64 << 10

type startSubagentArguments struct {
	Task    string   `doc:"the complete task" required:"true"`
	Label   string   `doc:"a short name for people" seldom:"true"`
	Model   string   `doc:"the model that does it (default: yours)" seldom:"true"`
	Tools   []string `doc:"the tools it may use (default: all of yours)" seldom:"true"`
	Fork    bool     `doc:"t to show it the conversation so far"`
	Wait    string   `doc:":no to continue at once and get a notice when it has ended (default: :yes)" words:"yes no"`
	Minutes int      `doc:"the most minutes it may use" seldom:"true"`
	Rounds  int      `doc:"the most actions it may take" seldom:"true"`
	Tokens  int      `doc:"the most tokens it may use" seldom:"true"`
}

func startSubagent(offered func() bool) Tool {
	return New(Definition[startSubagentArguments]{
		Name: "start_subagent", Manual: startSubagentManual, Effect: protocol.ToolSpawns,
		Offered: func() bool { return offered != nil && offered() },
		Preview: func(_ context.Context, by *Caller, a startSubagentArguments) (Preview, error) {
			if err := a.check(); err != nil {
				return Preview{}, err
			}
			p := Preview{Summary: "Start a subagent", Text: a.Task, Effects: []string{"it spends tokens and time, and asks you as this conversation would"}}
			if a.Model != "" {
				p.Effects = append(p.Effects, "the model "+a.Model+" answers")
			}
			if a.Tools != nil {
				p.Effects = append(p.Effects, "it has only the tools "+strings.Join(a.Tools, ", "))
			}
			if a.Fork {
				p.Effects = append(p.Effects, "it is shown the conversation so far")
			}
			return p, nil
		},
		Perform: func(ctx context.Context, by *Caller, a startSubagentArguments) (string, error) {
			if err := a.check(); err != nil {
				return "", err
			}
			s := by.Subagents
			if s == nil {
				return "", protocol.ToolErrorf(protocol.ToolRefused, "no subagent can be started here: only a conversation with a model starts subagents")
			}
			return s.Start(ctx, SubagentTask{Task: a.Task, Label: a.Label, Model: a.Model, Tools: a.Tools, Fork: a.Fork, Wait: a.Wait != "no",
				Minutes: a.Minutes, Rounds: a.Rounds, Tokens: a.Tokens})
		},
	})
}

// check returns what is wrong with the arguments, or nil.
func (a startSubagentArguments) check() error {
	switch {
	case strings.TrimSpace(a.Task) == "":
		return protocol.ToolErrorf(protocol.ToolArguments, "the :task is empty: describe the whole task")
	case len(a.Task) > taskLimit:
		return protocol.ToolErrorf(protocol.ToolArguments, "the :task has %d bytes, more than %d: write it into a file and name that", len(a.Task), taskLimit)
	}
	for _, bound := range []struct {
		name  string
		value int
	}{{"minutes", a.Minutes}, {"rounds", a.Rounds}, {"tokens", a.Tokens}} {
		if bound.value < 0 {
			return fmt.Errorf("the limit :%s is a positive number", bound.name)
		}
	}
	return nil
}
