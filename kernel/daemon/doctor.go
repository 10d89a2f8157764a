package daemon

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// ToolNames are the names of the tools that come with the program.
func ToolNames() []string {
	tools, err := tool.BuiltIn(tool.World{})
	if err != nil {
		return nil // their own test tells
	}
	return tools.Names()
}

// doctor tells a client what is wrong with this instance.
func (d *daemon) doctor(ctx context.Context, _ *rpc.Client, p *protocol.DoctorParams) (protocol.DoctorResult, error) {
	var result protocol.DoctorResult
	for _, f := range doctor.Examine(ctx, doctor.Config{
		Paths: d.paths, Drivers: Drivers(), Tools: d.tools.Names(), Env: d.config.Env, Version: d.config.Version, Self: true, WithoutSafety: d.config.WithoutSafety, Sandbox: d.sandbox,
		Grants: func(settings config.Settings) *skill.Grants { return Grants(d.paths, settings, d.config.Env) },
	}, p.Only...) {
		result.Findings = append(result.Findings, protocol.DoctorFinding{
			Check: f.Check, State: protocol.Keyword(f.State), Text: f.Text, Advice: f.Advice, Mend: f.Mend})
	}
	return result, nil
}
