package daemon

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// doctor tells a client what is wrong with this instance.
func (d *daemon) doctor(ctx context.Context, _ *rpc.Client, p *protocol.DoctorParams) (protocol.DoctorResult, error) {
	var result protocol.DoctorResult
	for _, f := range doctor.Examine(ctx, doctor.Config{
		Paths: d.paths, Env: d.config.Env, Version: d.config.Version, Self: true,
		Grants: func(settings config.Settings) *skill.Grants { return Grants(d.paths, settings, d.config.Env) },
	}, p.Only...) {
		result.Findings = append(result.Findings, protocol.DoctorFinding{
			Check: f.Check, State: protocol.Keyword(f.State), Text: f.Text, Advice: f.Advice, Mend: f.Mend})
	}
	return result, nil
}
