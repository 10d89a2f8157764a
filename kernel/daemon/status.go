package daemon

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// status answers without a token: then it holds no secret, no text, and no name of a
// conversation or a client.
func (d *daemon) status(ctx context.Context, client *rpc.Client, _ *protocol.Empty) (protocol.StatusResult, error) {
	waiting, err := d.journal.Waiting(ctx)
	open, running, queued := d.sessions.Counts()
	status := protocol.StatusResult{
		Version: d.config.Version, PID: d.pid, Home: d.paths.Home, Socket: d.socket,
		Started: d.started.UTC().Format(time.RFC3339), Model: d.models.Model(),
		Skills: len(d.skills.Current().Skills()), Clients: d.editors.count(),
		Sessions: open, Running: running, Queued: queued, Waiting: waiting,
		WithoutSafety: d.config.WithoutSafety,
	}
	if err != nil || !client.Introduced() {
		return status, err
	}
	unindexed, err := d.journal.Unindexed(ctx)
	if err != nil {
		return status, err
	}
	status.Unindexed = unindexed.Percent()
	status.Seconds = int(time.Since(d.started).Seconds())
	status.Memory = resident()
	status.Log, status.Journal, status.JournalSize = d.paths.Log, d.paths.Journal, d.journal.Size()
	for _, s := range d.skills.Statuses() {
		if s.State == skill.Failed || s.State == skill.Duplicate {
			status.Faulty++
		}
	}
	status.Models = d.models.Statuses()
	status.MCP = d.servers.Statuses()
	status.Faults = d.faults.lasting()
	status.Presets = presetStatuses(d.live())
	status.Connected = d.editors.connected()
	status.Conversations, err = d.busy(ctx)
	return status, err
}

// presetStatuses are the presets that can be had, and what is wrong with the others.
func presetStatuses(settings config.Settings) []protocol.PresetStatus {
	var all []protocol.PresetStatus
	for _, p := range settings.Presets {
		all = append(all, protocol.PresetStatus{Name: p.Name})
	}
	for _, f := range settings.FaultyPresets() {
		all = append(all, protocol.PresetStatus{Name: f.Name, Fault: f.Fault.String()})
	}
	return all
}

// connected is who is connected, the one a person used last being the last.
func (e *editors) connected() []protocol.ClientStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []protocol.ClientStatus
	for _, c := range e.clients {
		info := c.Info()
		all = append(all, protocol.ClientStatus{Name: info.Name, ID: c.ID(), Version: info.Version})
	}
	return all
}

// resident is how many bytes of memory the process has, as the system counts; where it does
// not tell, those that the program took.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}
