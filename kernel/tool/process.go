package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/process"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed process.md
var processManual string

type processArguments struct {
	Action   string `doc:"what to do" required:"true" words:"start list output write stop"`
	Command  string `doc:"for start: the bash command"`
	Cwd      string `doc:"for start: the directory in which it runs and which it can read, an absolute path (default: an empty directory of its own)"`
	Writes   bool   `doc:"for start: t if it may change :cwd"`
	Network  bool   `doc:"for start: t if it needs the network"`
	Terminal bool   `doc:"for start: t if it needs a terminal" seldom:"true"`
	Secrets  bool   `doc:"for start: t if it has to see files that may hold keys, and text that is kept from you: the person is asked each time" seldom:"true"`
	ID       string `doc:"for output, write and stop: the command's id"`
	From     int    `doc:"for output: the byte at which the part begins (default: 0)"`
	Input    string `doc:"for write: the text to write"`
	End      bool   `doc:"for write: t to close the command's input" seldom:"true"`
}

func (a *processArguments) request() process.Request {
	return process.Request{Command: a.Command, Directory: a.Cwd, Writes: a.Writes, Network: a.Network, Terminal: a.Terminal, Secrets: a.Secrets}
}

func processTool(commands *process.Table) Tool {
	return New(Definition[processArguments]{
		Name: "process", Manual: processManual,
		Offered: func() bool { return commands != nil },
		Reach: func(ctx context.Context, by *Caller, a *processArguments) ([]protocol.Reach, error) {
			return a.reach(ctx, by, commands)
		},
		Preview: func(ctx context.Context, by *Caller, a processArguments) (Preview, error) {
			switch a.Action {
			case "start":
				p, err := previewOfCommand(ctx, commands, a.request())
				p.Summary = "Start " + p.Summary[len("Run "):]
				p.Effects = append(p.Effects, "it runs on until it ends, is stopped or the kernel ends")
				return p, err
			case "write":
				r, err := commands.Find(by.Conversation.Session, a.ID)
				return Preview{Summary: "Write to " + text.Clip(text.Line(r.Command), 120), Text: a.Input, Effects: []string{"a command that was allowed before and still runs reads it"}}, err
			}
			return Preview{}, nil // the other actions need no person
		},
		Perform: func(ctx context.Context, by *Caller, a processArguments) (string, error) {
			return a.perform(ctx, by, commands)
		},
	})
}

// reach judges writing to a command like the command with that input. Reading a command's output or
// ending it touches nothing.
func (a *processArguments) reach(ctx context.Context, by *Caller, commands *process.Table) ([]protocol.Reach, error) {
	if a.Action == "start" {
		return reachOfCommand(ctx, commands, a.Command, &a.Cwd, a.request)
	}
	if a.Command != "" || a.Cwd != "" || a.Writes || a.Network || a.Terminal || a.Secrets {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "the action %s is for a command that was started: use start for a new one", a.Action)
	}
	if a.Action == "list" {
		return []protocol.Reach{}, nil
	}
	if a.ID == "" {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "the argument :id is missing: the action %s needs the id of a command", a.Action)
	}
	if a.Action != "write" {
		return []protocol.Reach{}, nil
	}
	r, err := commands.Find(by.Conversation.Session, a.ID)
	if err != nil {
		return nil, err
	}
	return append([]protocol.Reach{{Kind: protocol.ReachRuns, Command: withInput(r.Command, a.Input), Path: r.Directory}}, unfenced(commands)...), nil
}

// withInput returns a command with its input, as a shell would write it.
func withInput(command, input string) string {
	end := "INPUT"
	for strings.Contains(input, end) {
		end += "_"
	}
	if !strings.HasSuffix(input, "\n") {
		input += "\n"
	}
	return "{ " + command + "\n} <<'" + end + "'\n" + input + end + "\n"
}

func (a *processArguments) perform(ctx context.Context, by *Caller, commands *process.Table) (string, error) {
	session := by.Conversation.Session
	switch a.Action {
	case "start":
		r := shownSecrets(ctx, commands, a.request())
		r.Session = session
		report, err := commands.Start(ctx, r)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("[it is %s]\n%s", report.ID, renderRun(commands, session, report)), nil
	case "list":
		return renderRuns(commands.List(session)), nil
	case "write":
		report, err := commands.Write(ctx, session, a.ID, a.Input, a.End)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("[written; %s; it wrote %d bytes so far]\n", report.State(), report.Bytes), nil
	case "stop":
		report, err := commands.Stop(ctx, session, a.ID)
		if err != nil {
			return "", err
		}
		return "[" + report.State() + "]\n", nil
	}
	return a.output(commands, session)
}

// output returns a part of a command's output, with the command's state if it is known.
func (a *processArguments) output(commands *process.Table, session string) (string, error) {
	part := make([]byte, resultPart)
	n, stored, err := commands.Output(session, a.ID, int64(a.From), part)
	if err != nil {
		return "", err
	}
	state := "it ended"
	if report, err := commands.Find(session, a.ID); err == nil {
		state = report.State()
	}
	until := int64(a.From + n)
	more := ""
	if until < stored {
		more = fmt.Sprintf("; the next part is :from %d", until)
	}
	return fmt.Sprintf("[%s; the bytes %d to %d of %d%s]\n%s", state, a.From, until, stored, more, readable(part[:n])), nil
}

func renderRuns(all []process.Report) string {
	if len(all) == 0 {
		return "no command was started in this conversation"
	}
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "- %s: %s; %d bytes; %s\n", r.ID, r.State(), r.Bytes, text.Clip(text.Line(r.Command), 120))
	}
	return b.String()
}
