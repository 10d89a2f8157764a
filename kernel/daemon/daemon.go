// Package daemon connects the packages of the kernel. It starts them in order and stops them in the
// reverse order. It lists explicitly what is built in; no package registers itself.
//
// [Run] blocks until its context ends, a client requests a shutdown, or the kernel was unused for long
// enough. When it returns, all goroutines of the kernel have ended, the state of running turns is in the
// journal, and the socket is removed.
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
	"org-agent/kernel/contacts"
	"org-agent/kernel/describe"
	"org-agent/kernel/hook"
	"org-agent/kernel/instance"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/logfile"
	"org-agent/kernel/mcp"
	"org-agent/kernel/memory"
	"org-agent/kernel/notekind"
	"org-agent/kernel/persona"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/sensor/heartbeat"
	"org-agent/kernel/sensor/tasks"
	"org-agent/kernel/service"
	"org-agent/kernel/session"
	"org-agent/kernel/settings"
	"org-agent/kernel/tool"
	"org-agent/kernel/watch"
)

// Config configures a kernel. Env and Ready are required.
type Config struct {
	Home    string // "" for the default
	Env     func(string) string
	Version string
	// Linger ends the kernel when no client was connected and nothing ran for that long. 0 disables this.
	Linger time.Duration
	Socket string // "" for the run directory
	Listen string // HOST:PORT in addition to the socket, or ""
	// WithoutSafety omits the rules of safety from every prompt. It is journalled, and reported by status
	// and the doctor. The policy stays the same.
	WithoutSafety bool
	// Commands offers the tools that run commands. Each command starts this program again, so its main
	// function must call sandbox.Main before anything else.
	Commands bool
	// Addresses returns an error for an address from which no page may be fetched. nil means
	// [fetch.Public].
	Addresses func(netip.Addr) error
	// EmacsTimeout is how long an Emacs may take to answer a tool. ReconcileTimeout is how long an Emacs
	// may take to reconnect after its connection was lost during an act. 0 means the default of package
	// clients.
	EmacsTimeout, ReconcileTimeout time.Duration
	// Now is the clock for messages, days and the memory. Default time.Now.
	Now func() time.Time
	// Kinds returns further kinds of actions. nil means none.
	Kinds func(act.Deps) []kind.Kind
	// Drivers are the protocols of model servers, at least one. The first is for servers whose protocol config.org does
	// not name.
	Drivers llm.Drivers
	// Sensors and Channels are added to the built-in ones, and to those of the settings. channels.org says who may talk.
	Sensors  []sensor.Sensor
	Channels []channel.Driver
	// Ready is called once, when clients can connect.
	Ready func(socket string)
	// Progress is called while the start takes long, from time to time, with a text for a person. May be nil.
	Progress func(text string)
}

// start holds how, where and when a kernel was started.
type start struct {
	config  Config
	paths   config.Paths
	home    instance.Instance
	started time.Time
}

// daemon is a running kernel.
type daemon struct {
	start
	log       *slog.Logger
	reopenLog func()
	level     slog.LevelVar
	stop      context.CancelFunc

	journal   *journal.Journal
	settings  *settings.Live
	faults    *service.Faults
	persona   *persona.Persona
	models    *route.Router
	memory    memoryDeps
	skills    noteSkills
	tools     *tool.Registry
	servers   *mcp.Servers // their tools are offered beside the built-in ones
	commands  *instance.Commands
	kinds     *kind.Set // without the kinds that notes define
	policy    *policy.Policy
	sessions  *session.Sessions
	agent     *agent.Agent
	subagents *subagent.Pool
	clients   clients.Clients
	channels  *channels
	access    channelAccess
	contacts  *contacts.Book
	tasks     *tasks.Sensor
	tags      *tasks.Tags // of tasks, which are held in what models write
	heartbeat *heartbeat.Sensor
	speech    service.Speech
	loaded    config.Settings // that the kernel started with
	// watcher is shared by all who follow files: a person's programs may watch few times.
	watcher *watch.Watcher
	ended   error // why the kernel ended by itself
	// configuration makes changes of config.org count.
	configuration *service.Configuration
}

// Run runs a kernel until it ends. It returns an error if the kernel could not start, or if something
// failed while it stopped.
func Run(ctx context.Context, c Config) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{start: start{config: c, started: time.Now()}, stop: stop, watcher: &watch.Watcher{}}
	if c.Now == nil {
		d.config.Now = time.Now
	}
	d.clients.ReconcileTimeout = c.ReconcileTimeout
	if d.paths, err = prepare(c); err != nil {
		return err
	}
	d.home = instance.Instance{Paths: d.paths, Env: c.Env}
	lock, err := config.LockInstance(d.paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	loaded, err := config.Load(d.paths)
	if err != nil {
		return err
	}
	d.settings, d.loaded = settings.NewLive(d.paths, loaded), loaded
	d.level.Set(loaded.LogLevel)
	log, logFile, closeLog := openLog(d.paths, &d.level)
	defer closeLog()
	d.reopenLog = closeLog // the next line opens it
	d.log, d.faults = log, &service.Faults{Logger: log, Notify: d.clients.NotifyAll, Clients: d.clients.Count}
	opened, incidents, err := journal.Start(ctx, d.paths.Journal, d.paths.Sessions, d.config.Progress)
	if err != nil {
		return err
	}
	d.journal = opened
	defer func() { err = errors.Join(err, d.journal.Close()) }()
	if d.tags, err = tasks.OpenTags(ctx, d.journal.Leases, func() string { return d.settings.Last().TaskTag }); err != nil {
		return err
	}
	var happened []string
	for _, i := range incidents {
		happened = append(happened, i.Text)
	}
	d.faults.Report("journal", happened)
	closeIndex, err := d.openMemory(ctx, loaded)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	d.commands = &instance.Commands{}
	if d.config.Commands {
		d.commands = d.home.OpenCommands(ctx, func() []string { return d.settings.Last().Programs }, d.log, func(directory, text string) {
			d.faults.Warn("a command's directory: "+directory, text)
		}, d.home.Pages(d.settings.Last, d.config.Addresses, d.judgeRedirect).Dial)
	}
	defer d.commands.Close()
	if err := d.wire(ctx, loaded); err != nil {
		return err
	}
	defer d.sessions.Close()
	return d.serve(ctx, logFile)
}

// prepare returns the paths of the instance, and makes the directories that are missing.
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

// wire makes the parts of the kernel in the order of their dependencies.
func (d *daemon) wire(ctx context.Context, settings config.Settings) (err error) {
	if d.models, err = d.openModels(ctx, settings); err != nil {
		return err
	}
	home := &memory.Home{Directory: d.paths.Home}
	d.openSkills(home)
	if d.persona, err = persona.New(persona.Config{Watcher: d.watcher, Home: home, Clock: d.config.Now, Faults: d.faults.Report, Logger: d.log}); err != nil {
		return err
	}
	conversations := &lateSessions{}
	d.contacts = d.openContacts()
	d.access = d.openAccess()
	d.openChannels(settings, conversations)
	if err := d.openTools(settings, conversations); err != nil {
		return err
	}
	d.tasks, d.heartbeat = d.openTasks(conversations), d.openHeartbeat(conversations, home)
	d.kinds = d.openKinds(conversations)
	for _, s := range d.skills.Notes.Load(ctx) { // after the tools and the kinds of actions, which notes refer to
		s.Log(d.log)
	}
	d.skills.Prompts.Load(ctx)
	d.policy = &policy.Policy{Home: d.paths.Home, State: d.paths.State, Approvals: d.journal.Asks, Tools: d.tools, Rules: d.home.Rules(), Kinds: d.kinds}
	hookConfig := d.home.Hooks(d.skills.Notes.Current)
	hookConfig.Logger, hookConfig.Kind = d.log, d.commands.Kind
	hooks := hook.New(hookConfig)
	d.policy.Hooks = hooks
	d.subagents = d.openSubagents(settings, conversations)
	d.agent = agent.New(agent.Config{
		Sources: composer.Sources{
			Skills: d.skills.Notes, Library: d.persona.Library, DisplayPath: displayPath, Runtime: [][2]string{{"org-agent", d.config.Version}, {"os", runtime.GOOS + "/" + runtime.GOARCH}},
			Sandbox: func() string { return string(d.commands.Kind()) }, Emacs: d.clients.EmacsVersion, WithoutSafety: d.config.WithoutSafety, Tools: d.tools, Prompts: d.skills.Prompts, Dialect: d.models.Dialect(), Logger: d.log,
		},
		Persona: d.persona.With, Provider: d.models, Policy: d.policy, Journal: turnJournal(d.journal), NewID: newID, Now: d.persona.Now, Model: d.models.Model, Images: d.models.Images,
		HistoryTurns: func() int { return d.settings.Last().HistoryTurns }, Window: d.models.Window, ServedWindow: d.models.ServedWindow,
		Compacted: func(_ context.Context, summary protocol.SessionCompacted) {
			d.sessions.Notify(summary.Session, protocol.MethodSessionCompacted, summary)
		},
		Grammar: d.models.TakesGrammar, Index: d.memory.index, SummaryModel: func() string { return d.settings.Last().SummaryModel },
		Subagents: d.subagents, CheckModel: d.models.Check,
		Hooks: hooks, Kinds: notekind.Live(d.kinds, d.skills.Notes),
	})
	j := d.journal
	d.sessions = session.New(session.Config{
		Journal: session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search},
		Runner:  d.agent, Directory: d.paths.Sessions, NewID: newID, Now: d.persona.Now, Logger: d.log, Report: d.faults.Report, NotifyOthers: d.clients.NotifyOthers,
		HeldTags:     d.tags.Held,
		OnAsk:        d.channels.letters.Wake,
		OnTurnEnd:    d.turnEnded(conversations),
		OnSessionEnd: d.agent.SessionEnded,
		InsertionAct: act.Insertion, Origins: origins{d.channels.post, d.channels.stream},
	})
	conversations.Sessions = d.sessions
	return nil
}

// turnJournal returns the parts of the journal that the agent uses.
func turnJournal(j *journal.Journal) agent.Journal {
	return agent.Journal{
		Records: j.Records, Turns: j.Turns, Acts: j.Acts, Asks: j.Asks, Models: j.Sessions, Transcripts: j.Transcripts, Subagents: j.Subagents, Usage: j.Usage,
	}
}

// newID returns a new id in the form of Org's ids.
func newID() string { return uuid.NewString() }

// displayPath returns a path as a person would write it.
func displayPath(path string) string {
	user, _ := os.UserHomeDir() // without a home directory the path is not shortened
	return describe.Deps{User: user}.Short(path)
}

// openLog opens the log in the instance's file, which has one JSON record per line. It keeps the last
// few files.
func openLog(paths config.Paths, level slog.Leveler) (log *slog.Logger, writer *logfile.Writer, closeLog func()) {
	file := &lumberjack.Logger{Filename: paths.Log, MaxSize: 10, MaxBackups: 4} // megabytes and files
	writer = logfile.NewWriter(paths.Log, file)
	return slog.New(logfile.Handler(writer, level)), writer, func() { _ = file.Close() }
}
