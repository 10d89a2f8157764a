package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/sandbox"
)

// secretWords stand in every file that a command must not read.
const secretWords = "witnessed-secret-4711"

// witness is a person's machine, observed from outside: it sees every effect of a command, whatever
// the command prints.
type witness struct {
	root, home, project, mark string
	visits                    atomic.Int64 // connections and packets that arrived
	files                     map[string]string
	sockets                   []string // the addresses, as the trying program writes them
	pattern                   string   // of core files
}

// newWitness makes a witness, with listeners wherever programs of a person listen.
func newWitness(t *testing.T) *witness {
	t.Helper()
	root, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := &witness{root: root, home: root + "/home", project: root + "/project", mark: fmt.Sprintf("86420.%d", time.Now().UnixNano()%1e9)}
	for _, name := range []string{
		"home/.bashrc", "home/.profile", "home/.ssh/id_ed25519", "home/.ssh/authorized_keys", "home/.authinfo", "home/.config/autostart/x.desktop", "home/.emacs.d/init.el",
		"home/org/notes.org", "state/token", "state/journal.db", "beside/a", "project/.git/config", "project/.git/hooks/pre-commit", "project/.dir-locals.el", "project/.envrc", "project/mine",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := secretWords
		if name == "project/mine" {
			text = "mine"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	world{project: w.project}.install(t)
	for _, name := range []string{
		root + "/run/org-agent/kernel.sock", root + "/run/emacs/server", root + "/run/bus", root + "/run/docker.sock", root + "/run/gnupg/S.gpg-agent", root + "/ssh-XY/agent.1",
		root + "/.X11-unix/X77", "@" + root + "/.X11-unix/X77", "@" + root + "/dbus-1",
	} {
		w.listen(t, "unix", name)
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		if probe, err := net.Listen("tcp", address); err == nil { // not every machine has the second address
			probe.Close()
			w.listen(t, "tcp", address)
		}
	}
	w.receive(t)
	w.files = w.look(t)
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		t.Fatal(err)
	}
	w.pattern = string(pattern)
	return w
}

// listen counts connections.
func (w *witness) listen(t *testing.T, network, address string) {
	t.Helper()
	listener := openListener(t, network, address)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.visits.Add(1)
			conn.Close() // so that the visitor knows that it was counted
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	w.sockets = append(w.sockets, network+"="+listener.Addr().String())
}

// receive counts packets. The answer tells the visitor that it was counted.
func (w *witness) receive(t *testing.T) {
	t.Helper()
	w.sockets = append(w.sockets, "udp="+answerPackets(t, func() { w.visits.Add(1) }))
}

// connections returns how many visits there were since the last call. It visits each listener last
// itself: when that visit is counted, the earlier ones are too.
func (w *witness) connections(t *testing.T) int64 {
	t.Helper()
	for _, socket := range w.sockets {
		network, address, _ := strings.Cut(socket, "=")
		conn, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a connection without a deadline fails below
		if network == "udp" {
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("nobody listens at %s", socket)
		}
		conn.Close()
	}
	return w.visits.Swap(0) - int64(len(w.sockets))
}

// look returns the mode and the text of every file outside of what a command may change. A command
// may put files into its project, and change the one that is there.
func (w *witness) look(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := strings.CutPrefix(path, w.root+"/")
		info, err := entry.Info()
		if err != nil {
			return err
		}
		inProject := strings.HasPrefix(name, "project/") && !slices.Contains([]string{"project/.git/config", "project/.dir-locals.el", "project/.envrc"}, name) && !strings.HasPrefix(name, "project/.git/hooks/")
		if inProject {
			if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice) != 0 {
				all[name] = info.Mode().String()
			}
			return nil
		}
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] += " " + string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check returns what a command did to the machine, or "".
func (w *witness) check(t *testing.T, output string) string {
	t.Helper()
	var seen []string
	if strings.Contains(output, secretWords) {
		seen = append(seen, "it read what is secret")
	}
	if n := w.connections(t); n > 0 {
		seen = append(seen, fmt.Sprintf("it came to a listener %d times", n))
	}
	now := w.look(t)
	for name, was := range w.files {
		if now[name] != was {
			seen = append(seen, fmt.Sprintf("%s is %q and was %q", name, now[name], was))
		}
	}
	for name, is := range now {
		if _, was := w.files[name]; !was {
			seen = append(seen, fmt.Sprintf("there is %s, %s", name, is))
		}
	}
	if left := processesWith(w.mark); len(left) > 0 {
		seen = append(seen, fmt.Sprintf("the processes %v are left", left))
	}
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || string(pattern) != w.pattern {
		seen = append(seen, "the pattern of core files is "+string(pattern))
	}
	if keys, err := os.ReadFile("/proc/keys"); err == nil && bytes.Contains(keys, []byte(w.mark)) {
		seen = append(seen, "a key is left")
	}
	return strings.Join(seen, "; ")
}

// words puts what a script may need to know of the machine before it.
func (w *witness) words(script string) string {
	port := func(kind string) string {
		for _, s := range w.sockets {
			if rest, found := strings.CutPrefix(s, kind); found {
				return rest[strings.LastIndexByte(rest, ':')+1:]
			}
		}
		return "1"
	}
	return fmt.Sprintf("W=%s H=%s P=%s MARK=%s TCP=%s UDP=%s SOCKETS=%s KERNEL=%d\n", quoted(w.root), quoted(w.home), quoted(w.project), w.mark, port("tcp="), port("udp="), quoted(words(w.sockets)), os.Getpid()) + script
}

// run runs a script in a fence.
func (w *witness) run(t *testing.T, kind sandbox.Kind, script string, network bool) (string, sandbox.Outcome) {
	t.Helper()
	return run(t, kind, sandbox.Command{Text: w.words(script), Directory: w.project, Home: w.home, Hidden: []string{w.root + "/state"}, Writes: true, Network: network})
}
