package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
	"org-agent/kernel/text"
)

// commands is the command line: one field for each command.
type commands struct {
	Home string `help:"The instance's directory (default: $$ORG_AGENT_HOME, else ~/.org-agent)." placeholder:"DIR"`

	Serve    serveCommand     `cmd:"" help:"Run the kernel; prints \"org-agent: ready SOCKET\"."`
	Stop     stopCommand      `cmd:"" help:"Stop the kernel."`
	Chat     chatCommand      `cmd:"" help:"Send a message and print the reply; without TEXT, hold a conversation."`
	Session  sessionCommands  `cmd:"" help:"List, search, rename and fork conversations."`
	Compact  compactCommand   `cmd:"" help:"Summarise the beginning of a long conversation for the model, or undo that."`
	Prompt   promptCommand    `cmd:"" help:"Print what a model would be sent for a message, without sending it."`
	Memory   memoryCommands   `cmd:"" help:"Search memories and notes, and undo the agent's changes of its memory."`
	Read     readCommand      `cmd:"" help:"Read a model's text on stdin and print the proposal in it."`
	Verify   verifyCommand    `cmd:"" help:"Check a proposal on stdin with a skill and the policy."`
	Lisp     lispCommand      `cmd:"" help:"Evaluate Lisp, in a note if one is given."`
	Skill    skillCommands    `cmd:"" help:"Check and list skill notes."`
	Tangle   tangleCommand    `cmd:"" help:"Write the code blocks of notes into files, exactly as org-babel-tangle does."`
	Md2org   md2orgCommand    `cmd:"" name:"md2org" help:"Convert Markdown on stdin to Org."`
	Approve  approveCommand   `cmd:"" help:"List the actions that wait for a decision, or decide one."`
	Answer   answerCommand    `cmd:"" help:"List the questions that wait for an answer, or answer one."`
	Policy   policyCommands   `cmd:"" help:"Show what the agent may do, and which rule decides."`
	MCP      mcpCommands      `cmd:"" name:"mcp" help:"Offer the kernel's tools to another program; list the MCP servers of config.org."`
	Log      logCommand       `cmd:"" help:"Print the log."`
	Why      whyCommand       `cmd:"" help:"Show how a turn was answered: what was asked, proposed, judged and done."`
	Event    eventCommand     `cmd:"" help:"Report an event to the skills that trigger on it."`
	Schedule scheduleCommands `cmd:"" help:"List the tasks of tasks.org, print when one is due, and have one done now."`
	Inbox    inboxCommand     `cmd:"" help:"Print the conversations on channels, and what is kept for you: results that could be told nowhere else, and failures."`
	Channel  channelCommands  `cmd:"" help:"Let people talk to the agent by Telegram and other chats, and say who may."`
	Usage    usageCommand     `cmd:"" help:"Print the models' usage as an Org table."`
	Models   modelsCommands   `cmd:"" help:"List the models, test what one does in each dialect, and write the best one down."`
	Export   exportCommand    `cmd:"" help:"Pack the home and the journal into one file."`
	Import   importCommand    `cmd:"" help:"Unpack an exported file into a home."`
	Doctor   doctorCommand    `cmd:"" help:"Look for faults, and repair what can be repaired."`
	Status   statusCommand    `cmd:"" help:"Describe the running kernel."`
	Version  versionCommand   `cmd:"" help:"Print the version."`
}

// process holds the standard streams, the environment and the home with which a command runs.
type process struct {
	stdin  io.Reader
	stdout *output
	stderr io.Writer
	env    func(string) string
	home   string
}

// output is standard output. It records the first write error, which run returns at the end. Commands
// therefore need not check the errors of their prints.
type output struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// screen is a terminal, which obeys some characters. What models and strangers wrote is printed there, so it
// gets what [text.Shown] leaves and no CR, with which a line would be written over. A program that reads the
// output gets it as it is.
type screen struct{ to io.Writer }

func (s screen) Write(p []byte) (int, error) {
	_, err := io.WriteString(s.to, strings.ReplaceAll(text.Shown(string(p)), "\r", ""))
	return len(p), err
}

// onScreen returns a writer for a stream, which is a [screen] if it is a terminal.
func onScreen(stream io.Writer) io.Writer {
	if terminal(stream) {
		return screen{stream}
	}
	return stream
}

func (o *output) Write(p []byte) (int, error) {
	n, err := onScreen(o.to).Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = fmt.Errorf("print the result: %w", err)
		}
	}
	return n, err
}

// writeError returns the first write error, or nil.
func (o *output) writeError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// instance returns the instance whose files are at these paths.
func (proc *process) instance(paths config.Paths) instance.Instance {
	return instance.Instance{Paths: paths, Env: proc.env}
}

// paths returns the paths of the instance's files.
func (proc *process) paths() (config.Paths, error) {
	return config.FindPaths(proc.home, proc.env)
}

// exit is an error with an exit status. If its cause is nil, nothing is printed.
type exit struct {
	code  int
	cause error
}

func (e exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e exit) Unwrap() error { return e.cause }

// usagef returns the error for a command line that makes no sense.
func usagef(format string, args ...any) error {
	return exit{2, fmt.Errorf(format, args...)}
}

// exitStatus prints an error for a person and returns the exit status for it.
func exitStatus(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var e exit
	if !errors.As(err, &e) {
		e = exit{1, err}
	}
	if e.cause != nil {
		fmt.Fprintf(onScreen(stderr), "org-agent: %s\n", strings.TrimRight(err.Error(), "\n"))
	}
	return e.code
}

// run parses args, runs the command and returns its error, which [exitStatus] turns into an exit status.
// It does not use the streams and the environment of the process, so tests can call it.
func run(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer, env func(string) string) error {
	var line commands
	exitCode := -1 // set by kong when it would exit, after --help
	parser, err := kong.New(&line, kong.Name("org-agent"), kong.Description("An agent that lives in Emacs."),
		kong.Writers(out, stderr), kong.Exit(func(code int) { exitCode = code }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		return fmt.Errorf("describe the command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if exitCode >= 0 {
		return nil
	}
	if err != nil {
		return usagef("%w; \"org-agent --help\" lists the commands", err)
	}
	proc := &process{stdin: in, stdout: &output{to: out}, stderr: onScreen(stderr), env: env, home: line.Home}
	if proc.home != "" {
		if proc.home, err = filepath.Abs(proc.home); err != nil {
			return fmt.Errorf("find the home: %w", err)
		}
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(proc); err != nil {
		return err
	}
	return proc.stdout.writeError()
}
