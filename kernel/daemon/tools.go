package daemon

import (
	"org-agent/kernel/config"
	"org-agent/kernel/tool"
)

// openTools makes the tools that are built in, and the servers whose tools are there beside
// them.
func (d *daemon) openTools(settings config.Settings) error {
	var own *tool.Registry
	d.servers = d.mcpServers(settings, func() []string { return own.Names() })
	own, err := tool.BuiltIn(tool.World{
		Kept: d.servers.Result, Skills: d.skills.Prompts.Current, Memory: tool.Memory{Store: d.memory.store, Index: d.memory.index}, Past: d.past(),
		Pages: Pages(settings, d.config.Env, d.config.Addresses, d.redirected), Search: SearchServer(settings.Search, d.config.Env),
		Subagents: settings.SubagentsAtOnce() > 0, Commands: d.commands.table, Files: d.files(), Notes: d.notes(settings),
	})
	if err != nil {
		return err
	}
	d.tools = own.WithForeign(d.servers.Tools)
	return nil
}

// ToolNames are the names of the tools that come with the program.
func ToolNames() []string {
	tools, err := tool.BuiltIn(tool.World{})
	if err != nil {
		return nil // their own test tells
	}
	return tools.Names()
}
