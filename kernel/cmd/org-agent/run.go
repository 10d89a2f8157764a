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
)

// commands is the whole command line.
type commands struct {
	Home string `help:"The instance's directory (default: $$ORG_AGENT_HOME, else ~/.org-agent)." placeholder:"DIR"`

	Serve   serveCommand    `cmd:"" help:"Run the kernel; prints \"org-agent: ready SOCKET\"."`
	Stop    stopCommand     `cmd:"" help:"Stop the kernel."`
	Chat    chatCommand     `cmd:"" help:"Send a message and print the reply; without TEXT, hold a conversation."`
	Session sessionCommands `cmd:"" help:"List, search, rename and fork conversations."`
	Compact compactCommand  `cmd:"" help:"Have the beginning of a long conversation summarised for the model, or take that back."`
	Prompt  promptCommand   `cmd:"" help:"Print what a model would be sent for a message, without sending it."`
	Memory  memoryCommands  `cmd:"" help:"Search what is kept and your notes, and take back what the agent changed."`
	Read    readCommand     `cmd:"" help:"Read a model's text on stdin and print the proposal in it."`
	Verify  verifyCommand   `cmd:"" help:"Pass a proposal on stdin through a skill and the policy."`
	Lisp    lispCommand     `cmd:"" help:"Evaluate Lisp, in a note if one is given."`
	Skill   skillCommands   `cmd:"" help:"Check and list skill notes."`
	Tangle  tangleCommand   `cmd:"" help:"Write the code blocks of notes into files, exactly as org-babel-tangle does."`
	Md2org  md2orgCommand   `cmd:"" name:"md2org" help:"Convert Markdown on stdin to Org."`
	Approve approveCommand  `cmd:"" help:"List what waits for a decision, or decide."`
	Answer  answerCommand   `cmd:"" help:"List what waits for an answer, or answer."`
	Policy  policyCommands  `cmd:"" help:"Say what the agent may do, and which rule decides."`
	MCP     mcpCommands     `cmd:"" name:"mcp" help:"Offer the kernel's tools to another program; list the MCP servers of config.org."`
	Log     logCommand      `cmd:"" help:"Print the log."`
	Why     whyCommand      `cmd:"" help:"Tell the story of a turn: what was asked, proposed, judged and done."`
	Usage   usageCommand    `cmd:"" help:"Print what the models took, as an Org table."`
	Export  exportCommand   `cmd:"" help:"Pack the home and the journal into one file."`
	Import  importCommand   `cmd:"" help:"Unpack such a file into a home."`
	Doctor  doctorCommand   `cmd:"" help:"Look for faults, and mend what can be mended."`
	Status  statusCommand   `cmd:"" help:"Say what runs."`
	Version versionCommand  `cmd:"" help:"Print the version."`
}

// world is what a command may touch.
type world struct {
	in   io.Reader
	out  *output
	err  io.Writer
	env  func(string) string
	home string
}

// output is standard output. It keeps the first failure to write, so that no command that
// prints need look for one: a result that was lost on its way is a failure of the program.
type output struct {
	to   io.Writer
	mu   sync.Mutex
	lost error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.lost == nil {
			o.lost = fmt.Errorf("print the result: %w", err)
		}
	}
	return n, err
}

// failure is why something that was printed is lost, or nil.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// paths finds the instance's files.
func (w *world) paths() (config.Paths, error) {
	return config.FindPaths(w.home, w.env)
}

// exit ends a command with a status; a nil cause prints nothing.
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

// usage is the error of a command line that makes no sense.
func usagef(format string, args ...any) error {
	return exit{2, fmt.Errorf(format, args...)}
}

// status prints an error for a person and returns the exit status it stands
// for.
func status(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var e exit
	if !errors.As(err, &e) {
		e = exit{1, err}
	}
	if e.cause != nil {
		fmt.Fprintf(stderr, "org-agent: %s\n", strings.TrimRight(err.Error(), "\n"))
	}
	return e.code
}

// run is the program without its process: it parses args, runs the command and
// returns its error, which [status] turns into an exit status.
func run(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer, env func(string) string) error {
	var line commands
	ended := -1 // kong's own exit, after --help
	parser, err := kong.New(&line, kong.Name("org-agent"), kong.Description("An agent that lives in Emacs."),
		kong.Writers(out, stderr), kong.Exit(func(code int) { ended = code }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		return fmt.Errorf("the command line's own description: %w", err)
	}
	parsed, err := parser.Parse(args)
	if ended >= 0 {
		return nil
	}
	if err != nil {
		return usagef("%w; \"org-agent --help\" lists the commands", err)
	}
	w := &world{in: in, out: &output{to: out}, err: stderr, env: env, home: line.Home}
	if w.home != "" {
		if w.home, err = filepath.Abs(w.home); err != nil {
			return fmt.Errorf("find the home: %w", err)
		}
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(w); err != nil {
		return err
	}
	return w.out.failure()
}
