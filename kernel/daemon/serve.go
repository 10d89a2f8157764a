package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
)

// serve listens, takes up what the last kernel left, and runs until ctx ends.
func (d *daemon) serve(ctx context.Context, book *logfile.Writer) error {
	if d.config.WithoutSafety { // a kernel that cannot say so does not start
		if err := d.journal.Records.Audit(ctx, "without-safety", d.config.Version); err != nil {
			return fmt.Errorf("write down that the rules of safety are left out: %w", err)
		}
		d.log.Warn("started without the rules of safety: no model is told them", "option", "without-safety")
	}
	token, err := config.LoadOrCreateToken(d.paths.Token)
	if err != nil {
		return err
	}
	spare := ""
	if d.config.Socket == "" { // the home is locked, so a kernel that answers there has another one
		spare = d.paths.SpareSocket()
	}
	listeners, socket, err := rpc.Listen(d.paths.Socket, spare, d.config.Listen)
	if err != nil {
		return err
	}
	d.paths.Socket = socket
	info := config.KernelInfo{PID: os.Getpid(), Socket: d.paths.Socket, Version: d.config.Version, Home: d.paths.Home, Started: d.began}
	if err := config.WriteKernelInfo(d.paths.KernelJSON, info); err != nil {
		return err
	}
	defer os.Remove(d.paths.KernelJSON)
	if err := d.subagents.Recover(ctx); err != nil {
		return err
	}
	if err := d.sessions.Resume(ctx); err != nil {
		return err
	}
	extraction, speech := d.extraction(), d.speech()
	resolver := d.resolver()
	intake := service.Intake{Settings: resolver, Known: d.journal.Turns, Sessions: d.sessions, Matcher: d.agent, Consent: d.models, NewID: newID, Logger: d.log}
	table, err := d.methods(intake, resolver, book, extraction, speech)
	if err != nil {
		return err
	}
	presence := clients.Presence{Clients: &d.clients, Faults: d.faults.Lasting, OnDisconnect: []func(*rpc.Client){
		func(client *rpc.Client) { book.Unfollow(client) },
		func(client *rpc.Client) { d.sessions.Detach(client) },
	}}
	server := &rpc.Server{
		Handler: table, Presence: presence, Token: rpc.Token(token), Version: d.config.Version, Logger: d.log,
		Info: func() protocol.ServerInfo {
			return protocol.ServerInfo{Home: d.paths.Home, Model: d.models.Model(), Notice: d.models.Notice(), Consent: d.models.ConsentNeeded(), TranscriptionHost: speech.Hears.Host(), VoiceHost: speech.Speaks.Host()}
		},
	}
	var work sync.WaitGroup
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		work.Go(func() { failed <- server.Serve(ctx, l) })
	}
	d.watch(ctx, &work)
	runs := []func(context.Context){d.memory.upkeep.Run, book.Deliver, d.agent.Compaction().Run, d.linger, d.servers.Run, d.subagents.Run}
	if !d.settings.Last().ProposeAfter.Off {
		runs = append(runs, extraction.Run)
	}
	for _, run := range append(runs, d.edges(intake)...) {
		work.Go(func() { run(ctx) })
	}
	d.log.Info("kernel ready", "socket", d.paths.Socket, "version", d.config.Version, "dur", time.Since(d.began))
	d.config.Ready(d.paths.Socket)
	work.Go(func() { d.journal.Search.KeepIndexed(ctx, d.log) })
	work.Go(d.commands.Prepare)
	work.Go(func() { d.skills.Notes.Prove(ctx) })
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
	for _, files := range []struct {
		follow func(context.Context) error
		lost   string
	}{
		{d.skills.Notes.Watch, "notes are not watched: changes count after a restart"},
		{d.skills.Prompts.Watch, "skills are not watched: changes count after they are reloaded"},
		{d.persona.Follow, "the notes of the prompt are not watched: changes count after a restart"},
		{func(ctx context.Context) error {
			return d.settings.Follow(ctx, d.log, func() { d.faults.Tell("the settings", d.settings.Faults(shown(d.paths.Config))) })
		}, "config.org is not watched: nobody is told when it changes"},
	} {
		work.Go(func() {
			if err := files.follow(ctx); err != nil {
				d.log.Warn(files.lost, "err", err)
			}
		})
	}
}

// linger ends the kernel after a time without clients and without work.
func (d *daemon) linger(ctx context.Context) {
	busy := func() bool {
		_, running, queued := d.sessions.Counts()
		return running+queued > 0 || d.commands.Table.Running() > 0
	}
	if d.config.Linger > 0 && d.clients.Linger(ctx, d.config.Linger, busy) {
		d.log.Info("ending: nobody was here", "dur", d.config.Linger)
		d.stop()
	}
}
