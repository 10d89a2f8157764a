package daemon_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/daemon"
	"org-agent/kernel/sandbox"
)

// kernelVariable makes the test binary a kernel: those are started as processes
// where a test is about their sudden death.
const kernelVariable = "ORG_AGENT_TEST_KERNEL"

// commandsVariable has such a kernel run commands.
const commandsVariable = "ORG_AGENT_TEST_COMMANDS"

// loopbackVariable lets such a kernel fetch pages of this machine.
const loopbackVariable = "ORG_AGENT_TEST_LOOPBACK"

func TestMain(m *testing.M) {
	sandbox.Main()
	if step, is := os.LookupEnv(stepVariable); is {
		os.Exit(beTracer(step))
	}
	if os.Getenv(kernelVariable) != "" {
		os.Exit(beKernel())
	}
	if os.Getenv(mcpVariable) != "" {
		os.Exit(beMCPServer())
	}
	// lumberjack keeps one idle goroutine for each log file that it ever opened.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}

func beKernel() int {
	var addresses func(netip.Addr) error
	if os.Getenv(loopbackVariable) != "" {
		addresses = func(netip.Addr) error { return nil }
	}
	err := daemon.Run(context.Background(), daemon.Config{
		Addresses: addresses, Drivers: testDrivers(),
		Env: os.Getenv, Version: "test", Commands: os.Getenv(commandsVariable) != "", Now: movedClock(os.Getenv(clockVariable)), Ready: func(socket string) { fmt.Println(socket) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
