package daemon

import (
	"path/filepath"

	"org-agent/kernel/act"
	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/mcp"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// openTools makes the tools that are built in, and the servers whose tools are there beside
// them.
func (d *daemon) openTools(settings config.Settings) error {
	var own *tool.Registry
	d.servers = mcp.New(mcp.Config{
		Servers: d.home.MCPServers(settings), Environment: d.config.Env, Directory: filepath.Join(d.paths.State, "results"), Version: d.config.Version, Logger: d.log,
		Own: func() []string { return own.Names() },
	})
	own, err := tool.BuiltIn(tool.Deps{
		Results: d.servers.Result, Skills: d.skills.Prompts.Current, Memory: tool.Memory{Store: d.memory.store, Index: d.memory.index}, Past: d.past(),
		Pages: d.home.Pages(settings, d.config.Addresses, d.redirected), Search: d.home.SearchServer(settings.Search),
		Subagents: settings.SubagentsAtOnce() > 0, Commands: d.commands.Table, Files: d.files(), Notes: d.notes(settings),
	})
	if err != nil {
		return err
	}
	d.tools = own.WithForeign(d.servers.Tools)
	return nil
}

// ToolNames are the names of the tools that come with the program.
func ToolNames() []string {
	tools, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		return nil // their own test tells
	}
	return tools.Names()
}

// files are what the tools for files work with.
func (d *daemon) files() tool.Files {
	return tool.Files{Home: d.paths.Home, Unread: policy.Unread(d.paths.Home, d.paths.State)}
}

// notes are what the tools for Org files and for Emacs work with.
func (d *daemon) notes(settings config.Settings) tool.Notes {
	n := tool.Notes{Files: d.files(), Emacs: clients.Emacs{Clients: &d.clients, Patience: d.config.EmacsPatience, NewID: newID, Change: act.Edit}, NewID: newID, Now: d.now}
	for _, path := range settings.Notes {
		n.Roots = append(n.Roots, d.notePath(path))
	}
	return n
}

// redirected says what the rules of policy.org say of an address that a page leads to.
func (d *daemon) redirected(address string) (allowed, refused bool) {
	kind := d.policy.JudgeReach(protocol.Reach{Kind: protocol.ReachFetches, URL: address}).Kind
	return kind == policy.Allow, kind == policy.Refuse
}
