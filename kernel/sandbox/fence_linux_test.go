package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"org-agent/kernel/sandbox"
)

// world is a person's machine: what runs there, what lies there, and a directory with the program
// that tries to reach it.
type world struct {
	home, project string
	victim        string // an argument of a process
	attempts      []string
}

// newWorld makes a world in which a program outside of a fence reaches everything.
func newWorld(t *testing.T) world {
	t.Helper()
	root, err := os.MkdirTemp("", "w") // names of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := world{home: filepath.Join(root, "home"), project: filepath.Join(root, "project"), victim: "7654321." + filepath.Base(root)[1:]}
	file := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"home/.ssh/id_ed25519", "home/.authinfo", "home/org/notes.org", "state/token", "project-b/a"} {
		path := file(name)
		w.attempts = append(w.attempts, "read="+path, "append="+path)
		if filepath.Dir(path) != w.home { // it has a directory of its own with that name
			w.attempts = append(w.attempts, "write="+path, "list="+filepath.Dir(path))
		}
	}
	file("project/readable")
	for _, socket := range []string{
		filepath.Join(root, "run/org-agent/kernel.sock"), filepath.Join(root, "run/emacs/server"), filepath.Join(root, "run/bus"),
		filepath.Join(root, "ssh-XY/agent.1"), filepath.Join(root, ".X11-unix/X77"), filepath.Join(root, "home/.gnupg/S.gpg-agent"),
		"@" + root + "/.X11-unix/X77",
	} {
		listen(t, "unix", socket)
		w.attempts = append(w.attempts, "unix="+socket)
	}
	tcp := listen(t, "tcp", "127.0.0.1:0")
	w.attempts = append(w.attempts, "tcp="+tcp, "mptcp="+tcp, "udp="+answerPackets(t, func() {}))
	victim := exec.Command("/bin/bash", "-c", `while read -t 100; do :; done`, w.victim)
	input, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close(); _ = victim.Wait() })
	w.attempts = append(w.attempts, "signal="+w.victim, "trace="+w.victim, "memory="+w.victim)
	w.install(t)
	return w
}

// install puts the trying program into the project.
func (w world) install(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.project, "program"), text, 0o755); err != nil {
		t.Fatal(err)
	}
}

// listen returns the address of a listener, for which nobody waits.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	listener := openListener(t, network, address)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// openListener opens a listener. It makes the directory of a socket that is a file.
func openListener(t *testing.T, network, address string) net.Listener {
	t.Helper()
	if network == "unix" && address[0] != '@' {
		if err := os.MkdirAll(filepath.Dir(address), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// answerPackets answers every packet to the address that it returns, after a call of visit.
func answerPackets(t *testing.T, visit func()) (address string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 1); ; {
			_, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			visit()
			_, _ = conn.WriteTo(b, from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn.LocalAddr().String()
}

// outcomes returns the results of attempts, by the name of the attempt.
func outcomes(t *testing.T, output string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(output) {
		what, how, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found {
			t.Fatalf("the program that tries said %q", output)
		}
		all[what] = how
	}
	return all
}

func words(attempts []string) string {
	var all []string
	for _, a := range attempts {
		all = append(all, quoted(a))
	}
	return strings.Join(all, " ")
}

// each runs scripts one after the other, and says how each ended.
func each(scripts []string) string {
	var b strings.Builder
	for i, script := range scripts {
		fmt.Fprintf(&b, "bash -c %s\nstatus=$?; echo; echo %d status $status\n", quoted(script), i)
	}
	return b.String()
}

// TestFence checks that nothing of the person is reached from inside, and all of it from outside.
func TestFence(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWorld(t)
	inside, _ := run(t, kind, sandbox.Command{Text: "./program attempt " + words(w.attempts), Directory: w.project, Home: w.home})
	got := outcomes(t, inside)
	for _, a := range w.attempts {
		if got[a] == "done" || got[a] == "" || got[a] == "nobody knows how" {
			t.Errorf("inside, %s: %q", a, got[a])
		}
	}
	command := exec.Command(filepath.Join(w.project, "program"), append([]string{"attempt"}, w.attempts...)...)
	outside, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for a, how := range outcomes(t, string(outside)) {
		if how != "done" {
			t.Errorf("the test is worth nothing: outside, %s: %s", a, how)
		}
	}
}

// TestFenceWithNetwork checks that a command with the network reaches nothing of this machine either, and
// that its way out is answered by who started it.
func TestFenceWithNetwork(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWorld(t)
	inside, _ := run(t, kind, sandbox.Command{Text: "./program attempt " + words(w.attempts), Directory: w.project, Home: w.home, Network: true})
	for a, how := range outcomes(t, inside) {
		if how == "done" {
			t.Errorf("%s: %s", a, how)
		}
	}
	serve := func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("answered\n"))
			conn.Close()
		}
	}
	text := `host=${http_proxy#http://}; exec 3<>/dev/tcp/${host%:*}/${host#*:}; cat <&3`
	if out, _ := run(t, kind, sandbox.Command{Text: text, Directory: w.project, Home: w.home, Network: true, WayOut: serve}); !strings.Contains(out, "answered") {
		t.Errorf("the way out says %q", out)
	}
	if out, _ := run(t, kind, sandbox.Command{Text: `env | grep -i proxy; exec 3<>/dev/tcp/127.0.0.1/3128`, Directory: w.project, Home: w.home, WayOut: serve}); strings.Contains(out, "http_proxy") || !strings.Contains(out, "refused") {
		t.Errorf("without the network there is %q", out)
	}
}

// TestEscapes checks what programs try that want to leave such a fence.
func TestEscapes(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWorld(t)
	for _, name := range []string{".git/hooks/post-commit", ".git/config", ".dir-locals.el", ".git/HEAD"} {
		path := filepath.Join(w.project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	attempts := []string{
		"mount=/tmp", "mount=" + w.home, "unmount=" + w.home, "unmount=/tmp", "unmount=" + w.project, "unmount=/proc", "writable=/usr", "writable=/", "writable=/proc",
		"namespace=", "root=/tmp", "device=/tmp/disk", "device=" + w.project + "/disk",
		"write=/proc/sys/kernel/core_pattern", "write=/proc/sysrq-trigger", "write=/proc/sys/kernel/modprobe", "write=/proc/self/oom_score_adj",
		"write=/etc/x", "write=/usr/bin/x", "write=/x", "write=/dev/x", "write=/run/x", "write=/bin/bash", "append=/bin/bash",
		"read=/proc/1/environ", "read=/proc/1/fd/1", "read=/proc/1/root/etc/hostname", "write=/proc/1/mem", "list=/proc/1/cwd",
		"list=/run", "list=/sys", "list=/var/lib", "list=/boot", "list=/mnt", "list=/root/.ssh", "list=/home", "read=/etc/shadow", "read=/dev/sda", "read=/dev/mem",
		"append=" + w.project + "/.git/hooks/post-commit", "write=" + w.project + "/.git/hooks/pre-commit", "append=" + w.project + "/.git/config",
		"rename=" + w.project + "/.git", "rename=" + w.project + "/.git/hooks", "rename=" + w.project + "/.git/config", "append=" + w.project + "/.dir-locals.el",
		"rename=" + w.project + "/.dir-locals.el", "read=" + w.project + "/../home/.authinfo", "read=" + w.project + "/link",
	}
	if err := os.Symlink("../home/.authinfo", filepath.Join(w.project, "link")); err != nil {
		t.Fatal(err)
	}
	tried, _ := run(t, kind, sandbox.Command{Text: "./program attempt " + words(attempts), Directory: w.project, Home: w.home, Writes: true})
	for a, how := range outcomes(t, tried) {
		if how == "done" || how == "nobody knows how" {
			t.Errorf("%s: %s", a, how)
		}
	}
	scripts := []string{
		`[ "$(ls /proc | grep -c '^[0-9]')" -gt 6 ]`, // the warden, the shells and what they run
		`grep -qs . /proc/[0-9]*/environ | grep -a SECRET`,
		`grep -v '^CapEff:.0*$' /proc/self/status | grep CapEff`,
		`grep -v '^CapBnd:.0*$' /proc/self/status | grep CapBnd`,
		`grep '^NoNewPrivs:.0' /proc/self/status`,
		`[ "$(ulimit -c)" != 0 ]`, `sleep 0.1; [ "$(ulimit -d)" = unlimited ]`,
		`: >/dev/tty`,
		`ls -d /proc/*/root/` + w.home + `/.ssh`,
		`cd /proc/self/cwd/.. && ls home/.ssh`,
		`ls /.outside/etc`,
		`cat < /dev/stdin | grep .`,
		`env | grep -a 'EMACS\|SSH_\|DBUS\|DISPLAY\|TOKEN\|KEY'`,
		`echo x >&3`, `echo x >&4`, `ls -l /proc/self/fd >/tmp/fds; grep pipe /tmp/fds`,
	}
	output, outcome := run(t, kind, sandbox.Command{Text: each(scripts), Directory: w.project, Home: w.home, Writes: true})
	if strings.Count(output, "status ") != len(scripts) || outcome.Status != 0 {
		t.Fatalf("%s, %s", outcome, output)
	}
	for i, script := range scripts {
		if strings.Contains(output, fmt.Sprintf("\n%d status 0\n", i)) {
			t.Errorf("%s: it can: %s", script, output)
		}
	}
}

// TestGuards checks that a command can neither make nor change the files from which other programs
// take commands, that git works and shows nothing new, and that the directory is afterwards as it
// was.
func TestGuards(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	try := `
{ mv a b || echo evil >a/hooks/x || rm a/e; } && echo "could: a"
for name in .git/hooks .git/config .git/config.worktree .git/commondir .git/worktrees .git/modules .dir-locals.el .dir-locals-2.el .envrc; do
  { mkdir -p $name/x || echo evil >$name || echo evil >$name/x || rm -r $name || mv $name /tmp/elsewhere$RANDOM || ln -sfT /tmp/evil $name; } && echo "could: $name"
done
git status --short; echo new >new; git add -A && git -c user.name=a -c user.email=a@example.org commit -qm new && git log --format=%s`
	for name, c := range map[string]struct{ before, want string }{
		"nothing":    {"true", ""},
		"repository": {"git init -q . && rm -r .git/hooks .git/description", "new\n"},
		"worktree":   {"git init -q --bare b && git --git-dir=b worktree add --orphan -b w w 2>&1; mv b/worktrees .; echo 'gitdir: /nowhere' >.git", ""},
		"links":      {"git init -q . && mkdir -p a/hooks && rm -r .git/hooks && ln -s ../a/hooks .git/hooks && echo true >a/e && ln -s a/e .envrc && git add -A", "\nnew\n"},
		"taken":      {"git init -q . && echo '((nil))' >.dir-locals.el && echo true >.envrc && git add -A", "A  .dir-locals.el\nA  .envrc\nnew\n"},
	} {
		directory := resolved(t)
		before := exec.Command("bash", "-c", c.before)
		before.Dir = directory
		if output, err := before.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, output)
		}
		list := func() string {
			command := exec.Command("bash", "-c", "find . -not -path './.git/*' -o -path './.git/hooks*' -o -path './.git/config*' -o -path './.git/[cmw]*' | grep -v 'COMMIT\\|^./new$' | sort; cat .git/config .envrc 2>/dev/null")
			command.Dir = directory
			output, err := command.CombinedOutput()
			if err != nil && len(output) == 0 {
				t.Fatal(err)
			}
			return string(output)
		}
		was := list()
		output, _ := run(t, kind, sandbox.Command{Text: "{" + try + "\n} 2>/tmp/complaints; cat /tmp/complaints >&2", Directory: directory, Home: "/root", Writes: true})
		if strings.Contains(output, "could") || !strings.Contains(output, c.want) {
			t.Errorf("%s: %s", name, output)
		}
		if now := list(); now != was {
			t.Errorf("%s: there was\n%sand is\n%s", name, was, now)
		}
	}
}

// TestGuardsShared checks that the placeholders of a directory exist as long as a command needs
// them, and that those of a killed kernel are removed by the next.
func TestGuardsShared(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	start := func() *sandbox.Process {
		p, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: "sleep 100", Directory: directory, Home: "/root", Writes: true}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	end := func(p *sandbox.Process) {
		p.Kill()
		_, _ = p.Wait() // it was killed
	}
	there := func() bool { _, err := os.Lstat(filepath.Join(directory, ".envrc")); return err == nil }
	first, second := start(), start()
	another := func() { run(t, kind, sandbox.Command{Text: "true", Directory: directory, Home: "/root", Writes: true}) }
	end(first)
	if another(); !there() {
		t.Error("what guards the second command went with the first")
	}
	end(second)
	if there() {
		t.Error("it is left behind")
	}
	if err := os.Mkdir(filepath.Join(directory, ".envrc"), 0o500); err != nil {
		t.Fatal(err)
	}
	if another(); !there() {
		t.Error("a directory of the person's was taken away")
	}
	if err := os.Chmod(filepath.Join(directory, ".envrc"), os.ModeSticky|0o500); err != nil { // as one that was left
		t.Fatal(err)
	}
	if another(); there() {
		t.Error("what was left is not taken away")
	}
}

// TestEnvironment checks that the environment of a command contains what it needs, and nothing of
// the caller's.
func TestEnvironment(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	given := map[string]string{
		"PATH": "/usr/bin:.:relative::/bin", "LANG": "C.UTF-8", "TZ": "UTC", "OPENAI_API_KEY": "sk-1", "SSH_AUTH_SOCK": "/a", "DBUS_SESSION_BUS_ADDRESS": "b",
		"DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "EMACS_SOCKET_NAME": "e", "INSIDE_EMACS": "i", "BASH_ENV": "/x", "ENV": "/x", "LD_PRELOAD": "/x.so", "HOME": "/root",
		"BASH_FUNC_ls%%": "() { echo x; }", "XDG_RUNTIME_DIR": "/run/user/0", "GIT_SSH_COMMAND": "x", "PS4": "$(id)", "SHELLOPTS": "xtrace",
	}
	output, _ := run(t, kind, sandbox.Command{Text: "env | sort; pwd; ls -A", Home: "/home/someone", Environment: func(name string) string { return given[name] }})
	want := "GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 HOME=/home/someone LANG=C.UTF-8 LOGNAME= PAGER=cat PATH=/usr/bin:/bin PWD=/home/someone SHELL=/bin/sh SHLVL= TERM=dumb TMPDIR=/tmp TZ=UTC USER= _= /home/someone"
	var got []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, "=")
		if name == "LOGNAME" || name == "USER" || name == "_" || name == "SHLVL" {
			line = name + "="
		}
		got = append(got, line)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("it is %s\nand not %s", strings.Join(got, " "), want)
	}
}

// TestGranted checks that what is granted is there, no more than that, and nothing of it
// afterwards.
func TestGranted(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	project := resolved(t)
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	type command struct {
		text, output string
		status       int
	}
	try := func(writes bool, commands ...command) {
		var scripts []string
		want := ""
		for i, c := range commands {
			scripts = append(scripts, "{ "+c.text+"\n} 2>/tmp/complaint")
			want += fmt.Sprintf("%s\n%d status %d\n", c.output, i, c.status)
		}
		output, outcome := run(t, kind, sandbox.Command{Text: each(scripts), Directory: project, Home: "/root", Writes: writes})
		if output != want {
			t.Errorf("%s: it wrote\n%s\nand not\n%s", outcome, output, want)
		}
	}
	try(false,
		command{"ls -A ~ && cat a", "one\n", 0},
		command{"(echo two >a)", "", 1},
		command{"touch b; mkdir c; rm a; ls", "a\n", 0},
		command{"echo x >$HOME/x && echo y >/tmp/y && echo z >/var/tmp/z && cat ~/x /tmp/y /tmp/z", "x\ny\nz\n", 0},
		command{"echo x >/dev/null && head -c2 /dev/urandom | wc -c && mktemp >/dev/null", "2\n", 0},
		command{"cat <(echo substituted)", "substituted\n", 0},
		command{"exit 42", "", 42},
		command{"cat", "", 0}, // there is no input
		command{"(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -o refused | head -1", "refused\n", 0},
	)
	try(true, command{"ls -A ~ && echo two >>a && cat a && mkdir -p d/e && mv a d/e/a && mv d/e/a a", "one\ntwo\n", 0})
	if text, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("in the directory stands %q, %v", text, err)
	}
}

// TestShown checks that shown directories can be read and not changed, without credentials, also in
// the empty home, and that a directory which must not be granted is not shown.
func TestShown(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	home := resolved(t)
	for _, name := range []string{"tools/bin/hello", "tools/credentials.toml", "state/token", "other/a"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho secret\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	output, outcome := run(t, kind, sandbox.Command{
		Text: "~/tools/bin/hello; cat ~/tools/credentials.toml; touch ~/tools/x ~/tools/bin/x 2>/dev/null; ls -A ~ ~/tools; cat ~/state/token", Home: home,
		Hidden: []string{filepath.Join(home, "state")},
		Shown:  []string{filepath.Join(home, "tools"), filepath.Join(home, "state"), home, "/", filepath.Join(home, "gone"), "relative"},
	})
	if want := "secret\n" + home + ":\ntools\n\n" + home + "/tools:\nbin\ncredentials.toml\ncat: "; !strings.HasPrefix(output, want) || outcome.Status != 1 {
		t.Errorf("%s: it wrote %q and not %q", outcome, output, want)
	}
}

// TestMemory checks that the memory of all processes together is bounded, and not only that of
// each.
func TestMemory(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	text := `for i in 1 2 3 4 5 6; do { x=$(head -c 20000000 /dev/zero | tr '\0' x); sleep 20; : $x; } & done; wait`
	p, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: text, Home: "/root", Memory: 100 << 20}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := p.Wait(); err == nil || !strings.Contains(err.Error(), "more than 100 MB of memory together") {
		t.Errorf("%s, %v", outcome, err)
	}
	text = `x=$(head -c 20000000 /dev/zero | tr '\0' x); for i in 1 2 3 4 5 6 7 8; do sleep 0.6 & done; (sleep 0.6; :) & (sleep 0.6; :) & (sleep 0.6; :) & (sleep 0.6; :) & wait; echo whole`
	if output, outcome := run(t, kind, sandbox.Command{Text: text, Home: "/root", Memory: 100 << 20}); output != "whole\n" {
		t.Errorf("what is shared counts more than once: %s, %s", outcome, output)
	}
}

// TestRefused checks that a directory is not granted if it contains something hidden, or lies in
// it.
func TestRefused(t *testing.T) {
	root := resolved(t)
	c := sandbox.Command{Text: "true", Home: filepath.Join(root, "home"), Hidden: []string{filepath.Join(root, "home/.org-agent/config.org"), filepath.Join(root, "state")}}
	for directory, refused := range map[string]bool{
		"": false, root: true, "/": true, c.Home: true, filepath.Join(root, "state"): true, filepath.Join(root, "state/org-agent"): true,
		filepath.Join(root, "home/.org-agent"): true, filepath.Join(root, "home/.org-agent/memory"): false, filepath.Join(root, "home/project"): false,
		filepath.Join(root, "stately"): false, "relative": true, root + "/a/../state": true, "/proc/self/cwd": true, "/dev": true, "/run/user": true,
	} {
		c.Directory = directory
		if err := c.Check(); (err != nil) != refused {
			t.Errorf("%q: %v", directory, err)
		}
	}
	c.Directory = filepath.Join(root, "gone")
	if kind := look(t); kind.Fenced() {
		if _, err := sandbox.Start(t.Context(), kind, c, nil, nil); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("a directory that is not there: %v", err)
		}
		if err := os.Symlink("/etc", c.Directory); err != nil {
			t.Fatal(err)
		}
		if _, err := sandbox.Start(t.Context(), kind, c, nil, nil); err == nil {
			t.Error("a link took the directory's place, and was followed")
		}
	}
}

// TestAsOrdinaryUser runs the tests of the fence again as a user who is not root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // an ordinary user runs them directly
	}
	const nobody = 65534
	directory, err := os.MkdirTemp("", "u")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	if err := os.Chmod(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	w := world{project: directory}
	w.install(t)
	command := exec.CommandContext(t.Context(), filepath.Join(directory, "program"), "-test.run", "^(TestFence|TestEscapes|TestGuards|TestGranted|TestKilledKernel|TestNoEscape|TestFilteredCalls)$", "-test.v")
	command.Dir, command.Env = directory, []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + directory, "HOME=" + directory}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := command.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		return // a root that cannot become another user, as in some containers
	}
	if err != nil || strings.Contains(string(output), "no tests to run") {
		t.Errorf("as an ordinary user: %v\n%s", err, output)
	}
}

func TestKinds(t *testing.T) {
	for kind, fenced := range map[sandbox.Kind]bool{sandbox.Whole: true, sandbox.Namespaces: true, sandbox.Landlock: false, sandbox.None: false, "": false} {
		if kind.Fenced() != fenced {
			t.Error(fmt.Sprint(kind))
		}
	}
}
