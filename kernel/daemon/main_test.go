package daemon_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/daemon"
)

// kernelVariable makes the test binary a kernel: those are started as processes
// where a test is about their sudden death.
const kernelVariable = "ORG_AGENT_TEST_KERNEL"

func TestMain(m *testing.M) {
	if os.Getenv(kernelVariable) != "" {
		os.Exit(beKernel())
	}
	// lumberjack keeps one idle goroutine for each log file that it ever opened.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

func beKernel() int {
	err := daemon.Run(context.Background(), daemon.Config{
		Env: os.Getenv, Version: "test", Ready: func(socket string) { fmt.Println(socket) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
