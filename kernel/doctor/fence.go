package doctor

import (
	"context"

	"org-agent/kernel/sandbox"
)

// fence reports with which fence the agent's commands run on this system.
func fence(ctx context.Context, c Config) []Finding {
	if c.Sandbox == nil {
		return []Finding{ok("no command is run here")}
	}
	kind, why := c.Sandbox(ctx)
	switch {
	case kind == sandbox.Whole:
		return []Finding{ok("commands run in a sandbox: they see only what was granted to them, have no network unless it was granted, and use at most half of the machine's memory together (%s)", kind)}
	case kind == sandbox.Namespaces:
		return []Finding{ok("commands run in a sandbox: they see only what was granted to them, and use at most half of the machine's memory together (%s; this system has no Landlock of version 6, which would be a second fence)", kind)}
	}
	what := "commands can read and change whatever you can"
	if kind == sandbox.Landlock {
		what = "commands can change only what was granted to them, but can see the network and your other programs"
	}
	const advice = "let programs make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), or run the kernel where they may"
	if why == nil {
		return []Finding{warn(advice, "there is no complete sandbox here: %s, and each one needs your approval", what)}
	}
	return []Finding{warn(advice, "there is no complete sandbox here: %s, and each one needs your approval (%v)", what, why)}
}
