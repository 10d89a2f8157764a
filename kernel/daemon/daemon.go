// Package daemon wires the rooms of the kernel together, starts them in order
// and stops them in the reverse order. What is built in stands here in explicit
// lists; nothing registers itself.
//
// [Run] blocks until the kernel ends: by its context, by a client's shutdown or
// by lingering without use. When it returns, every goroutine of the kernel has
// ended, what was running is journalled as it was, and the socket is gone.
package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/google/uuid"
	"gopkg.in/natefinch/lumberjack.v2"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/channel"
	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/describe"
	"org-agent/kernel/hook"
	"org-agent/kernel/instance"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/logfile"
	"org-agent/kernel/mcp"
	"org-agent/kernel/memory"
	"org-agent/kernel/notekind"
	"org-agent/kernel/persona"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/service"
	"org-agent/kernel/session"
	"org-agent/kernel/settings"
	"org-agent/kernel/tool"
)

// Config is how a kernel is started. Env and Ready are required.
type Config struct {
	Home    string // "" for the default
	Env     func(string) string
	Version string
	// Linger ends the kernel when nobody was connected and nothing ran for so
	// long; 0 keeps it.
	Linger time.Duration
	Socket string // "" for the run directory
	Listen string // HOST:PORT beside the socket, or ""
	// WithoutSafety leaves the rules of safety out of every prompt. It is journalled, and told
	// by status and the doctor. What the kernel allows is the same.
	WithoutSafety bool
	// Commands: the tools that run commands are there. For each this program is started once
	// more, and so calls sandbox.Main before anything else.
	Commands bool
	// Addresses says what is against fetching a page from an address; nil for [fetch.Public].
	Addresses func(netip.Addr) error
	// EmacsPatience is how long an Emacs has to answer what a tool asks it, and ReconcilePatience how long
	// one has to come back whose connection was lost amid an act. 0 for what package clients has.
	EmacsPatience, ReconcilePatience time.Duration
	// Now is the clock that messages, days and what is kept go by. Default time.Now.
	Now func() time.Time
	// Kinds are kinds of actions beside those that are built in; nil for none.
	Kinds func(act.Deps) []kind.Kind
	// Sensors and Channels are those beside the built-in ones, and MayTalk says who may talk to
	// the agent on channels; nil for nobody.
	Sensors  []sensor.Sensor
	Channels []channel.Driver
	MayTalk  func(channel.Message) bool
	// Ready is called once, when clients can connect.
	Ready func(socket string)
}

// start is what a kernel was started with: how, where and when.
type start struct {
	config Config
	paths  config.Paths
	home   instance.Instance
	began  time.Time
}

// daemon is a running kernel.
type daemon struct {
	start
	log  *slog.Logger
	stop context.CancelFunc

	journal   *journal.Journal
	settings  *settings.Live
	faults    *service.Faults
	persona   *persona.Persona
	models    *route.Router
	memory    memories
	skills    noteSkills
	tools     *tool.Registry
	servers   *mcp.Servers // whose tools are there beside ours
	commands  *instance.Commands
	kinds     *kind.Set // without those of notes
	policy    *policy.Policy
	sessions  *session.Sessions
	agent     *agent.Agent
	subagents *subagent.Pool // nil: no work is handed on
	clients   clients.Clients
	channels  channel.Drivers
}

// Run runs a kernel until it ends. An error says why it could not start, or
// what failed while it stopped.
func Run(ctx context.Context, c Config) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{start: start{config: c, began: time.Now()}, stop: stop}
	if c.Now == nil {
		d.config.Now = time.Now
	}
	d.clients.ReconcilePatience = c.ReconcilePatience
	if d.paths, err = prepare(c); err != nil {
		return err
	}
	d.home = instance.Instance{Paths: d.paths, Env: c.Env}
	lock, err := config.LockInstance(d.paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	chosen, err := config.Load(d.paths)
	if err != nil {
		return err
	}
	d.settings = settings.NewLive(d.paths, chosen)
	log, book, closeLog := openLog(d.paths, chosen.LogLevel)
	defer closeLog()
	d.log, d.faults = log, &service.Faults{Logger: log, Notify: d.clients.NotifyAll}
	if d.journal, err = journal.Open(ctx, d.paths.Journal); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.journal.Close()) }()
	closeIndex, err := d.openMemory(ctx, chosen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	d.commands = &instance.Commands{}
	if d.config.Commands {
		d.commands = d.home.OpenCommands(ctx, chosen.Programs, d.log, d.warnOfCommand)
	}
	defer d.commands.Close()
	if err := d.wire(ctx, chosen); err != nil {
		return err
	}
	defer d.sessions.Close()
	return d.serve(ctx, book)
}

// prepare finds the instance's directories and makes those that are missing.
func prepare(c Config) (config.Paths, error) {
	paths, err := config.FindPaths(c.Home, c.Env)
	if err != nil {
		return paths, err
	}
	if c.Socket != "" {
		paths.Socket = c.Socket
	}
	return paths, paths.Ensure()
}

// wire makes the packages' values in order and gives each what it needs.
func (d *daemon) wire(ctx context.Context, settings config.Settings) (err error) {
	if d.models, err = d.openModels(ctx, settings); err != nil {
		return err
	}
	home := &memory.Home{Directory: d.paths.Home}
	d.openSkills(settings, home)
	if d.persona, err = persona.New(persona.Config{Home: home, Clock: d.config.Now, Faults: d.faults.Tell, Logger: d.log}); err != nil {
		return err
	}
	if err := d.openTools(settings); err != nil {
		return err
	}
	d.openChannels()
	talk := &conversations{}
	d.kinds = d.kindsOf(talk)
	for _, s := range d.skills.Notes.Load(ctx) { // there are tools and kinds of actions by now, which notes are about
		s.Log(d.log)
	}
	d.skills.Prompts.Load(ctx)
	d.policy = &policy.Policy{Home: d.paths.Home, State: d.paths.State, Approvals: d.journal.Asks, Tools: d.tools, Rules: d.home.Rules(), Kinds: d.kinds}
	listening := d.home.Hooks(d.skills.Notes.Current)
	listening.Logger, listening.Kind = d.log, d.commands.Kind
	hooks := hook.New(listening)
	d.policy.Hooks = hooks
	d.subagents = d.openSubagents(settings, talk)
	d.agent = agent.New(agent.Config{
		Sources: composer.Sources{
			Skills: d.skills.Notes, Library: d.persona.Library, DisplayPath: shown, Runtime: [][2]string{{"org-agent", d.config.Version}, {"os", runtime.GOOS + "/" + runtime.GOARCH}},
			Sandbox: func() string { return string(d.commands.Kind()) }, Emacs: d.clients.EmacsVersion, WithoutSafety: d.config.WithoutSafety, Tools: d.tools, Prompts: d.skills.Prompts, Dialect: d.models.Dialect(), Logger: d.log,
		},
		Persona: d.persona.With, Provider: d.models, Policy: d.policy, Journal: turnJournal(d.journal), NewID: newID, Now: d.persona.Now, Model: d.models.Model(), Images: d.models.Images,
		HistoryTurns: settings.HistoryTurns, Window: d.models.Window,
		Compacted: func(_ context.Context, summary protocol.SessionCompacted) {
			d.sessions.Notify(summary.Session, protocol.MethodSessionCompacted, summary)
		},
		Grammar: d.models.TakesGrammar, Index: d.memory.index, SummaryModel: settings.SummaryModel,
		Subagents: d.subagents, CheckModel: d.models.Check,
		Hooks: hooks, Kinds: notekind.Live(d.kinds, d.skills.Notes),
	})
	j := d.journal
	d.sessions = session.New(session.Config{
		Journal: session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search},
		Runner:  d.agent, Directory: d.paths.Sessions, NewID: newID, Now: d.persona.Now, Logger: d.log, NotifyOthers: d.clients.NotifyOthers,
		OnTurnEnd:    func(turn journal.Turn) { d.subagents.TurnEnded(context.Background(), turn) }, // also while the kernel stops
		InsertionAct: act.Insertion, SendToOrigin: d.channels.Send,
	})
	talk.Sessions = d.sessions
	return nil
}

// turnJournal is what the answering of turns reads of the journal and writes into it.
func turnJournal(j *journal.Journal) agent.Journal {
	return agent.Journal{
		Records: j.Records, Turns: j.Turns, Acts: j.Acts, Asks: j.Asks, Models: j.Sessions, Transcripts: j.Transcripts, Subagents: j.Subagents, Usage: j.Usage,
	}
}

// newID is a fresh id, as Org makes them.
func newID() string { return uuid.NewString() }

// shown is a path as a person would write it.
func shown(path string) string {
	user, _ := os.UserHomeDir() // without one it is shown whole
	return describe.Deps{User: user}.Short(path)
}

// openLog directs the log to the instance's file, a JSON record a line. The last few files are kept.
func openLog(paths config.Paths, level slog.Level) (log *slog.Logger, book *logfile.Writer, closeLog func()) {
	file := &lumberjack.Logger{Filename: paths.Log, MaxSize: 10, MaxBackups: 4} // megabytes and files
	book = logfile.NewWriter(paths.Log, file)
	return slog.New(logfile.Handler(book, level)), book, func() { _ = file.Close() }
}

// warnOfCommand tells people what a command made that other programs obey. Where nobody is there,
// whoever comes next is told.
func (d *daemon) warnOfCommand(directory, text string) {
	if d.clients.Count() == 0 {
		d.faults.Tell("a command's directory: "+directory, []string{text})
		return
	}
	d.clients.NotifyAll(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
}
