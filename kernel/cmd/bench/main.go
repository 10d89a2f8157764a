// Command bench measures the project's targets and prints one table: what, the
// target, the least, median and greatest measured value, and the peer where
// there is one. "make bench" runs it.
//
// What a person waits for is measured on the real programs: the kernel's binary,
// an Emacs on a terminal, a model server over HTTP. Nothing is asserted: a slow
// machine is no fault. The rows run one after the other in the order they are
// printed, and each ends what it started. It must run at the root of the checkout.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// programs are what is measured and what it is compared with.
type programs struct {
	kernel, emacs, sbcl, golang string
	// gptel are the directories of gptel and what it needs, separated by colons; "" for
	// figures measured elsewhere.
	gptel string
}

// A bench measures one or more rows.
type bench struct {
	name    string
	measure func(ctx context.Context, p programs) ([]row, error)
}

var benches = []bench{
	{"start", measureStart},
	{"turn", measureTurns},
	{"rounds", measureRounds},
	{"subagents", measureSubagents},
	{"stream", measureStreams},
	{"latency", measureLatency},
	{"note", measureNote},
	{"prompt", measurePrompt},
	{"reader", measureReader},
	{"code", measureCode},
	{"tangle", measureTangle},
	{"markdown", measureMarkdown},
	{"search", measureSearch},
	{"memory", measureMemory},
	{"policy", measurePolicy},
	{"sandbox", measureSandbox},
}

// run measures what the flags choose and prints the table.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var p programs
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&p.kernel, "program", "bin/org-agent", "the kernel's `binary`")
	flags.StringVar(&p.emacs, "emacs", "emacs", "the Emacs `program`")
	flags.StringVar(&p.sbcl, "sbcl", "sbcl", "the SBCL `program`")
	flags.StringVar(&p.golang, "go", "go", "the Go `program`")
	flags.StringVar(&p.gptel, "gptel", "", "the `directories` of gptel and of compat, separated by a colon")
	only := flags.String("only", "", "measure only the benches whose names match this `regexp`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	began := time.Now()
	fmt.Fprintln(stdout, machine())
	var rows []row
	var faults []error // what was measured is printed, whatever else could not be
	for _, b := range benches {
		if !chosen.MatchString(b.name) {
			continue
		}
		fmt.Fprintf(stderr, "measuring %s ...\n", b.name)
		measured, err := b.measure(ctx, p)
		if err != nil {
			faults = append(faults, fmt.Errorf("measure %s: %w", b.name, err))
		}
		rows = append(rows, measured...)
	}
	printTable(stdout, rows)
	fmt.Fprintf(stdout, "\n%s; %s in all\n", load(), time.Since(began).Round(time.Second))
	return errors.Join(faults...)
}

// machine says where the numbers come from.
func machine() string {
	name := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, found := strings.Cut(string(info), "model name"); found {
			line, _, _ := strings.Cut(after, "\n")
			name = strings.TrimLeft(line, "\t :")
		}
	}
	return fmt.Sprintf("%d × %s, %s, %s\n", runtime.NumCPU(), name, runtime.Version(), load())
}

// load is the machine's load, which says how far to trust the numbers.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	fields := strings.Fields(string(text))
	return "load " + strings.Join(fields[:min(3, len(fields))], " ")
}

// output runs a program and returns what it printed; the error has what it
// complained of.
func output(ctx context.Context, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s%s", name, err, out, complaint.String())
	}
	return string(out), nil
}
