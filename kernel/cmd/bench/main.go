// Command bench measures the performance targets of the project. It prints a table with one row for each
// target: its name, the target, the minimum, median and maximum of the measured values, and how a peer
// compares if there is one. "make bench" runs it.
//
// Times for which a person waits are measured with the real programs: the kernel's binary, an Emacs on a
// terminal, and a model server over HTTP. A missed target is no error, because the machine may be slow.
// The measurements run one after the other, in the order of the rows, and each stops all processes that
// it started. The command must run in the root directory of the repository.
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

// programs are the programs that are measured or needed for it.
type programs struct {
	kernel, emacs, sbcl, golang string
	// gptel lists the directories of gptel and of its dependencies, separated by colons. If it is "", the
	// table has reference values that were measured on another machine.
	gptel string
}

// bench measures one or more rows.
type bench struct {
	name    string
	measure func(ctx context.Context, p programs) ([]row, error)
}

// benches are all there are, in the order of the table.
func benches() []bench {
	return []bench{
		{"start", measureStart},
		{"turn", measureTurns},
		{"rounds", measureRounds},
		{"subagents", measureSubagents},
		{"channels", measureChannels},
		{"stream", measureStreams},
		{"latency", measureLatency},
		{"open", measureOpening},
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
}

// run runs the benches that the flags select, and prints the table.
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
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	began := time.Now()
	fmt.Fprintln(stdout, machine())
	var rows []row
	var errs []error // the other rows are printed nevertheless
	for _, b := range benches() {
		if !pattern.MatchString(b.name) {
			continue
		}
		fmt.Fprintf(stderr, "measuring %s ...\n", b.name)
		measured, err := b.measure(ctx, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("measure %s: %w", b.name, err))
		}
		rows = append(rows, measured...)
	}
	printTable(stdout, rows)
	fmt.Fprintf(stdout, "\n%s; %s in all\n", systemLoad(), time.Since(began).Round(time.Second))
	return errors.Join(errs...)
}

// machine describes the machine, the Go version and the load.
func machine() string {
	name := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, found := strings.Cut(string(info), "model name"); found {
			line, _, _ := strings.Cut(after, "\n")
			name = strings.TrimLeft(line, "\t :")
		}
	}
	return fmt.Sprintf("%d × %s, %s, %s\n", runtime.NumCPU(), name, runtime.Version(), systemLoad())
}

// systemLoad returns the load average. With a high load the values are not reliable.
func systemLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	fields := strings.Fields(string(text))
	return "load " + strings.Join(fields[:min(3, len(fields))], " ")
}

// runProgram runs a program and returns its standard output. The error contains its standard error.
func runProgram(ctx context.Context, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s%s", name, err, out, stderr.String())
	}
	return string(out), nil
}
