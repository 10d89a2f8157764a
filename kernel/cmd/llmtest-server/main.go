// Command llmtest-server is a model server for tests that are not written in Go. It answers by a script
// (see kernel/llm/llmtest), prints its base URL on stdout and runs until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"org-agent/kernel/llm/llmtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "llmtest-server:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("llmtest-server", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "`address` to listen at")
	path := flags.String("script", "", "JSON `file` with the answers; without it every message is echoed")
	trace := flags.String("trace", "", "`file` to which the requests are appended, one JSON value per line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	script := llmtest.ServerScript{Exchanges: []llmtest.Exchange{{Times: -1, Echo: true}}}
	if *path != "" {
		var err error
		if script, err = llmtest.LoadScript(*path); err != nil {
			return err
		}
	}
	var requests io.Writer
	if *trace != "" {
		file, err := os.OpenFile(*trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open the trace: %w", err)
		}
		defer file.Close()
		requests = file
	}
	server, err := llmtest.Listen(*listen, script, requests)
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintln(stdout, server.URL())
	<-ctx.Done()
	return nil
}
