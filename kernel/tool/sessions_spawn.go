package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
)

//go:embed sessions_spawn.md
var sessionsSpawnManual string

// taskLimit is how many bytes a task has at most: what is longer stands in a file.
const taskLimit = 64 << 10

type sessionsSpawnArguments struct {
	Task    string   `doc:"whole, what is wanted" required:"true"`
	Label   string   `doc:"what people see it called, in a few words"`
	Model   string   `doc:"the model that answers it; yours if nothing is said"`
	Tools   []string `doc:"the tools that it may use; all of yours if nothing is said"`
	Fork    bool     `doc:"t if it is to see the conversation so far"`
	Wait    string   `doc:":no to go on at once and be told when it has ended; :yes if nothing is said" words:"yes no"`
	Minutes int      `doc:"the most that it may take"`
	Rounds  int      `doc:"the most actions that it may take"`
	Tokens  int      `doc:"the most tokens that it may take"`
}

func sessionsSpawn(offered bool) Tool {
	return New(Definition[sessionsSpawnArguments]{
		Name: "sessions_spawn", Manual: sessionsSpawnManual, Effect: protocol.ToolSpawns,
		Offered: func() bool { return offered },
		Preview: func(_ context.Context, by *Caller, a sessionsSpawnArguments) (Preview, error) {
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
		Perform: func(ctx context.Context, by *Caller, a sessionsSpawnArguments) (string, error) {
			if err := a.check(); err != nil {
				return "", err
			}
			s := by.Spawner
			if s == nil {
				return "", protocol.ToolErrorf(protocol.ToolRefused, "no work is handed on here: it is handed on by a conversation with a model")
			}
			return s.Spawn(ctx, Work{Task: a.Task, Label: a.Label, Model: a.Model, Tools: a.Tools, Fork: a.Fork, Wait: a.Wait != "no",
				Minutes: a.Minutes, Rounds: a.Rounds, Tokens: a.Tokens})
		},
	})
}

// check says what is wrong with the arguments.
func (a sessionsSpawnArguments) check() error {
	switch {
	case strings.TrimSpace(a.Task) == "":
		return protocol.ToolErrorf(protocol.ToolArguments, "the :task is empty: say whole what is wanted")
	case len(a.Task) > taskLimit:
		return protocol.ToolErrorf(protocol.ToolArguments, "the :task has %d bytes, more than %d: write it into a file and name that", len(a.Task), taskLimit)
	}
	for _, bound := range []struct {
		name  string
		value int
	}{{"minutes", a.Minutes}, {"rounds", a.Rounds}, {"tokens", a.Tokens}} {
		if bound.value < 0 {
			return fmt.Errorf("the bound :%s is a positive number", bound.name)
		}
	}
	return nil
}
