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
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/chewxy/sexp"
	"github.com/google/uuid"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/logbook"
	"org-agent/kernel/policy"
	"org-agent/kernel/promptskill"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
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
	// Ready is called once, when clients can connect.
	Ready func(socket string)
}

// daemon is a running kernel.
type daemon struct {
	config  Config
	paths   config.Paths
	log     *slog.Logger
	book    *logbook.Book // what log writes to
	pid     int
	started time.Time
	socket  string
	model   string
	notice  string
	images  func(llm.Request) (llm.Request, error) // of the provider that is asked first
	stop    context.CancelFunc

	journal  *journal.Journal
	skills   *skill.Registry
	prompts  *promptskill.Registry
	grants   *skill.Grants
	tools    *tool.Registry
	policy   *policy.Policy
	sessions *session.Sessions
	agent    *agent.Agent
	models   models
	editors  editors
	consent  consent
	health   health
	table    map[string]method
}

// Run runs a kernel until it ends. An error says why it could not start, or
// what failed while it stopped.
func Run(ctx context.Context, c Config) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{config: c, pid: os.Getpid(), started: time.Now(), stop: stop}
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
	d.consent.path = filepath.Join(d.paths.State, "consent")
	provider, err := d.provider(ctx, settings)
	if err != nil {
		return err
	}
	d.grants = Grants(d.paths, settings, d.config.Env)
	d.skills = skill.New(skill.Config{
		Shipped: skills.Notes(), Home: d.paths.Skills, Keep: filepath.Join(d.paths.State, "notes"), Logger: d.log, Grants: d.grants,
		Recorded: d.recorded, Changed: d.skillsChanged,
		Log:    func(name, text string) { d.log.Info("skill log", "skill", name, "text", d.agent.Hide(text)) },
		Inject: func(event sexp.List) { d.log.Warn("an injected event has no sensor to go through", "event", event) },
	})
	d.prompts = d.promptSkills()
	for _, s := range d.skills.Load(ctx) {
		d.logStatus(s)
	}
	d.prompts.Load(ctx)
	tools, err := tool.BuiltIn(tool.World{Skills: d.prompts.Current})
	if err != nil {
		return err
	}
	d.tools = tools
	d.policy = &policy.Policy{Home: d.paths.Home, State: d.paths.State, Approvals: d.journal, Tools: tools}
	talk := &conversations{}
	d.agent = agent.New(agent.Config{
		Skills: d.skills, Provider: provider, Policy: d.policy, Journal: d.journal, Logger: d.log, NewID: newID, Model: d.model, Images: d.images,
		HistoryTurns: settings.HistoryTurns, Tools: tools, Prompts: d.prompts,
		Actuators: act.NewRegistry(
			act.Response(talk),
			act.Insertion(talk),
			act.Emacs(&d.editors),
			act.Tool(tools),
			act.Log(d.log),
		),
	})
	d.sessions = session.New(session.Config{
		Journal: d.journal, Runner: d.agent, Directory: d.paths.Sessions, NewID: newID, Logger: d.log,
	})
	talk.sessions = d.sessions
	d.table = d.methods()
	return nil
}

// newID is a fresh id, as Org makes them.
func newID() string { return uuid.NewString() }

// serve listens, takes up what the last kernel left, and runs until ctx ends.
func (d *daemon) serve(ctx context.Context) error {
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
	if err := d.sessions.Resume(ctx); err != nil {
		return err
	}
	server := &rpc.Server{
		Handler: d, Presence: d, Token: rpc.Token(token), Version: d.config.Version, Logger: d.log,
		Info: func() protocol.ServerInfo {
			return protocol.ServerInfo{Home: d.paths.Home, Model: d.model, Notice: d.notice, Consent: d.consent.needed()}
		},
	}
	var work sync.WaitGroup
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		work.Go(func() { failed <- server.Serve(ctx, l) })
	}
	work.Go(func() {
		if err := d.skills.Watch(ctx); err != nil {
			d.log.Warn("notes are not watched: changes count after a restart", "err", err)
		}
	})
	work.Go(func() {
		if err := d.prompts.Watch(ctx); err != nil {
			d.log.Warn("skills are not watched: changes count after they are reloaded", "err", err)
		}
	})
	work.Go(func() { d.book.Deliver(ctx) })
	work.Go(func() { d.linger(ctx) })
	d.log.Info("kernel ready", "socket", d.socket, "version", d.config.Version, "dur", time.Since(d.started))
	d.config.Ready(d.socket)
	err = <-failed
	d.stop()
	work.Wait() // no handler runs any more
	d.sessions.Close()
	d.log.Info("kernel stopped")
	return err
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

// Connected implements [rpc.Presence].
func (d *daemon) Connected(client *rpc.Client) { d.editors.add(client) }

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
			if d.editors.count() > 0 || running+queued > 0 {
				idle = now
			} else if now.Sub(idle) >= d.config.Linger {
				d.log.Info("ending: nobody was here", "dur", d.config.Linger)
				d.stop()
				return
			}
		}
	}
}
