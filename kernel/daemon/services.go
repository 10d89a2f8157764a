package daemon

import (
	"context"
	"os"
	"time"

	"org-agent/kernel/agent/complete"
	"org-agent/kernel/agent/extract"
	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/explain"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/logfile"
	"org-agent/kernel/notekind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
	"org-agent/kernel/undo"
)

// methods returns the table of the methods that clients call.
func (d *daemon) methods(intake service.Intake, resolver *settings.Resolver, logFile *logfile.Writer, extraction *extract.Extractor) (service.Table, error) {
	reader := service.EventReader{Notes: d.skills.Notes.Current, Prompts: d.skills.Prompts.Current}
	kinds := notekind.Live(d.kinds, d.skills.Notes)
	return service.NewTable(
		service.Events{Reader: reader, Intake: intake, RecordSender: func(client *rpc.Client, event string) { d.clients.RecordUse(client, event) }}.Methods(),
		service.Turns{Sessions: d.sessions, Names: d.sessions, Models: d.models, Settings: resolver, Subagents: d.subagents}.Methods(),
		service.Conversations{Sessions: d.sessions, Questions: d.journal.Search, Names: d.journal.Sessions, Compaction: d.agent.Compaction(), Model: d.models.Model, OnLeave: extraction.Leave}.Methods(),
		d.setup().Methods(),
		service.Models{Router: d.models, Chosen: d.journal.Sessions, Chooser: d.sessions}.Methods(),
		service.Settings{Reader: reader, Live: d.settings, Resolver: resolver, Chosen: d.journal.Sessions, Chooser: d.sessions, Profiles: d.persona.Profiles}.Methods(),
		service.Prompts{Reader: reader, Settings: resolver, Composer: d.agent}.Methods(),
		service.NewCompletions(service.CompletionsConfig{
			Completer: &complete.Completer{Provider: d.models, Policy: d.policy, Usage: d.journal.Usage, Hide: d.agent.Hide, Logger: d.log},
			Models:    d.models, Consent: d.models, Guide: builtin.Name, Home: d.paths.Home,
			Model: func() string { return d.settings.Last().CompletionModel },
		}).Methods(),
		d.asks().Methods(),
		service.Rules{File: d.policy.Rules, Uses: d.journal.Rules, Changed: d.rulesChanged, Now: time.Now}.Methods(),
		service.Changes{
			IDs: d.journal.Records, Turns: d.journal.Turns, Journal: undo.Journal{Acts: d.journal.Acts, Rows: d.journal.Records}, Kinds: kinds, Undone: d.sessions.ShowUndone,
		}.Methods(),
		service.Memory{
			Store: d.memory.store, Index: d.memory.index, Upkeep: d.memory.upkeep, Path: func(path string) string { directory, _ := d.home.Directory(path); return directory },
			Offer: func() bool { return !d.settings.Last().NotesSet },
		}.Methods(),
		d.skills.Methods(),
		d.speech.Methods(),
		service.Tools{Registry: d.tools, Sessions: d.sessions, Calls: d.agent, NewID: newID, Logger: d.log}.Methods(),
		service.Schedule{Tasks: d.tasks, Heartbeat: d.heartbeat, File: d.paths.Tasks}.Methods(),
		d.inbox().Methods(),
		d.chatService().Methods(),
		d.channelService().Methods(),
		service.Usage{Turns: d.journal.Usage, Steps: d.journal.Transcripts}.Methods(),
		service.Log{Writer: logFile, Path: d.paths.Log}.Methods(),
		service.Kernel{Doctor: d.doctor(), Traces: explain.Reader{Rows: d.journal.Records, Turns: d.journal.Turns}, Kinds: kinds, Stop: d.stop, Logger: d.log}.Methods(),
		d.status().Methods(),
		d.runtime().Methods(),
	)
}

// asks returns the service of what waits for a person.
func (d *daemon) asks() service.Asks {
	return service.Asks{Store: d.journal.Asks, Decider: d.agent.Desk(), Judge: d.policy, Kinds: d.kinds, Tools: d.tools, RulesChanged: d.rulesChanged}
}

// status returns the service that answers with the kernel's state.
func (d *daemon) status() service.Status {
	return service.Status{
		Fixed: protocol.StatusResult{
			Version: d.config.Version, PID: os.Getpid(), Home: d.paths.Home, Socket: d.paths.Socket,
			Started: d.started.UTC().Format(time.RFC3339), WithoutSafety: d.config.WithoutSafety,
		},
		Started: d.started, Paths: d.paths, Asks: d.journal.Asks, Index: d.journal.Search, Size: d.journal.Size, Archive: d.journal.Archive.Size, Sessions: d.sessions, Subagents: d.subagents, Skills: d.skills.Notes,
		Clients: d.clients.Statuses, Model: d.models.Model, Models: d.models.Statuses, MCP: d.servers.Statuses, Faults: d.faults.Current, Settings: d.settings.Now,
		Runtime: d.runtime(),
	}
}

// runtime returns the service that measures this process.
func (d *daemon) runtime() service.Runtime {
	return service.Runtime{Journal: d.journal, Pending: d.clients.Pending}
}

// rulesChanged notifies the clients that policy.org was changed, so that editors reread it.
func (d *daemon) rulesChanged() {
	d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{d.paths.Policy}})
}

// doctor returns the configuration of the doctor's checks.
func (d *daemon) doctor() doctor.Config {
	return doctor.Config{
		Paths: d.paths, Drivers: d.config.Drivers, Tools: d.tools.Names(), Env: d.config.Env, Version: d.config.Version, Self: true, WithoutSafety: d.config.WithoutSafety,
		Sandbox: func(context.Context) (sandbox.Kind, error) { return d.commands.Fence() },
		Specs:   d.kinds.Specs, Channels: channelTesting{d}.Check,
		Grants: d.home.GrantsWith,
	}
}

// openSpeech returns the service that transcribes and speaks with the servers in config.org.
func (d *daemon) openSpeech() service.Speech {
	return service.Speech{
		Transcription: service.NewSpeechServer("Transcription", func() *config.SpeechServer { return d.settings.Last().Transcription }, d.newServer),
		Voice:         service.NewSpeechServer("Voice", func() *config.SpeechServer { return d.settings.Last().Voice }, d.newServer),
		Held:          d.tags.Held,
		Logger:        d.log,
	}
}

// extraction returns the extractor, which proposes entries for the memory from conversations.
func (d *daemon) extraction() *extract.Extractor {
	proposer := &extract.Proposer{
		Transcripts: d.journal.Transcripts, Turns: d.journal.Turns, Models: d.journal.Sessions, Rows: d.journal.Records, UsageStore: d.journal.Usage, Provider: d.models, Model: func() string { return d.settings.Last().MemoryModel },
		Records: d.memory.index, Store: d.memory.store, Hide: d.agent.Hide,
	}
	return extract.New(extract.Config{
		Conversations: d.journal.Sessions, Model: proposer, Proposals: d.memory.store, Quiet: d.loaded.QuietTime(),
		HasModel: func() bool { return d.models.IsModel() && d.models.ConsentNeeded() == "" },
		OnProposals: func(session string, waiting int) {
			d.clients.NotifyAll(protocol.MethodMemoryProposed, protocol.MemoryProposed{Session: session, Waiting: waiting})
		},
		Hide: d.agent.Hide, Logger: d.log,
	})
}
