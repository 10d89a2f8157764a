//go:build race

package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestSettingsHaveChanged: who saves a config.org of which something counts only after a restart is
// told what, and nothing when it is as it was, or when all that changed counts already.
func TestSettingsHaveChanged(t *testing.T) {
	in := newInstance(t)
	const before = "* Models\n** other\n:PROPERTIES:\n:BASE_URL: http://127.0.0.1:9/v1\n:END:\n** COMMENT mine\n:PROPERTIES:\n:BASE_URL: http://127.0.0.1:9/v1\n:END:\n"
	in.write(t, "config.org", before)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	lasting := func() string {
		t.Helper()
		var status protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			t.Fatal(err)
		}
		return strings.Join(status.Faults, "\n")
	}
	in.write(t, "config.org", before+"* MCP\n** COMMENT tools\n** other\n:PROPERTIES:\n:COMMAND: true\n:END:\n* Settings\n:PROPERTIES:\n:NOTES: ~/org\n:HISTORY_TURNS: 3\n:END:\n")
	noticed(t, e, "config.org has changed, and of that MCP, NOTES counts from the next start of the kernel on: M-x org-agent-stop")
	if got := lasting(); !strings.Contains(got, "config.org has changed") {
		t.Errorf("the status tells %q", got)
	}
	in.write(t, "config.org", before)
	until(t, "all being as it was", func() bool { return lasting() == "" })
	in.write(t, "config.org", "Prose above all.\n\n"+strings.Replace(before, "COMMENT ", "", 1)+"* Presets\n** short\nBe brief.\n* Settings\n:PROPERTIES:\n:HISTORY_TURNS: many\n:END:\n")
	noticed(t, e, "config.org:17:")
	if got := lasting(); strings.Contains(got, "has changed") {
		t.Errorf("of a preset and of prose the status tells %q", got)
	}
}

// TestFaultsOfTheSettingsAreTold: what was wrong when the kernel started is told to each client
// that shows notices when it comes, whatever its name, and stands in the status for as long as it lasts.
func TestFaultsOfTheSettingsAreTold(t *testing.T) {
	in := newInstance(t)
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:HISTORY_TURNS: many\n:END:\n")
	in.start(t)
	for _, config := range []rpctest.Config{{}, {Name: "another editor", Capabilities: &protocol.Capabilities{Notices: true}}} {
		e := in.editor(t, config)
		noticed(t, e, "config.org:3:")
	}
	e := in.editor(t, rpctest.Config{})
	in.write(t, "config.org", "* Settings\n")
	until(t, "all being in order", func() bool {
		var status protocol.StatusResult
		return e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status) == nil && len(status.Faults) == 0
	})
}
