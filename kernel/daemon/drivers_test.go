//go:build !race

package daemon_test

import (
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/drivers"
)

// testDrivers returns all protocols of model servers.
func testDrivers() llm.Drivers { return drivers.All() }
