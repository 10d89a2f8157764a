// Command org-agent runs the kernel and talks to it.
//
// Every command keeps these rules. stdout carries only the result. Messages for people go to
// stderr; they begin with "org-agent:", have no capital and no full stop, and say what to do next.
// The exit status is 0 for success, 1 for failure and 2 for wrong usage. Some commands also use 3
// for rewritten, 4 for refused and 5 for waiting for a person.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"org-agent/kernel/sandbox"
)

// version is set by the linker.
var version = "unversioned"

func main() {
	sandbox.Main() // the kernel starts this program for each command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(exitStatus(os.Stderr, run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)))
}
