package config_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/config"
)

func TestFindPaths(t *testing.T) {
	user := t.TempDir()
	private := fmt.Sprintf("-%d", os.Getuid()) // the end of a directory below /tmp
	other := filepath.Join(user, "other")
	must(t, os.Mkdir(other, 0o755))
	must(t, os.Symlink(other, filepath.Join(user, "link")))
	named := func(home string) string {
		return fmt.Sprintf("org-agent-%x", sha256.Sum256([]byte(home)))[:len("org-agent-")+8]
	}
	base := map[string]string{"HOME": user, "XDG_RUNTIME_DIR": "/run/user/7"}
	with := func(pairs ...string) map[string]string {
		env := map[string]string{}
		for name, value := range base {
			env[name] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			env[pairs[i]] = pairs[i+1]
		}
		return env
	}
	for _, test := range []struct {
		flag             string
		env              map[string]string
		home, state, run string
	}{
		{"", base, user + "/.org-agent", user + "/.local/state/org-agent", "/run/user/7/org-agent"},
		{user + "/.org-agent/", base, user + "/.org-agent", user + "/.local/state/org-agent", "/run/user/7/org-agent"},
		{"~/.org-agent", base, user + "/.org-agent", user + "/.local/state/org-agent", "/run/user/7/org-agent"},
		{other, base, other, user + "/.local/state/" + named(other), "/run/user/7/" + named(other)},
		{user + "/link", base, other, user + "/.local/state/" + named(other), "/run/user/7/" + named(other)},
		{"", with("ORG_AGENT_HOME", other), other, user + "/.local/state/" + named(other), "/run/user/7/" + named(other)},
		{other, with("ORG_AGENT_HOME", "/elsewhere"), other, user + "/.local/state/" + named(other), "/run/user/7/" + named(other)},
		{"", with("XDG_STATE_HOME", "/state"), user + "/.org-agent", "/state/org-agent", "/run/user/7/org-agent"},
		{"", with("XDG_STATE_HOME", "relative"), user + "/.org-agent", user + "/.local/state/org-agent", "/run/user/7/org-agent"},
		{"", with("XDG_RUNTIME_DIR", ""), user + "/.org-agent", user + "/.local/state/org-agent", "/tmp/org-agent" + private},
		{"", with("XDG_RUNTIME_DIR", "relative"), user + "/.org-agent", user + "/.local/state/org-agent", "/tmp/org-agent" + private},
		{"", with("XDG_RUNTIME_DIR", "/"+strings.Repeat("x", 77)), user + "/.org-agent", user + "/.local/state/org-agent", "/" + strings.Repeat("x", 77) + "/org-agent"},
		{"", with("XDG_RUNTIME_DIR", "/"+strings.Repeat("x", 78)), user + "/.org-agent", user + "/.local/state/org-agent", "/tmp/org-agent" + private},
		{"/home", map[string]string{"XDG_STATE_HOME": "/state"}, "/home", "/state/" + named("/home"), "/tmp/" + named("/home") + private},
	} {
		p, err := config.FindPaths(test.flag, environment(test.env))
		if err != nil || p.Home != test.home || p.State != test.state || p.Run != test.run {
			t.Errorf("%q %v\n got %s %s %s, %v\nwant %s %s %s", test.flag, test.env, p.Home, p.State, p.Run, err, test.home, test.state, test.run)
		}
		if p.Socket != test.run+"/kernel.sock" || p.Journal != test.state+"/journal.db" || p.Config != test.home+"/config.org" {
			t.Errorf("%+v", p)
		}
	}
}

func TestNoHome(t *testing.T) {
	for _, test := range []struct {
		flag, want string
		env        map[string]string
	}{
		{"", "HOME is not set", nil},
		{"~/x", "HOME is not set", nil},
		{"", "HOME is not set", map[string]string{"HOME": "relative"}},
		{"/home", "no place for the journal: set HOME, or XDG_STATE_HOME", nil},
	} {
		_, err := config.FindPaths(test.flag, environment(test.env))
		wantError(t, err, test.want)
	}
}

func TestSourceIsNoHome(t *testing.T) {
	for module, refused := range map[string]bool{
		"// us\nmodule org-agent // here\n": true, "module \"org-agent\"": true,
		"module org-agent/x\n": false, "module example.org/org-agent\n": false, "": false,
	} {
		home := t.TempDir()
		must(t, put(home+"/go.mod", module))
		_, err := config.FindPaths(home, environment(map[string]string{"HOME": home}))
		if (err != nil) != refused {
			t.Errorf("%q: %v", module, err)
		}
		if refused {
			wantError(t, err, home, "is the source of org-agent, not a home", "--home or ORG_AGENT_HOME")
		}
	}
}

// TestSocketFits checks that the socket's path is absolute and short enough for the system in every
// environment.
func TestSocketFits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, err := config.FindPaths(rapid.StringMatching(`/[a-z/.]{0,150}`).Draw(r, "home"), environment(map[string]string{
			"HOME": "/nowhere", "XDG_RUNTIME_DIR": rapid.StringMatching(`/?[a-zé/]{0,150}`).Draw(r, "run"),
		}))
		if err != nil || len(p.Socket) > 100 || !filepath.IsAbs(p.Socket) {
			r.Fatalf("%q, %v", p.Socket, err)
		}
	})
}

// TestNameBeforeAndAfter checks that a home below a link has the same name before it is made and
// after.
func TestNameBeforeAndAfter(t *testing.T) {
	directory := t.TempDir()
	must(t, os.Mkdir(filepath.Join(directory, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(directory, "link")))
	env := environment(map[string]string{"HOME": filepath.Join(directory, "link"), "XDG_RUNTIME_DIR": directory})
	for _, home := range []string{"", filepath.Join(directory, "link", "a", "b")} {
		before, err := config.FindPaths(home, env)
		must(t, err)
		must(t, before.Ensure())
		if after, err := config.FindPaths(home, env); err != nil || after != before {
			t.Errorf("before %+v\nafter  %+v, %v", before, after, err)
		}
	}
}

// instance returns a new instance in a directory of its own.
func instance(t *testing.T) config.Paths {
	t.Helper()
	directory := t.TempDir()
	p, err := config.FindPaths(filepath.Join(directory, "home"), environment(map[string]string{
		"HOME": directory, "XDG_RUNTIME_DIR": filepath.Join(directory, "run"),
	}))
	must(t, err)
	return p
}

func TestEnsure(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	p := instance(t)
	for range 2 {
		must(t, p.Ensure())
		for path, mode := range map[string]os.FileMode{p.Home: 0o755, p.Sessions: 0o755, p.Skills: 0o755, p.State: 0o700, p.Run: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		if text, err := os.ReadFile(p.Config); err != nil || string(text) != starterText(t) {
			t.Errorf("config.org: %v", err)
		}
		must(t, os.Chmod(p.State, 0o755)) // it is closed again the second time
		must(t, os.Chmod(p.Run, 0o777))
	}
	must(t, os.WriteFile(p.Config, []byte("mine"), 0o644))
	must(t, os.Chmod(p.Home, 0o750))
	must(t, p.Ensure())
	if text, err := os.ReadFile(p.Config); err != nil || string(text) != "mine" {
		t.Errorf("config.org was written over: %q, %v", text, err)
	}
	if info, err := os.Stat(p.Home); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the home's mode was changed: %v, %v", info.Mode(), err)
	}
}

func TestEnsureRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(p config.Paths) error
		want  string
	}{
		"home is file":  {func(p config.Paths) error { return put(p.Home, "") }, "make it writable, or give another directory"},
		"state is file": {func(p config.Paths) error { return put(p.State, "") }, "set XDG_STATE_HOME"},
		"run is link": {func(p config.Paths) error {
			if err := os.MkdirAll(filepath.Dir(p.Run), 0o700); err != nil {
				return err
			}
			return os.Symlink(os.TempDir(), p.Run)
		}, "is a link, which could lead anywhere: remove it, or set XDG_RUNTIME_DIR"},
		"run is file":     {func(p config.Paths) error { return put(p.Run, "") }, "is not a directory: remove it"},
		"no place to run": {func(p config.Paths) error { return put(filepath.Dir(p.Run), "") }, "unset XDG_RUNTIME_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			p := instance(t)
			must(t, test.spoil(p))
			wantError(t, p.Ensure(), test.want)
		})
	}
}

// TestForeignDirectory checks that a directory of another user is refused: the root directory of
// the machine or, if the test runs as root, a directory that was given to another user.
func TestForeignDirectory(t *testing.T) {
	directory := "/"
	if os.Geteuid() == 0 {
		mine := t.TempDir()
		if err := os.Chown(mine, 65534, -1); !errors.Is(err, syscall.EINVAL) { // the root user of some containers has no other user
			must(t, err)
			directory = mine
		}
	}
	p := instance(t)
	p.State = directory
	wantError(t, p.Ensure(), "belongs to another user", "set XDG_STATE_HOME to a directory of your own")
}

// put writes a file below directories that it makes.
func put(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// TestKeeps checks that files of kernels are recognised by their place, for every instance.
func TestKeeps(t *testing.T) {
	user, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": user, "XDG_RUNTIME_DIR": filepath.Join(user, "run")}
	paths, err := config.FindPaths(filepath.Join(user, "other"), func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		paths.Token: true, paths.State: true, paths.Socket: true, filepath.Dir(paths.State): false, paths.Home: false, paths.Config: false,
		filepath.Join(user, ".local/state/org-agent/token"): true, filepath.Join(user, ".local/state/org-agent-0123abcd/journal.db"): true,
		filepath.Join(user, ".local/state/org-agent-mine"): false, filepath.Join(user, "run/org-agent/kernel.sock"): true, filepath.Join(user, "run/x"): false,
		paths.State + "-not": false,
	} {
		if got := paths.Keeps(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
