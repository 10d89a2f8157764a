package daemon

import (
	"context"
	"path/filepath"

	"org-agent/kernel/act"
	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/mcp"
	"org-agent/kernel/notetool"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/tool"
)

// openTools makes the built-in tools, and the MCP servers whose tools are offered beside them.
func (d *daemon) openTools(settings config.Settings, conversations *lateSessions) error {
	var own *tool.Registry
	d.servers = mcp.New(mcp.Config{
		Servers: d.home.MCPServers(settings), Environment: d.config.Env, Directory: filepath.Join(d.paths.State, "results"), Version: d.config.Version, Logger: d.log,
		Own: func() []string { return append(own.Names(), notetool.Names(d.skills.Notes.Current())...) },
	})
	own, err := tool.BuiltIn(tool.Deps{
		Results: d.servers.Result, Skills: d.skills.Prompts.Current, Memory: tool.Memory{Store: d.memory.store, Index: d.memory.index, Await: d.memory.upkeep.Await}, Past: d.pastDeps(),
		Pages: d.home.Pages(d.settings.Last, d.config.Addresses, d.judgeRedirect), Search: d.home.SearchServer(d.settings.Last),
		Subagents: func() bool { return d.settings.Last().SubagentsAtOnce() > 0 }, Commands: d.commands.Table, Files: d.fileDeps(), Notes: d.noteDeps(),
		Schedule: d.scheduleDeps(), Messages: d.messageDeps(conversations),
	})
	if err != nil {
		return err
	}
	d.tools = own.WithForeign(notetool.Live(d.skills.Notes.Current, d.servers.Tools))
	return nil
}

// ToolNames returns the names of the built-in tools.
func ToolNames() []string {
	tools, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		return nil // a test of the tools reports this
	}
	return tools.Names()
}

// fileDeps returns what the tools for files need.
func (d *daemon) fileDeps() tool.Files {
	return tool.Files{Home: d.paths.Home, Unread: policy.Unread(d.paths.Home, d.paths.State), Keys: policy.HasKeys}
}

// emacs returns the person's Emacs, as tools ask it.
func (d *daemon) emacs() clients.Emacs {
	return clients.Emacs{Clients: &d.clients, Timeout: d.config.EmacsTimeout, NewID: newID, Change: act.Edit}
}

// noteDeps returns what the tools for Org files and for Emacs need.
func (d *daemon) noteDeps() tool.Notes {
	return tool.Notes{Files: d.fileDeps(), Emacs: d.emacs(), NewID: newID, Now: d.now, Roots: d.notes, Held: d.tags.Held}
}

// scheduleDeps returns what the tools for tasks need.
func (d *daemon) scheduleDeps() tool.Schedule {
	return tool.Schedule{Notes: d.noteDeps(), File: d.paths.Tasks, List: func(ctx context.Context, p protocol.ScheduleListParams) (protocol.ScheduleListResult, error) {
		return service.Schedule{Tasks: d.tasks, File: d.paths.Tasks}.List(ctx, p)
	}}
}

// judgeRedirect returns the verdict of policy.org on an address to which a page redirects.
func (d *daemon) judgeRedirect(address string) (allowed, refused bool) {
	kind := d.policy.JudgeReach(protocol.Reach{Kind: protocol.ReachFetches, URL: address}).Kind
	return kind == policy.Allow, kind == policy.Refuse
}
