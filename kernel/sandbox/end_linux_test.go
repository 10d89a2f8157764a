package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/sandbox"
)

// kinds returns the kinds of fence that this system has.
func kinds(t testing.TB) []sandbox.Kind {
	kind, _ := sandbox.Probe(t.Context())
	all := []sandbox.Kind{sandbox.None}
	if kind == sandbox.Whole {
		all = append(all, sandbox.Landlock, sandbox.Namespaces)
	}
	if kind != sandbox.None {
		all = append(all, kind)
	}
	return all
}

// TestEnds checks that a command ends by itself, by a signal, when it is asked to and when it is
// killed, and that nothing that it has started outlives it.
func TestEnds(t *testing.T) {
	for _, kind := range kinds(t) {
		if kind == sandbox.Landlock || kind == sandbox.Namespaces && slices.Contains(kinds(t), sandbox.Whole) {
			continue // these end commands as the others do
		}
		t.Run(string(kind), func(t *testing.T) {
			mark := fmt.Sprintf("98765.%d", time.Now().UnixNano()%1e9)
			tree := fmt.Sprintf("sleep %[1]s & setsid sleep %[1]s & (setsid nohup sleep %[1]s >/dev/null 2>&1 &) ; (trap '' TERM HUP; sleep %[1]s) & ", mark)
			for name, c := range map[string]struct {
				text string
				stop func(p *sandbox.Process, cancel func())
				want string
			}{
				"by itself":        {tree + "exit 3", nil, "exit status 3"},
				"by its own hand":  {tree + "kill -SEGV $$", nil, "it was ended by SIGSEGV"},
				"when asked":       {tree + "sleep " + mark, func(p *sandbox.Process, _ func()) { p.Terminate() }, "it was ended by SIGTERM"},
				"when made to":     {tree + "sleep " + mark, func(p *sandbox.Process, _ func()) { p.Kill() }, ""},
				"when that is all": {tree + "trap '' TERM; sleep " + mark, func(_ *sandbox.Process, cancel func()) { cancel() }, ""},
			} {
				ctx, cancel := context.WithCancel(t.Context())
				p, err := sandbox.Start(ctx, kind, sandbox.Command{Text: c.text, Home: os.Getenv("HOME"), Environment: os.Getenv}, nil, nil)
				if err != nil {
					cancel()
					t.Fatal(err)
				}
				if c.stop != nil {
					eventually(t, "the command runs", func() bool { return len(processesWith(mark)) >= 5 })
					c.stop(p, cancel)
				}
				began := time.Now()
				outcome, err := p.Wait()
				if took := time.Since(began); c.stop != nil && took > 10*time.Second {
					t.Errorf("%s: it took %s", name, took)
				}
				if err != nil || c.want != "" && outcome.String() != c.want {
					t.Errorf("%s: %s, %v", name, outcome, err)
				}
				if left := processesWith(mark); len(left) > 0 {
					t.Errorf("%s: the processes %v are left", name, left)
				}
				cancel()
			}
		})
	}
}

// startToBeKilled starts a kernel that will be killed, and returns when its command has written
// that it is ready.
func startToBeKilled(t *testing.T, kind sandbox.Kind, text, directory, note string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kernel := exec.Command(program, "doomed", string(kind), text, directory, note)
	output, err := kernel.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := kernel.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q, %v", kind, line, err)
	}
	return kernel
}

// TestKilledKernel checks that nothing of a command is left when the process that started it is
// killed.
func TestKilledKernel(t *testing.T) {
	for _, kind := range kinds(t) {
		mark := fmt.Sprintf("87654.%d", time.Now().UnixNano()%1e9)
		kernel := startToBeKilled(t, kind, fmt.Sprintf("setsid sleep %[1]s & (setsid sleep %[1]s &); trap '' TERM HUP INT; echo ready; sleep %[1]s", mark), "", "")
		eventually(t, "the command runs", func() bool { return len(processesWith(mark)) >= 3 })
		if err := kernel.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = kernel.Wait()
		eventually(t, string(kind)+": the command and all of it is gone", func() bool { return len(processesWith(mark)) == 0 })
	}
}

// TestUnfenced checks that a command without namespaces gets only what it needs.
func TestUnfenced(t *testing.T) {
	for _, kind := range kinds(t) {
		if kind.Fenced() {
			continue
		}
		directory := resolved(t)
		t.Setenv("SOME_API_KEY", "sk-1")
		output, outcome := run(t, kind, sandbox.Command{Text: "env; pwd; echo x >~/x && echo y >a; ulimit -c", Directory: directory, Home: os.Getenv("HOME"), Writes: true})
		if outcome.Status != 0 || strings.Contains(output, "sk-1") || !strings.HasSuffix(output, directory+"\n0\n") {
			t.Errorf("%s: %s, %s", kind, outcome, output)
		}
		if kind == sandbox.Landlock {
			output, outcome = run(t, kind, sandbox.Command{Text: "cat a; cat " + quoted(os.Args[0]) + "; echo z >a", Directory: directory, Home: os.Getenv("HOME")})
			if outcome.Status == 0 || !strings.HasPrefix(output, "y\n") || !strings.Contains(output, "Permission denied") {
				t.Errorf("%s: %s, %.300q", kind, outcome, output)
			}
		}
		_, scratch, _ := strings.Cut(output, "HOME=")
		scratch, _, _ = strings.Cut(scratch, "\n")
		if _, err := os.Stat(scratch); scratch != "" && err == nil {
			t.Errorf("%s: %s is left", kind, scratch)
		}
	}
}

// TestLongCommand checks that a command may be longer than a pipe holds, up to what the system
// runs.
func TestLongCommand(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	text := "echo " + strings.Repeat("x", 100<<10) + " | wc -c"
	if output, outcome := run(t, kind, sandbox.Command{Text: text, Home: "/root"}); strings.TrimSpace(output) != "102401" {
		t.Errorf("%s, %.100q", outcome, output)
	}
	if _, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: strings.Repeat("x", 1<<20)}, nil, nil); err == nil || !strings.Contains(err.Error(), "argument list too long") {
		t.Errorf("a command that is too long for the system: %v", err)
	}
	if _, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: "echo \x00"}, nil, nil); err == nil {
		t.Error("a NUL byte went through")
	}
}

func BenchmarkTrue(b *testing.B) {
	kind := look(b)
	for b.Loop() {
		p, err := sandbox.Start(b.Context(), kind, sandbox.Command{Text: "true", Home: os.Getenv("HOME")}, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if outcome, err := p.Wait(); err != nil || outcome.Status != 0 {
			b.Fatal(outcome, err)
		}
	}
}

// BenchmarkPlain runs the same command without a fence.
func BenchmarkPlain(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
