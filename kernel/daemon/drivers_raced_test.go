//go:build race

package daemon_test

import (
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
)

// testDrivers returns the protocol that the tests for the race detector ask models by. Those of the others and their
// makers' libraries share nothing between requests, and take minutes to compile for it.
func testDrivers() llm.Drivers { return llm.Drivers{openai.Driver()} }
