package tool_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/cover"
	"org-agent/kernel/process"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// field is a project with keys, with text that is withheld, and with a repository. It returns the tools
// for commands there.
func field(t *testing.T) (r *tool.Registry, directory string) {
	t.Helper()
	kind, why := sandbox.Probe(t.Context())
	if !kind.Fenced() { // then a command is asked about, whatever it is
		if _, reach, err := reachUnder(t, kind); err != nil || !slices.ContainsFunc(reach, func(r protocol.Reach) bool { return r.Kind == protocol.ReachWrites && r.Path == "/" }) {
			t.Errorf("without a fence (%v) a command reaches only %v, %v", why, reach, err)
		}
		return nil, ""
	}
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt": "open larks\n", "plan.org": "* Open\nopen larks\n* Kept :NoAgent:\nhidden heron\n", "sub/.env": "KEY=hidden heron\n", "id_ed25519": "hidden heron\n",
		"sub/server": "-----BEGIN OPENSSH PRIVATE KEY-----\nhidden heron\n", ".aws/credentials": "hidden heron\n", "whole.ORG": "#+SETUPFILE: tags\nhidden heron\n", "tags": "#+filetags: crypt\n",
		"notes": "* Kept :@Private:\nhidden heron\n# Local Variables:\n# mode: org\n# End:\n", "old.org.rej": "* Kept :crypt:\nhidden heron\n", "node_modules/x/.env": "hidden heron\n", "x.org.gpg": "hidden heron\n",
		"testdata/key.pem": "-----BEGIN PRIVATE KEY-----\n", "ca.pem": "-----BEGIN CERTIFICATE-----\n",
	} {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"plan.org": "linked", "sub/.env": "also"} {
		if err := os.Link(filepath.Join(directory, from), filepath.Join(directory, to)); err != nil {
			t.Fatal(err)
		}
	}
	table := process.New(process.Config{Kind: func() sandbox.Kind { return kind }, Directory: t.TempDir(), Home: "/home/someone", Environment: os.Getenv, Cover: &cover.Finder{User: "/home/someone"}})
	t.Cleanup(table.Close)
	r, err = tool.BuiltIn(tool.Deps{Commands: table, Skills: func() *skillmd.Set { return &skillmd.Set{} }})
	if err != nil {
		t.Fatal(err)
	}
	return inConversation(r, "s"), directory
}

// reachUnder returns what a command reaches with this kind of a fence.
func reachUnder(t *testing.T, kind sandbox.Kind) (protocol.Object, []protocol.Reach, error) {
	t.Helper()
	return shop(t, kind).Reach(t.Context(), "exec", plain("command", "ls"))
}

// commit makes a repository of some files.
func commit(t *testing.T, directory string, names ...string) {
	t.Helper()
	for _, arguments := range [][]string{{"init", "-q"}, append([]string{"add", "-f"}, names...), {"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x"}} {
		command := exec.Command("git", arguments...)
		command.Dir = directory
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// shows reports whether a call would show what is covered otherwise.
func shows(reach []protocol.Reach) bool {
	return slices.ContainsFunc(reach, func(r protocol.Reach) bool { return r.Kind == protocol.ReachShows })
}

// TestCommandsSeeWhatModelsSee checks that no command reads what the tool read would ask about or not
// show, and that each reads the rest.
func TestCommandsSeeWhatModelsSee(t *testing.T) {
	r, directory := field(t)
	if r == nil {
		return
	}
	everything := `find . -type f -print0 | xargs -0 cat; cat .aws/*; grep -r heron .; tar c . | strings; cp plan.org /tmp/x; cat /tmp/x; ln plan.org /tmp/y; ls -a`
	for _, writes := range []bool{false, true} {
		command := everything
		if writes {
			command += `; mv plan.org p.txt; mv sub sub2; cat p.txt sub2/.env; ln linked z; cat z; echo x > plan.org; rm -f sub2/.env; mv sub2 sub; echo x >> id_ed25519; cat *`
		}
		text, reach, err := called(t, r, "exec", "command", command, "cwd", directory, "writes", writes)
		if err != nil || strings.Contains(text, "heron") || !strings.Contains(text, "open larks") || !strings.Contains(text, "plan.org (a part)") || shows(reach) {
			t.Errorf("writes %v: %v, %v\n%s", writes, reach, err, text)
		}
	}
	for name, want := range map[string]string{"plan.org": "hidden heron", "sub/.env": "hidden heron", "id_ed25519": "hidden heron\n"} {
		if text, err := os.ReadFile(filepath.Join(directory, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// TestSecretsAreShownByPermission checks that a command which needs a covered file says so, and that keys
// stay covered then.
func TestSecretsAreShownByPermission(t *testing.T) {
	r, directory := field(t)
	if r == nil {
		return
	}
	text, reach, err := called(t, r, "exec", "command", "cat sub/.env plan.org; cat id_ed25519 .aws/credentials | wc -c", "cwd", directory, "secrets", true)
	if err != nil || strings.Count(text, "hidden heron") != 2 || !strings.Contains(text, "\n0\n") || !shows(reach) {
		t.Errorf("%v %v\n%s", reach, err, text)
	}
	p, _, err := r.Preview(t.Context(), "exec", plain("command", "cat sub/.env", "cwd", directory, "secrets", true))
	if effects := fmt.Sprint(p.Effects); err != nil || !strings.Contains(effects, "it can also read what may hold keys") || !strings.Contains(effects, "sub/.env") {
		t.Errorf("%v, %v", effects, err)
	}
}

// TestHistoryIsCovered checks that a repository in which a covered file was committed is not read by a
// command that does not say so, and that one with git asks.
func TestHistoryIsCovered(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		holds bool
	}{{"nothing of it", []string{"a.txt"}, false}, {"keys of tests", []string{"a.txt", "testdata/key.pem", "ca.pem"}, false}, {"withheld text", []string{"a.txt", "plan.org"}, true}, {"keys", []string{"a.txt", "sub/.env"}, true}} {
		r, directory := field(t)
		if r == nil {
			return
		}
		commit(t, directory, c.files...)
		if c.holds { // what was committed once stays in the history
			command := exec.Command("git", "rm", "-q", "--cached", c.files[1])
			command.Dir = directory
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		text, reach, err := called(t, r, "exec", "command", "rm -rf .g*t/objects; mv .g*t x; cat .g*t/HEAD; gi''t log --oneline; find .g*t/objects -type f", "cwd", directory, "writes", c.holds)
		if err != nil || strings.Contains(text, "refs/heads") == c.holds || strings.Contains(text, "/objects/") == c.holds || shows(reach) {
			t.Errorf("%s: without saying so: %v, %v\n%s", c.name, reach, err, text)
		}
		text, reach, err = called(t, r, "exec", "command", "git -c safe.directory='*' log -p | cat", "cwd", directory)
		if err != nil || !strings.Contains(text, "open larks") || shows(reach) != c.holds {
			t.Errorf("%s: by git: %v, %v\n%s", c.name, reach, err, text)
		}
	}
}
