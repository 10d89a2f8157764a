// Package daemon wires the rooms of the kernel together, starts them in order
// and stops them in the reverse order. What is built in stands here in explicit
// lists; nothing registers itself.
//
// [Run] blocks until the kernel ends: by its context, by a client's shutdown or
// by lingering without use. When it returns, every goroutine of the kernel has
// ended, what was running is journalled as it was, and the socket is gone.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chewxy/sexp"
	"github.com/google/uuid"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/logfile"
	"org-agent/kernel/mcp"
	"org-agent/kernel/memory"
	"org-agent/kernel/policy"
	"org-agent/kernel/process"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/skills"
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
	// EmacsPatience is how long an Emacs has to answer what a tool asks it. Default 8 s.
	EmacsPatience time.Duration
	// Now is the clock that messages, days and what is kept go by. Default time.Now.
	Now func() time.Time
	// Kinds are kinds of actions beside those that are built in; nil for none.
	Kinds func(act.Deps) []kind.Kind
	// Ready is called once, when clients can connect.
	Ready func(socket string)
}

// daemon is a running kernel.
type daemon struct {
	config  Config
	paths   config.Paths
	log     *slog.Logger
	book    *logfile.Book // what log writes to
	pid     int
	started time.Time
	socket  string
	stop    context.CancelFunc

	journal      *journal.Journal
	skills       *skill.Registry
	prompts      *skillmd.Registry
	home         *memory.Home
	library      atomic.Pointer[prompt.Library]
	place        atomic.Pointer[time.Location] // where the person is, if they say so
	faults       faults
	grants       *skill.Grants
	tools        *tool.Registry
	servers      *mcp.Servers   // whose tools are there beside ours
	commands     *process.Table // nil: none are run
	fence        func() (sandbox.Kind, error)
	kept         *memory.Store
	index        *memory.Index
	indexed      chan struct{} // closed when the index has been what the files are
	merging      chan struct{} // holds a value when something was put into the index
	embedding    chan struct{} // the same, for what has no vector
	leaving      chan string   // sessions that somebody left
	proposeAfter config.Delay
	kinds        *kind.Set
	policy       *policy.Policy
	sessions     *session.Sessions
	agent        *agent.Agent
	subagents    *subagent.Pool // nil: no work is handed on
	models       *route.Router
	editors      editors
	pending      completions
	hears        speechServer
	speaks       speechServer
	settings     atomic.Pointer[config.Settings] // as config.org was read last
	table        map[string]method
}

// Run runs a kernel until it ends. An error says why it could not start, or
// what failed while it stopped.
func Run(ctx context.Context, c Config) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{config: c, pid: os.Getpid(), started: time.Now(), stop: stop}
	if c.Now == nil {
		d.config.Now = time.Now
	}
	d.config.EmacsPatience = cmp.Or(c.EmacsPatience, emacsPatience)
	if d.paths, err = prepare(c); err != nil {
		return err
	}
	lock, err := config.LockInstance(d.paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	settings, err := config.Load(d.paths)
	if err != nil {
		return err
	}
	closeLog := d.openLog(settings)
	defer closeLog()
	if d.journal, err = journal.Open(ctx, d.paths.Journal); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.journal.Close()) }()
	closeIndex, err := d.openMemory(ctx, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	d.openCommands(ctx, settings.Programs)
	defer d.closeCommands()
	if err := d.wire(ctx, settings); err != nil {
		return err
	}
	defer d.sessions.Close()
	return d.serve(ctx)
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

// wire makes the rooms and gives each what it needs.
func (d *daemon) wire(ctx context.Context, settings config.Settings) error {
	d.settings.Store(&settings)
	err := d.openModels(ctx, settings)
	if err != nil {
		return err
	}
	d.hears, d.speaks = d.speechServer("Transcription", settings.Transcription), d.speechServer("Voice", settings.Voice)
	d.grants = Grants(d.paths, settings, d.config.Env)
	d.home = &memory.Home{Directory: d.paths.Home}
	d.skills = skill.New(skill.Config{
		Shipped: skills.Notes(), Home: d.paths.Skills, Keep: filepath.Join(d.paths.State, "notes"), Logger: d.log, Grants: d.grants,
		Proven: filepath.Join(d.paths.State, "proven.json"), Program: program(d.config.Version),
		Recorded: d.recorded, Changed: d.skillsChanged, Persona: Persona(d.home),
		Log:    func(name, text string) { d.log.Info("skill log", "skill", name, "text", d.agent.Hide(text)) },
		Inject: func(event sexp.List) { d.log.Warn("an injected event has no sensor to go through", "event", event) },
	})
	d.prompts = d.promptSkills()
	if err := d.loadLibrary(); err != nil {
		return err
	}
	d.persona() // which says where the person is
	d.lookAtProfiles()
	for _, s := range d.skills.Load(ctx) {
		d.logStatus(s)
	}
	d.prompts.Load(ctx)
	var tools *tool.Registry
	d.servers = d.mcpServers(settings, func() []string { return tools.Names() })
	tools, err = tool.BuiltIn(tool.World{Kept: d.servers.Result, Skills: d.prompts.Current, Memory: tool.Memory{Store: d.kept, Index: d.index}, Past: d.past(),
		Pages: Pages(settings, d.config.Env, d.config.Addresses, d.redirected), Search: SearchServer(settings.Search, d.config.Env),
		Subagents: settings.SubagentsAtOnce() > 0, Commands: d.commands, Files: d.files(), Notes: d.notes(settings)})
	if err != nil {
		return err
	}
	d.tools, d.proposeAfter = tools.WithForeign(d.servers.Tools), settings.ProposeAfter
	d.warnOfHooks(d.skills.Statuses())
	talk := &conversations{}
	d.kinds = d.kindsOf(talk)
	d.policy = &policy.Policy{Home: d.paths.Home, State: d.paths.State, Approvals: d.journal, Tools: d.tools, Rules: Rules(d.paths), Kinds: d.kinds}
	hooks := d.hooks()
	d.policy.Hooks = hooks
	d.subagents = d.openSubagents(settings, talk)
	d.agent = agent.New(agent.Config{
		Sources: composer.Sources{
			Skills: d.skills, Library: d.library.Load, Persona: d.personaWith, Shown: d.shown, Runtime: d.runtime(), Sandbox: func() string { kind, _ := d.fence(); return string(kind) },
			Emacs: d.editors.Version, WithoutSafety: d.config.WithoutSafety, Tools: d.tools, Prompts: d.prompts, Logger: d.log,
		},
		Provider: d.models, Policy: d.policy, Journal: d.journal, NewID: newID, Now: d.now, Model: d.models.Model(), Images: d.models.Images,
		HistoryTurns: settings.HistoryTurns, Window: d.models.Window, Compacted: d.compacted,
		Grammar: d.models.TakesGrammar, Index: d.index, Memory: d.kept, SummaryModel: settings.SummaryModel, MemoryModel: settings.MemoryModel,
		Subagents: d.subagents, CheckModel: d.models.Check,
		Hooks: hooks, Kinds: d.kinds,
	})
	d.sessions = session.New(session.Config{
		Journal: d.journal, Runner: d.agent, Directory: d.paths.Sessions, NewID: newID, Now: d.now, Logger: d.log, Everyone: d.editors.others, Ended: d.turnEnded,
	})
	talk.sessions = d.sessions
	d.table = d.methods()
	return nil
}

// newID is a fresh id, as Org makes them.
func newID() string { return uuid.NewString() }

// serve listens, takes up what the last kernel left, and runs until ctx ends.
func (d *daemon) serve(ctx context.Context) error {
	if err := d.audit(ctx); err != nil {
		return err
	}
	token, err := config.LoadOrCreateToken(d.paths.Token)
	if err != nil {
		return err
	}
	listeners, err := d.listen()
	if err != nil {
		return err
	}
	d.socket = d.paths.Socket
	info := config.KernelInfo{PID: d.pid, Socket: d.socket, Version: d.config.Version, Home: d.paths.Home, Started: d.started}
	if err := config.WriteKernelInfo(d.paths.KernelJSON, info); err != nil {
		return err
	}
	defer os.Remove(d.paths.KernelJSON)
	if err := d.recoverSubagents(ctx); err != nil {
		return err
	}
	if err := d.sessions.Resume(ctx); err != nil {
		return err
	}
	server := &rpc.Server{
		Handler: d, Presence: d, Token: rpc.Token(token), Version: d.config.Version, Logger: d.log,
		Info: func() protocol.ServerInfo {
			return protocol.ServerInfo{Home: d.paths.Home, Model: d.models.Model(), Notice: d.models.Notice(), Consent: d.models.ConsentNeeded(), Hears: d.hears.host(), Speaks: d.speaks.host()}
		},
	}
	var work sync.WaitGroup
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		work.Go(func() { failed <- server.Serve(ctx, l) })
	}
	d.watch(ctx, &work)
	for _, run := range []func(context.Context){
		d.mergeIndex, d.embedNotes, d.formWhenIdle, d.book.Deliver, d.agent.Compaction().Run, d.linger, d.servers.Run, d.runSubagents,
	} {
		work.Go(func() { run(ctx) })
	}
	d.log.Info("kernel ready", "socket", d.socket, "version", d.config.Version, "dur", time.Since(d.started))
	d.config.Ready(d.socket)
	work.Go(func() { d.indexJournal(ctx) })
	work.Go(d.prepareCommands)
	work.Go(func() { d.skills.Prove(ctx) })
	err = <-failed
	d.stop()
	work.Wait() // no handler runs any more
	d.sessions.Close()
	d.log.Info("kernel stopped")
	return err
}

// watch follows the files that people write, as work that ends with ctx. What cannot be
// watched is told, and counts later.
func (d *daemon) watch(ctx context.Context, work *sync.WaitGroup) {
	started := *d.settings.Load()
	for _, files := range []struct {
		follow func(context.Context) error
		lost   string
	}{
		{d.skills.Watch, "notes are not watched: changes count after a restart"},
		{d.prompts.Watch, "skills are not watched: changes count after they are reloaded"},
		{d.followNotes, "what is kept is not watched: changes are found when it is searched"},
		{d.followPersona, "the notes of the prompt are not watched: changes count after a restart"},
		{func(ctx context.Context) error { return d.followSettings(ctx, started) }, "config.org is not watched: nobody is told when it changes"},
	} {
		work.Go(func() {
			if err := files.follow(ctx); err != nil {
				d.log.Warn(files.lost, "err", err)
			}
		})
	}
}

func (d *daemon) listen() ([]net.Listener, error) {
	unix, err := rpc.ListenUnix(d.paths.Socket)
	if errors.Is(err, rpc.ErrInUse) && d.config.Socket == "" {
		// Our home is locked, so that kernel has another one.
		d.paths.Socket = d.paths.SpareSocket()
		unix, err = rpc.ListenUnix(d.paths.Socket)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", d.paths.Socket, err)
	}
	if d.config.Listen == "" {
		return []net.Listener{unix}, nil
	}
	tcp, err := rpc.ListenTCP(d.config.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", d.config.Listen, err), unix.Close())
	}
	return []net.Listener{unix, tcp}, nil
}

// Connected implements [rpc.Presence]. A client that shows notices is told what others were told before it came.
func (d *daemon) Connected(client *rpc.Client) {
	d.editors.add(client)
	if !client.Capabilities().Notices {
		return
	}
	for _, fault := range d.faults.lasting() {
		client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fault})
	}
}

// Disconnected implements [rpc.Presence].
func (d *daemon) Disconnected(client *rpc.Client) {
	d.editors.remove(client)
	d.book.Leave(client)
	d.sessions.Detach(client)
}

// linger ends the kernel after a time without clients and without work.
func (d *daemon) linger(ctx context.Context) {
	if d.config.Linger <= 0 {
		return
	}
	idle := time.Now()
	tick := time.NewTicker(max(d.config.Linger/20, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			_, running, queued := d.sessions.Counts()
			if d.editors.count() > 0 || running+queued > 0 || d.commands.Running() > 0 {
				idle = now
			} else if now.Sub(idle) >= d.config.Linger {
				d.log.Info("ending: nobody was here", "dur", d.config.Linger)
				d.stop()
				return
			}
		}
	}
}
