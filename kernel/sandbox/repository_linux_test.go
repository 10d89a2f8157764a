package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/sandbox"
)

func bash(t *testing.T, directory, script string) string {
	t.Helper()
	command := exec.Command("bash", "-ec", script)
	command.Dir = directory
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, output)
	}
	return string(output)
}

// TestRepositories checks that the repositories in a directory afterwards run what they ran before,
// at any depth and of any kind, that git works in them, and that a new one is reported.
func TestRepositories(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	bash(t, directory, `exec 2>&1
commit() { git -C $1 -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m $2; }
git init -q . && commit . first
git init -q sub && commit sub first && rm -r sub/.git/hooks
git init -q sub/node_modules/deep/er && commit sub/node_modules/deep/er first
git init -q --bare store
git -c protocol.file.allow=always submodule --quiet add ./sub/node_modules/deep/er part
git worktree add -q side
git init -q --separate-git-dir=apart away
mkdir linked && ln -s ../store linked/.git`)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bash(t, directory, "cp "+quoted(program)+" program")
	list := func() string {
		return bash(t, directory, `find . -path '*hooks*' -o -name config -o -name config.worktree -o -name commondir -o -name .git -o -name worktrees -o -name modules -o -name '*.moved' | sort; cat .git/config */.git/config store/config apart/config part/.git side/.git away/.git; readlink linked/.git`)
	}
	was := list()
	p, err := sandbox.Start(t.Context(), kind, sandbox.Command{Directory: directory, Home: "/root", Writes: true, Text: `
for git in .git sub/.git sub/node_modules/deep/er/.git store apart linked/.git .git/modules/part .git/worktrees/side; do
  for name in hooks config config.worktree commondir worktrees modules; do
    mkdir -p $git/$name/x || echo evil >$git/$name || echo evil >$git/$name/x || rm -r $git/$name || ln -sfT /tmp $git/$name
    ./program attempt rename=$git/$name
  done
  ./program attempt rename=$git
done
for git in part/.git side/.git away/.git linked/.git; do echo gitdir: /tmp/evil >$git || rm $git || ln -sfT /tmp $git; ./program attempt rename=$git; done
./program attempt rename=sub rename=sub/node_modules rename=sub/node_modules/deep rename=part rename=side rename=linked
echo new >sub/new; git -C sub add new && git -C sub -c user.name=a -c user.email=a@example.org commit -qm new
git init -q made; echo evil >made/.git/hooks/pre-commit
mkdir -p bare/objects bare/refs; echo ref: refs/heads/x >bare/HEAD
mkdir -p mine/a; mv mine/a mine/b; true`}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := p.Wait(); err != nil || outcome.Status != 0 {
		t.Fatalf("%v, %v", outcome, err)
	}
	made := p.Left().Repositories
	if want := []string{filepath.Join(directory, "bare"), filepath.Join(directory, "made/.git")}; !slices.Equal(made, want) {
		t.Errorf("made are %q", made)
	}
	bash(t, directory, "rm -r made bare; test -d mine/b")
	if now := list(); now != was {
		before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
		gone := slices.DeleteFunc(slices.Clone(before), func(l string) bool { return slices.Contains(after, l) })
		come := slices.DeleteFunc(slices.Clone(after), func(l string) bool { return slices.Contains(before, l) })
		t.Errorf("there was %q and is %q", gone, come)
	}
	if log := bash(t, directory, "git -C sub log --format=%s"); log != "new\nfirst\n" {
		t.Errorf("git in sub says %q", log)
	}
}

// TestManyDirectories checks that a search is bounded, says so, and begins with people's own
// directories.
func TestManyDirectories(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for i := range 4100 {
		if err := os.MkdirAll(filepath.Join(directory, "node_modules", fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	deep := filepath.Join(directory, strings.Repeat("a/", 30)+".git")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if found, whole := sandbox.Repositories(directory); whole || !slices.Equal(found, []string{deep}) {
		t.Errorf("%q, %v", found, whole)
	}
	if found, whole := sandbox.Repositories(filepath.Join(directory, "a")); !whole || !slices.Equal(found, []string{deep}) {
		t.Errorf("%q, %v", found, whole)
	}
}
