package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/policy"
)

// TestProgramsElsewhere checks programs that obey the files of their directory, in a directory to which the
// command line leads them. A row about no directory is for the directory of the command line, and the repository
// around it, and a row about a directory is for that one.
func TestProgramsElsewhere(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, hostile := filepath.Join(root, "x"), filepath.Join(root, "hostile")
	for _, directory := range []string{"x/.git", "x/sub/deep", "x/vendor/other/.git", "x/bare/objects", "x/bare/refs", "hostile/.git", "mine/.git"} {
		if err := os.MkdirAll(filepath.Join(root, directory), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(project, "bare", "HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(hostile, filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	p := withRules(t, ruleHead+"| runs | git ** | allow | | |\n| runs | cd ** | allow | | |\n| runs | make ** | allow | | |\n| runs | npm ls ** | allow | | |\n| runs | cat ** | allow | | |\n| runs | git -C "+hostile+" log | allow | | |\n| runs in "+root+"/mine | git ** | allow | | |\n| runs | pushd ** | allow | | |\n| runs | ls ** | allow | | |\n")
	for want, lines := range map[policy.Kind][]string{
		policy.Allow: {
			"git status", "cd sub && git status", "cd sub/deep && cd .. && git log", "cd sub; git status", "cd sub\ngit status", "cd " + project + " && git status", "cd ./sub && git --no-pager diff", "git -C sub status", "git -C " + project + " status", "cd sub && make test", "cd sub && npm ls",
			"cd " + hostile + " && cat a", "cd " + root + "/mine && git status", "cd ../mine && git log -3", "git status; cd " + hostile, "(cd sub && ls); cat a", "cd sub && cd ../ && git status", "git -C " + hostile + " log", "echo go && cd sub && git status",
		},
		policy.Ask: {
			"cd " + hostile + " && git status", "cd ../hostile && git log", "cd " + hostile + "; git status", "cd link && git status", "cd vendor/other && git status", "cd vendor && cd other && git diff", "cd bare && git log", "git -C vendor/other status", "git -C link log", "git -C " + hostile + " status", "git -C bare log",
			"(cd " + hostile + " && git status)", "pushd " + hostile + "; git status", "cd $x && git status", "cd && git status", "cd - && git status", "cd ~ && git status", "cd " + hostile + " && make test", "cd " + hostile + " && npm ls", "cd sub || cd ..; git status",
			"cd sub; cd ..; git status", "bash -c 'cd " + hostile + "; git status'", "eval 'cd " + hostile + "'; git status", "for d in " + hostile + "; do cd $d; git status; done", "while true; do git status; cd " + hostile + "; done", "f() { git status; }; cd " + hostile + "; f", "command cd " + hostile + "; git status",
			"git --git-dir=" + hostile + "/.git log", "GIT_DIR=" + hostile + "/.git git log", "export GIT_DIR=" + hostile + "/.git; git log", "cd " + root + "/mine; git status", "cd " + root + " && git -C hostile status", "trap 'git status' EXIT; cd " + hostile, "find " + hostile + " -maxdepth 0 -execdir git status \\;",
			"git push " + hostile, "git push ../hostile main", "git push file://" + hostile, "env -C " + hostile + " git status", "cd -P " + hostile + " && git status", "builtin cd " + hostile + " && git status", "CDPATH=" + root + " cd hostile && git status", "git -C sub -C ../../hostile log",
		},
	} {
		for _, line := range lines {
			if v := p.JudgeReach(runsIn(project, line)); v.Kind != want {
				t.Errorf("%s: %s, %s", line, v.Kind, v.Reason)
			}
		}
	}
}
