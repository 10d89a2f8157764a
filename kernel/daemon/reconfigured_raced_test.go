//go:build race

package daemon_test

import (
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

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
