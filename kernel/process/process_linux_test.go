package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/process"
	"org-agent/kernel/sandbox"
)

// The test binary is also the warden of its commands, and a kernel that will be killed.
func TestMain(m *testing.M) {
	sandbox.Main()
	if len(os.Args) == 3 && os.Args[1] == "fetch" {
		fmt.Println(get(os.Args[2]))
		return
	}
	if len(os.Args) > 5 && os.Args[1] == "doomed" {
		os.Exit(runUntilKilled(os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
	}
	goleak.VerifyTestMain(m)
}

// newTable returns a table with the best fence of this system, and its directory.
func newTable(t *testing.T) (*process.Table, string) {
	t.Helper()
	kind, _ := sandbox.Probe(t.Context())
	directory := filepath.Join(t.TempDir(), "output")
	table := process.New(process.Config{Kind: func() sandbox.Kind { return kind }, Directory: directory, Home: os.Getenv("HOME"), Environment: os.Getenv})
	t.Cleanup(table.Close)
	return table, directory
}

// wrote returns all output of a command of a conversation.
func wrote(t *testing.T, table *process.Table, session, id string) string {
	t.Helper()
	b := make([]byte, 1<<20)
	n, _, err := table.Output(session, id, 0, b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestRun(t *testing.T) {
	table, _ := newTable(t)
	for _, c := range []struct {
		command string
		most    time.Duration
		state   string
		output  string
	}{
		{"echo one; echo two >&2", time.Minute, "exit status 0 after ", "one\ntwo\n"},
		{"exit 7", time.Minute, "exit status 7 after ", ""},
		{"kill -KILL $$", time.Minute, "it was ended by SIGKILL after ", ""},
		{"echo first; sleep 100", 3 * time.Second, "stopped after ", "first\n"},
		{"trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done", 3 * time.Second, "as it had 3s", "bye\n"},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			r, err := table.Run(t.Context(), process.Request{Session: "main", Command: c.command}, c.most)
			if err != nil || r.Running || !strings.Contains(r.State(), c.state) {
				t.Errorf("%q, %v", r.State(), err)
			}
			if got := wrote(t, table, "main", r.ID); !strings.HasSuffix(got, c.output) {
				t.Errorf("it wrote %q", got)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	if _, err := table.Run(ctx, process.Request{Command: "trap '' TERM; sleep 100 & sleep 100"}, time.Minute); !errors.Is(err, context.Canceled) || time.Since(began) > 50*time.Second {
		t.Errorf("stopped with its turn: %v after %s", err, time.Since(began))
	}
}

// TestMuchOutput checks that output beyond the limit does not stop a command, and is reported.
func TestMuchOutput(t *testing.T) {
	table, directory := newTable(t)
	r, err := table.Run(t.Context(), process.Request{Session: "main", Command: "head -c 70000000 /dev/zero; echo end"}, time.Minute)
	if err != nil || r.Bytes != 70000004 || r.Stored != 64<<20 || r.Outcome.Status != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	files, err := os.ReadDir(directory)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := files[0].Info(); err != nil || info.Size() != 64<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestTalk checks that a command that keeps running can be written to, read and stopped.
func TestTalk(t *testing.T) {
	table, _ := newTable(t)
	for _, terminal := range []bool{false, true} {
		r, err := table.Start(t.Context(), process.Request{Session: "main", Terminal: terminal,
			Command: `test -t 0 && echo a terminal; while read -r line; do echo "got $line"; done; echo over`})
		if err != nil || !r.Running {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := table.Write(t.Context(), "main", r.ID, "one\n", false); err != nil {
			t.Fatal(err)
		}
		until(t, "it answers", func() bool { return strings.Contains(wrote(t, table, "main", r.ID), "got one") })
		if got := strings.Contains(wrote(t, table, "main", r.ID), "a terminal"); got != terminal {
			t.Errorf("it has a terminal: %v", got)
		}
		end := "two\n"
		if terminal {
			end += "\x04"
		}
		if _, err := table.Write(t.Context(), "main", r.ID, end, true); err != nil {
			t.Fatal(err)
		}
		until(t, "it ends", func() bool { r, err := table.Find("main", r.ID); return err == nil && !r.Running })
		if got := wrote(t, table, "main", r.ID); !strings.Contains(got, "got two") || !strings.Contains(got, "over") {
			t.Errorf("it wrote %q", got)
		}
		if _, err := table.Write(t.Context(), "main", r.ID, "more\n", false); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("to one that has ended: %v", err)
		}
	}
}

// TestStop checks that a command that does not end is killed with all that it started, and that
// writing to a command that does not read returns in time.
func TestStop(t *testing.T) {
	table, _ := newTable(t)
	r, err := table.Start(t.Context(), process.Request{Session: "main", Command: "trap '' TERM; echo x; while :; do sleep 0.1; done"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := table.Write(ctx, "main", r.ID, strings.Repeat("x", 1<<20), false); err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("to one that does not read: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if r, err = table.Stop(ctx, "main", r.ID); err != nil || r.Running || !strings.Contains(r.State(), "as it was told to") {
		t.Errorf("%+v, %v", r, err)
	}
	if again, err := table.Stop(t.Context(), "main", r.ID); err != nil || again.State() != r.State() {
		t.Errorf("stopped twice: %+v, %v", again, err)
	}
}

// TestOwn checks that a conversation knows only its own commands, and their output after a restart
// of the kernel, and that too many commands at once are refused.
func TestOwn(t *testing.T) {
	table, directory := newTable(t)
	first, err := table.Run(t.Context(), process.Request{Session: "main", Command: "echo mine"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	for _, id := range []string{first.ID, "run-00000000", "", "../token", "run-0000000/", first.ID + "/"} {
		if _, _, err := table.Output("other", id, 0, b); !errors.Is(err, process.ErrUnknown) {
			t.Errorf("another conversation reads %q: %v", id, err)
		}
		if _, err := table.Stop(t.Context(), "other", id); !errors.Is(err, process.ErrUnknown) {
			t.Errorf("another conversation stops %q: %v", id, err)
		}
	}
	if len(table.List("other")) != 0 || len(table.List("main")) != 1 {
		t.Error("the list has what it should not, or not what it should")
	}
	for _, from := range []int64{-1, 6, 1 << 62} {
		if _, _, err := table.Output("main", first.ID, from, b); err == nil {
			t.Errorf("it is read from %d on", from)
		}
	}
	var all sync.WaitGroup
	refused := make(chan error, 17)
	for range 17 {
		all.Go(func() {
			if _, err := table.Start(t.Context(), process.Request{Session: "main", Command: "sleep 1000"}); err != nil {
				refused <- err
			}
		})
	}
	all.Wait()
	if table.Running() != 16 || len(refused) != 1 || !strings.Contains((<-refused).Error(), "stop one") {
		t.Errorf("%d run, %d were refused", table.Running(), len(refused))
	}
	table.Close()
	if table.Running() != 0 {
		t.Error("some run on")
	}
	old := filepath.Join(directory, "old")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-8*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := process.New(process.Config{Kind: func() sandbox.Kind { return sandbox.None }, Directory: directory})
	defer again.Close()
	again.Prune()
	if got := wrote(t, again, "main", first.ID); got != "mine\n" {
		t.Errorf("afterwards it wrote %q", got)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("what is old is kept")
	}
}

func ExampleReport_State() {
	fmt.Println(process.Report{Outcome: sandbox.Outcome{Status: 2}, Took: 1234 * time.Millisecond}.State())
	fmt.Println(process.Report{Outcome: sandbox.Outcome{Signal: "SIGSEGV"}, Took: time.Second}.State())
	fmt.Println(process.Report{Running: true, Took: 90 * time.Second}.State())
	// Output:
	// exit status 2 after 1.23s
	// it was ended by SIGSEGV after 1s
	// running for 1m30s
}

// TestLeftGuards checks that the placeholders in the directory of a command are removed when it has
// ended.
func TestLeftGuards(t *testing.T) {
	table, _ := newTable(t)
	if !table.Kind().Fenced() {
		return // without a fence nothing is put there
	}
	project := resolved(t)
	r, err := table.Run(t.Context(), process.Request{Command: "ls -A", Directory: project, Writes: true}, time.Minute)
	if err != nil || !strings.Contains(wrote(t, table, "", r.ID), ".envrc\n") || len(names(t, project)) != 0 {
		t.Errorf("%v, %v: what it saw is %q, what is left %v", r, err, wrote(t, table, "", r.ID), names(t, project))
	}
}

func resolved(t *testing.T) string {
	t.Helper()
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// runUntilKilled runs a command as a kernel does that will be killed.
func runUntilKilled(kind, output, project, command string) int {
	table := process.New(process.Config{Kind: func() sandbox.Kind { return sandbox.Kind(kind) }, Directory: output, Home: "/root", Environment: os.Getenv})
	if _, err := table.Run(context.Background(), process.Request{Command: command, Directory: project, Writes: true}, time.Hour); err != nil {
		fmt.Println(err)
	}
	return 1
}

// TestRecover checks that the placeholders of a command are removed as soon as its kernel is killed, and not
// only when the next kernel starts. That kernel scans what the command left, and warns the person once.
func TestRecover(t *testing.T) {
	first, directory := newTable(t)
	kind := first.Kind()
	if !kind.Fenced() {
		return
	}
	project := resolved(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	kernel := exec.Command(program, "doomed", string(kind), directory, project, "mkdir sub; echo evil >sub/.envrc; touch ready; sleep 1000")
	if err := kernel.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the command runs", func() bool { return os.Remove(filepath.Join(project, "ready")) == nil })
	if !slices.Contains(names(t, project), ".git") {
		t.Errorf("the test shows nothing: there is %v", names(t, project))
	}
	if err := kernel.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = kernel.Wait()
	until(t, "the placeholders are removed", func() bool { return slices.Equal(names(t, project), []string{"sub"}) })
	if len(names(t, directory)) != 2 {
		t.Errorf("of notes there is left %v", names(t, directory))
	}
	var warned []string
	table := process.New(process.Config{Kind: func() sandbox.Kind { return kind }, Directory: directory,
		Warn: func(in, text string) { warned = append(warned, in+": "+text) }})
	defer table.Close()
	for range 2 {
		if err := table.Recover(); err != nil {
			t.Error(err)
		}
	}
	if len(warned) != 1 || !strings.HasPrefix(warned[0], project+": The kernel was killed while") || !strings.Contains(warned[0], filepath.Join(project, "sub/.envrc")) {
		t.Errorf("the person is told %q", warned)
	}
	if !slices.Equal(names(t, project), []string{"sub"}) || len(names(t, directory)) != 1 {
		t.Errorf("there is left %v, and of notes %v", names(t, project), names(t, directory))
	}
}

// TestWarned checks that the person is warned of each thing once, whether the command runs or has
// ended.
func TestWarned(t *testing.T) {
	kind, _ := sandbox.Probe(t.Context())
	if !kind.Fenced() {
		return
	}
	project := resolved(t)
	warnings := make(chan string, 10)
	table := process.New(process.Config{Kind: func() sandbox.Kind { return kind }, Directory: filepath.Join(t.TempDir(), "output"), Home: "/root", Environment: os.Getenv,
		Warn: func(_, text string) { warnings <- text }})
	defer table.Close()
	r, err := table.Start(t.Context(), process.Request{Command: "mkdir a b; echo evil >a/.envrc; read -r line; echo evil >b/.envrc", Directory: project, Writes: true})
	if err != nil {
		t.Fatal(err)
	}
	if text := <-warnings; !strings.Contains(text, "that runs in "+project) || !strings.Contains(text, "a/.envrc") {
		t.Errorf("while it runs: %s", text)
	}
	if _, err := table.Write(t.Context(), "", r.ID, "\n", true); err != nil {
		t.Fatal(err)
	}
	if text := <-warnings; !strings.Contains(text, "has ended") && !strings.Contains(text, "that runs") || !strings.Contains(text, "b/.envrc") || strings.Contains(text, "a/.envrc") {
		t.Errorf("afterwards: %s", text)
	}
	table.Close()
	if r, err := table.Find("", r.ID); err != nil || len(r.Left.Startup) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if len(warnings) > 0 {
		t.Errorf("told again: %s", <-warnings)
	}
}

func names(t *testing.T, directory string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
