// Command org-agent runs the kernel and talks to it.
//
// Rules for talking to people: stdout is the result and nothing else; what is
// for people goes to stderr, begins with "org-agent:", has no capital and no
// full stop, and says what to do next. The exit status is 0 for done, 1 for
// failed, 2 for wrong usage; 3, 4 and 5 mean rewritten, refused and waiting for
// a person, where a command says so.
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
	os.Exit(status(os.Stderr, run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)))
}
