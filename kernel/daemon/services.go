package daemon

import (
	"context"
	"os"
	"time"

	"org-agent/kernel/agent/extract"
	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
	"org-agent/kernel/skill"
)

// methods is the table of what clients may ask: a line for each family of methods.
func (d *daemon) methods(intake service.Intake, resolver *settings.Resolver, book *logfile.Book, extraction *extract.Extractor, speech service.Speech) (service.Table, error) {
	reader := service.EventReader{Notes: d.skills.Notes.Current, Prompts: d.skills.Prompts.Current}
	var subagents service.Subagents
	if d.subagents != nil {
		subagents = d.subagents
	}
	return service.NewTable(
		service.Events{Reader: reader, Intake: intake, Used: d.editors.used}.Methods(),
		service.Turns{Sessions: d.sessions, Names: d.sessions, Models: d.models, Settings: resolver, Subagents: subagents}.Methods(),
		service.Conversations{Sessions: d.sessions, Asked: d.journal, Compaction: d.agent.Compaction(), Model: d.models.Model(), Left: extraction.Left}.Methods(),
		service.Models{Router: d.models, Chosen: d.journal, Chooser: d.sessions}.Methods(),
		service.Settings{Reader: reader, Live: d.settings, Resolver: resolver, Chosen: d.journal, Chooser: d.sessions, Profiles: d.persona.Profiles}.Methods(),
		service.Prompts{Reader: reader, Settings: resolver, Composer: d.agent}.Methods(),
		service.NewCompletions(service.CompletionsConfig{
			Completer: d.agent, Models: d.models, Consent: d.models, Guide: builtin.Name, Home: d.paths.Home,
			Model: func() string { return d.settings.Last().CompletionModel },
		}).Methods(),
		service.Approvals{Store: d.journal, Decider: d.agent, Judge: d.policy, Kinds: d.kinds}.Methods(),
		service.Changes{Turns: d.journal, Journal: d.journal, Kinds: d.kinds}.Methods(),
		service.Questions{Store: d.journal, Answerer: d.agent}.Methods(),
		service.Memory{
			Store: d.memory.store, Index: d.memory.index, Upkeep: d.memory.upkeep, Path: d.notePath,
			Offer: func() bool { return !d.settings.Last().NotesSaid },
		}.Methods(),
		d.skills.Methods(),
		speech.Methods(),
		service.Tools{Registry: d.tools, Sessions: d.sessions, Calls: d.agent, NewID: newID, Logger: d.log}.Methods(),
		service.Usage{Turns: d.journal, Tools: d.agent}.Methods(),
		service.Log{Book: book, File: d.paths.Log}.Methods(),
		service.Kernel{Doctor: d.doctor(), Journal: d.journal, Kinds: d.kinds, Stop: d.stop, Logger: d.log}.Methods(),
		d.status(subagents).Methods(),
	)
}

// status is what status answers from.
func (d *daemon) status(subagents service.Subagents) service.Status {
	return service.Status{
		Fixed: protocol.StatusResult{
			Version: d.config.Version, PID: os.Getpid(), Home: d.paths.Home, Socket: d.paths.Socket,
			Started: d.began.UTC().Format(time.RFC3339), Model: d.models.Model(), WithoutSafety: d.config.WithoutSafety,
		},
		Started: d.began, Paths: d.paths, Journal: d.journal, Sessions: d.sessions, Subagents: subagents, Skills: d.skills.Notes,
		Clients: d.editors.connected, Models: d.models.Statuses, MCP: d.servers.Statuses, Faults: d.faults.Lasting, Settings: d.settings.Now,
	}
}

// doctor is what the doctor of this kernel looks at.
func (d *daemon) doctor() doctor.Config {
	return doctor.Config{
		Paths: d.paths, Drivers: Drivers(), Tools: d.tools.Names(), Env: d.config.Env, Version: d.config.Version, Self: true, WithoutSafety: d.config.WithoutSafety,
		Sandbox: func(context.Context) (sandbox.Kind, error) { return d.commands.fence() },
		Grants:  func(settings config.Settings) *skill.Grants { return Grants(d.paths, settings, d.config.Env) },
	}
}

// speech hears and speaks with the servers that config.org names.
func (d *daemon) speech() service.Speech {
	chosen := d.settings.Last()
	return service.Speech{
		Hears:  service.NewSpeechServer("Transcription", chosen.Transcription, d.server),
		Speaks: service.NewSpeechServer("Voice", chosen.Voice, d.server),
		Logger: d.log,
	}
}

// extraction has conversations looked at for what to keep of them.
func (d *daemon) extraction() *extract.Extractor {
	return extract.New(extract.Config{
		Conversations: d.journal, Model: d.agent, Proposals: d.memory.store, Quiet: d.settings.Last().ProposeAfter.After,
		May: func() bool { return d.models.IsModel() && d.models.ConsentNeeded() == "" },
		Proposed: func(session string, waiting int) {
			d.editors.notify(protocol.MethodMemoryProposed, protocol.MemoryProposed{Session: session, Waiting: waiting})
		},
		Hide: d.agent.Hide, Logger: d.log,
	})
}
