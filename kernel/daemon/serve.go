package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/instance"
	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/secret"
	"org-agent/kernel/service"
	"org-agent/kernel/skill"
)

// serve listens, resumes the turns and subagents that the previous kernel left, and runs until ctx ends.
func (d *daemon) serve(ctx context.Context, logFile *logfile.Writer) error {
	if d.config.WithoutSafety { // the kernel does not start if it cannot record this
		if err := d.journal.Records.Audit(ctx, "without-safety", d.config.Version); err != nil {
			return fmt.Errorf("record that prompts omit the rules of safety: %w", err)
		}
		d.log.Warn("started without the rules of safety: no prompt contains them", "option", "without-safety")
	}
	token, err := config.LoadOrCreateToken(d.paths.Token)
	if err != nil {
		return err
	}
	fallback := ""
	if d.config.Socket == "" { // this kernel has locked its home, so a kernel that answers there has another home
		fallback = d.paths.SpareSocket()
	}
	unix, listeners, err := rpc.Listen(d.paths.Socket, fallback, d.config.Listen)
	if err != nil {
		return err
	}
	d.paths.Socket = unix.Path()
	info := config.KernelInfo{PID: os.Getpid(), Socket: d.paths.Socket, Version: d.config.Version, Home: d.paths.Home, Started: d.started}
	if err := config.WriteKernelInfo(d.paths.KernelJSON, info); err != nil {
		return err
	}
	places := d.places(info, token, unix)
	places.Remember()
	defer places.Leave()
	if err := d.subagents.Recover(ctx); err != nil {
		return err
	}
	if err := d.sessions.Resume(ctx); err != nil {
		return err
	}
	extraction := d.extraction()
	d.speech = d.openSpeech()
	resolver := d.resolver()
	intake := service.Intake{Settings: resolver, Known: d.journal.Turns, Sessions: d.sessions, Matcher: d.agent, Consent: d.models, Reactions: d.reactions(), Heartbeat: d.heartbeat, NewID: newID, Logger: d.log}
	table, err := d.methods(intake, resolver, logFile, extraction)
	if err != nil {
		return err
	}
	presence := clients.Presence{Clients: &d.clients, Faults: d.faults.Current, OnDisconnect: []func(*rpc.Client){
		func(client *rpc.Client) { logFile.Unfollow(client) },
		func(client *rpc.Client) { d.sessions.Detach(client) },
	}}
	former, err := d.journal.Rules.FormerAlways(ctx)
	if err != nil {
		return err
	}
	greeting := service.Greeting{Home: d.paths.Home, Models: d.models, Settings: d.settings.Last, Env: d.config.Env, Speech: d.speech, Token: string(token), Former: len(former), Replaced: skill.Replaced(), Unread: d.unread(ctx)}
	d.openConfiguration(greeting.Info, extraction)
	server := &rpc.Server{
		Handler: table, Presence: presence, Token: rpc.Token(token), Version: d.config.Version, Logger: d.log,
		Info: greeting.Info,
	}
	var goroutines sync.WaitGroup
	serveErrors := make(chan error, len(listeners))
	for _, l := range listeners {
		goroutines.Go(func() { serveErrors <- server.Serve(ctx, l) })
	}
	d.watch(ctx, &goroutines)
	tasks := []func(context.Context){
		func(ctx context.Context) { d.keep(ctx, places) },
		d.memory.upkeep.Run, logFile.Deliver, d.agent.Compaction().Run, d.linger, d.servers.Run, d.subagents.Run, extraction.Run}
	for _, task := range append(tasks, d.edges(intake)...) {
		goroutines.Go(func() { task(ctx) })
	}
	d.log.Info("kernel ready", "socket", d.paths.Socket, "version", d.config.Version, "dur", time.Since(d.started))
	d.config.Ready(d.paths.Socket)
	goroutines.Go(func() { d.journal.Search.KeepIndexed(ctx, d.log) })
	goroutines.Go(func() { d.journal.Archive.KeepArchived(ctx, d.loaded.RequestAge(), d.log) })
	goroutines.Go(d.commands.Prepare)
	goroutines.Go(func() { atomicfile.Sweep(time.Hour, d.paths.Written()...) })
	goroutines.Go(func() { d.skills.Notes.Prove(ctx) })
	err = <-serveErrors
	d.stop()
	goroutines.Wait() // Serve has waited for the handlers, which use the sessions
	d.sessions.Close()
	d.log.Info("kernel stopped")
	return errors.Join(err, d.ended)
}

// unread returns a function that counts the unread items of the inbox.
func (d *daemon) unread(ctx context.Context) func() int {
	return func() int {
		count, err := d.journal.Inbox.Unread(ctx)
		if err != nil {
			d.log.Warn("the unread items are not counted", "err", err)
		}
		return count
	}
}

// places returns what the kernel is found by and writes to.
func (d *daemon) places(info config.KernelInfo, token secret.Text, unix *rpc.UnixListener) *instance.Places {
	return &instance.Places{
		Paths: d.paths, Info: info, Token: token, Listener: unix, Salvage: d.journal.Salvage, Reopen: d.reopenLog, Logger: d.log,
	}
}

// keep ends the kernel when its places are gone for good, and tells everybody why.
func (d *daemon) keep(ctx context.Context, places *instance.Places) {
	if d.ended = places.Keep(ctx); d.ended != nil {
		d.log.Error("ending", "err", d.ended)
		d.clients.NotifyAll(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelError, Text: d.ended.Error()})
		d.stop()
	}
}

// watch starts goroutines that follow the files that people edit, until ctx ends. It logs a warning for
// files that cannot be watched.
func (d *daemon) watch(ctx context.Context, goroutines *sync.WaitGroup) {
	for _, files := range []struct {
		follow  func(context.Context) error
		warning string
	}{
		{d.skills.Notes.Watch, "notes are not watched: changes take effect after a restart"},
		{d.skills.Prompts.Watch, "skills are not watched: changes take effect after they are reloaded"},
		{func(ctx context.Context) error { return d.tasks.Follow(ctx, d.watcher) }, "tasks.org is not watched: changes take effect after a restart"},
		{d.persona.Follow, "the notes of the prompt are not watched: changes take effect after a restart"},
		{func(ctx context.Context) error {
			return d.settings.Follow(ctx, d.watcher, d.log, func() { d.configuration.Reload(ctx) })
		}, "config.org is not watched: changes take effect after a restart"},
	} {
		goroutines.Go(func() {
			if err := files.follow(ctx); err != nil {
				d.log.Warn(files.warning, "err", err)
			}
		})
	}
}

// lingerForTasks is how far ahead a task may be due for which a kernel that lingers stays. What comes every day has one.
const lingerForTasks = 24 * time.Hour

// linger ends the kernel after the configured time without clients, without work, and without tasks that are due soon.
func (d *daemon) linger(ctx context.Context) {
	busy := func() bool {
		return d.sessions.Busy() || d.commands.Table.Running() > 0 || d.tasks.DueWithin(lingerForTasks)
	}
	if d.config.Linger > 0 && d.clients.Linger(ctx, d.config.Linger, busy) {
		d.log.Info("ending: no client was connected", "dur", d.config.Linger)
		d.stop()
	}
}
