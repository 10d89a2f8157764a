package daemon

import (
	"context"

	"org-agent/kernel/agent/extract"
	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// openConfiguration sets what makes changes of config.org count while the kernel runs. It tells the parts
// that have to act. All other parts read the settings when they need them.
func (d *daemon) openConfiguration(info func() protocol.ServerInfo, extraction *extract.Extractor) {
	embeddings := func(s config.Settings) *config.EmbeddingServer { return s.Embeddings }
	parts := []service.Part{
		service.ModelsPart(d.models),
		service.PartOf(d.loaded, d.home.MCPServers, d.servers.Reload),
		service.PartOf(d.loaded, config.Settings.SubagentsAtOnce, d.subagents.SetLimit),
		service.PartOf(d.loaded, config.Settings.QuietTime, extraction.SetQuiet),
		service.PartOf(d.loaded, config.Settings.RequestAge, d.journal.Archive.SetAge),
		service.PartOf(d.loaded, config.Settings.Beats, func(config.Heartbeat) { d.heartbeat.Reload() }),
		service.PartOf(d.loaded, func(s config.Settings) []config.Channel { return s.Channels }, d.channels.Set),
		service.PartOf(d.loaded, embeddings, func(server *config.EmbeddingServer) { d.memory.upkeep.SetMeaning(d.openMeaning(server)) }),
		func(_ context.Context, s config.Settings) error {
			d.memory.upkeep.Reload()
			d.tasks.Reload()
			return d.home.CheckNotes(s)
		},
	}
	d.configuration = service.NewConfiguration(service.ConfigurationConfig{
		Settings: d.settings, Parts: parts, Level: &d.level, Info: info, Notify: d.clients.NotifyAll, Faults: d.faults,
	})
}
