package sandbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"org-agent/kernel/sandbox"
)

// armed makes a repository in which git runs CANARY, and a file that direnv would run.
const armed = `git init -q sub; git -C sub config core.fsmonitor CANARY; printf '#!/bin/sh\nCANARY\n' >sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit; mkdir deep; echo evil >deep/.envrc; `

// trap is a program that leaves a trace when it runs, in a home of its own.
type trap struct{ program, trace string }

func newTrap(t *testing.T) trap {
	t.Helper()
	home := resolved(t)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@example.org\n[init]\n\tdefaultBranch = master\n", 0o644)
	c := trap{filepath.Join(home, "canary"), filepath.Join(home, "ran")}
	write(t, c.program, "#!/bin/sh\ntouch "+c.trace+"\n", 0o755)
	return c
}

// fill replaces CANARY by the path of the program.
func (c trap) fill(text string) string { return strings.ReplaceAll(text, canary, c.program) }

// springs reports whether the program runs when the person uses git in a directory, and resets the
// trap.
func (c trap) springs(t *testing.T, directory string) bool {
	t.Helper()
	person(t, directory, "git status; git commit --allow-empty -m x")
	err := os.Remove(c.trace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestRecover checks that after a kernel was killed during a command, the next one scans what the
// command made, and removes the placeholders.
func TestRecover(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	trap := newTrap(t)
	directory, note := resolved(t), filepath.Join(t.TempDir(), "note")
	at := func(name string) string { return filepath.Join(directory, name) }
	kernel := startToBeKilled(t, kind, "echo ready; until [ -e go ]; do sleep 0.01; done; rm go; "+trap.fill(armed)+"touch made; sleep 1000", directory, note)
	if err := kernel.Process.Signal(syscall.SIGSTOP); err != nil { // it scans nothing from here on
		t.Fatal(err)
	}
	write(t, at("go"), "", 0o600)
	eventually(t, "it is made", func() bool { return os.Remove(at("made")) == nil })
	if err := kernel.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = kernel.Wait()
	for _, name := range []string{".git", ".envrc", ".dir-locals.el", "HEAD"} {
		if _, err := os.Lstat(at(name)); err != nil {
			t.Errorf("the test shows nothing: %v", err)
		}
	}
	if !trap.springs(t, at("sub")) {
		t.Error("the test shows nothing: git runs nothing of what is left")
	}
	in, got, err := sandbox.Recover(note)
	if err != nil || in != directory {
		t.Fatal(in, err)
	}
	want := sandbox.Left{Repositories: []string{at("sub/.git")}, Startup: []string{at("deep/.envrc")}, Aside: []string{at("sub/.git/config.set-aside"), at("sub/.git/hooks.set-aside")}}
	if !slices.Equal(got.Repositories, want.Repositories) || !slices.Equal(got.Startup, want.Startup) || !slices.Equal(got.Aside, want.Aside) || got.Unseen {
		t.Errorf("%+v", got)
	}
	if trap.springs(t, at("sub")) {
		t.Error("git runs what was made")
	}
	entries, err := os.ReadDir(directory)
	if err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
	if _, _, err := sandbox.Recover(note); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v", err)
	}
}

// TestRecoverAfterLateEnd checks that Recover waits for the locks of the placeholders. A process of
// the command that ends later than the warden still holds them.
func TestRecoverAfterLateEnd(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory, note := resolved(t), filepath.Join(t.TempDir(), "note")
	kernel := startToBeKilled(t, kind, "echo ready; sleep 1000", directory, note)
	late, err := os.Open(filepath.Join(directory, ".envrc"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(late.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if err := kernel.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = kernel.Wait()
	ended := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		ended <- late.Close()
	}()
	_, _, err = sandbox.Recover(note)
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 0 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// TestBrokenNote checks that an incomplete note belongs to a command that did not begin.
func TestBrokenNote(t *testing.T) {
	for _, text := range []string{"", `{"Warden":"1 2 3","View":{"Direc`, "/some/directory", "null", "{}"} {
		note := filepath.Join(t.TempDir(), "note")
		write(t, note, text, 0o600)
		if directory, left, err := sandbox.Recover(note); directory != "" || !left.Empty() || err != nil {
			t.Errorf("%q: %q, %+v, %v", text, directory, left, err)
		}
		if _, err := os.Lstat(note); err == nil {
			t.Errorf("%q: the note is still there", text)
		}
	}
}

// TestWhileItRuns checks that the person's git runs nothing that a running command made, also if
// the command makes it again. The steps of its own rebase stay.
func TestWhileItRuns(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	trap := newTrap(t)
	directory := resolved(t)
	at := func(name string) string { return filepath.Join(directory, name) }
	bash(t, directory, `git init -q . && git commit -q --allow-empty -m x && git commit -q --allow-empty -m y`)
	found := make(chan sandbox.Left, 100)
	note := filepath.Join(t.TempDir(), "note")
	p, err := sandbox.Start(t.Context(), kind, sandbox.Command{
		Text: trap.fill(armed + `GIT_SEQUENCE_EDITOR='printf "break\nexec CANARY\n" >' git -c user.name=a -c user.email=a@example.org rebase -q -i HEAD~1
until [ -e sub/.git/config.set-aside ]; do sleep 0.05; done; mv sub/.git/config.set-aside sub/.git/config; touch again; sleep 1000`),
		Directory: directory, Home: "/root", Writes: true, Environment: os.Getenv, Note: note, Found: func(left sandbox.Left) { found <- left },
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sandbox.Left
	for len(all.Aside) < 2 || len(all.Steps) == 0 || len(all.Startup) == 0 {
		left := <-found
		if fresh := left.Without(all); fresh.Empty() {
			t.Errorf("found again: %+v", left)
		}
		all = all.With(left)
	}
	steps := at(".git/rebase-merge")
	if want := []string{steps}; !slices.Equal(all.Steps, want) || !slices.Equal(all.Startup, []string{at("deep/.envrc")}) || all.Unseen {
		t.Errorf("%+v", all)
	}
	eventually(t, "what the command made again is put aside", func() bool {
		text, err := os.ReadFile(at("sub/.git/config"))
		_, again := os.Lstat(at("again"))
		return err == nil && again == nil && !strings.Contains(string(text), trap.program)
	})
	if trap.springs(t, at("sub")) {
		t.Error("git runs what was made")
	}
	if _, err := os.Lstat(steps); err != nil {
		t.Errorf("the steps are put aside while the command runs: %v", err)
	}
	if _, _, err := sandbox.Recover(note); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("recovered while it runs: %v", err)
	}
	p.Kill()
	_, _ = p.Wait() // it was killed
	if left := p.Left(); !slices.Contains(left.Aside, steps+".set-aside") || !slices.Contains(left.Aside, at("sub/.git/hooks.set-aside")) || left.Steps != nil {
		t.Errorf("%+v", left)
	}
	if _, err := os.Lstat(note); err == nil {
		t.Error("the note is still there")
	}
}

// TestWardenKilledWhilePlacing: nothing stays in a directory whose warden is killed while it puts placeholders there,
// whichever of them it was at.
func TestWardenKilledWhilePlacing(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	for _, name := range []string{".hg", ".jj/repo"} { // the placeholders in them are files with a text
		if err := os.MkdirAll(filepath.Join(directory, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	number, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	events := os.NewFile(uintptr(number), "inotify")
	defer events.Close()
	for _, name := range []string{"", ".hg", ".jj/repo"} {
		if _, err := unix.InotifyAddWatch(number, filepath.Join(directory, name), unix.IN_CREATE); err != nil {
			t.Fatal(err)
		}
	}
	killed := 0
	for round := range 60 {
		if err := events.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		var killing sync.WaitGroup
		killing.Go(func() { killWarden(events, round%8) })
		p, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: "true", Home: "/root", Directory: directory, Writes: true, Environment: os.Getenv}, nil, nil)
		if err == nil {
			_, _ = p.Wait()
		} else {
			killed++
		}
		if err := events.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		killing.Wait()
		var left []string
		if err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
			if path != directory && !slices.Contains([]string{".hg", ".jj", "repo"}, entry.Name()) {
				left = append(left, path)
			}
			return err
		}); err != nil || len(left) > 0 {
			t.Fatalf("round %d left %q, %v", round, left, err)
		}
	}
	t.Logf("%d wardens were killed before they began", killed)
	if killed == 0 {
		t.Error("the test shows nothing")
	}
}

// killWarden kills the warden that this program starts as soon as it has made a number of files.
func killWarden(events *os.File, files int) {
	warden := -1
	for began := time.Now(); warden < 0 && time.Since(began) < time.Second; {
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list) // a thread may have ended
			for _, pid := range strings.Fields(string(text)) {
				if line, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && strings.HasSuffix(string(line), "\x00sandbox\x00") {
					warden, _ = strconv.Atoi(pid)
				}
			}
		}
	}
	event := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1)
	for range files {
		if _, err := events.Read(event); err != nil {
			return
		}
	}
	if warden > 0 {
		_ = unix.Kill(warden, unix.SIGKILL)
	}
}
