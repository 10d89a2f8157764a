package tool_test

import (
	"os"
	"testing"

	"org-agent/kernel/sandbox"
)

// The test binary is also the warden of the commands that the tests run.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}
