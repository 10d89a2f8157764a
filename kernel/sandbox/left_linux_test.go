package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/sandbox"
)

// attack is what a command prepares in a directory for the person's own git, which runs there
// afterwards. In each script CANARY is the path of a program that must not run.
type attack struct {
	name     string
	settings string // of the person, in their home
	before   string // the person's, in the directory
	command  string // in the fence
	after    string // the person's
}

const canary = "CANARY"

var attacks = []attack{
	{name: "hooks in the directory", before: `git init -q . && git config core.hooksPath .githooks`,
		command: `mkdir -p .githooks; echo '#!/bin/sh' >.githooks/pre-commit; echo CANARY >>.githooks/pre-commit; chmod +x .githooks/pre-commit`,
		after:   `git commit -q --allow-empty -m x`},
	{name: "hooks that are there", before: `git init -q . && mkdir -p tools/hooks && git config core.hooksPath tools/hooks`,
		command: `mv tools other; mkdir -p tools/hooks; echo '#!/bin/sh' >tools/hooks/pre-commit; echo CANARY >>tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit`,
		after:   `git commit -q --allow-empty -m x`},
	{name: "hooks deeper than there is anything", before: `git init -q . && git config core.hooksPath a/b/hooks`,
		command: `mkdir -p a/b/hooks; echo '#!/bin/sh' >a/b/hooks/pre-commit; echo CANARY >>a/b/hooks/pre-commit; chmod +x a/b/hooks/pre-commit`,
		after:   `git commit -q --allow-empty -m x`},
	{name: "hooks behind a link", before: `git init -q . && mkdir -p real/hooks && ln -s real link && git config core.hooksPath link/hooks`,
		command: `rm link; mkdir -p link/hooks; for d in link real; do echo '#!/bin/sh' >$d/hooks/pre-commit; echo CANARY >>$d/hooks/pre-commit; chmod +x $d/hooks/pre-commit; done`,
		after:   `git commit -q --allow-empty -m x`},
	{name: "the person's settings name hooks", settings: "[core]\n\thooksPath = .hooks\n", before: `git init -q sub`,
		command: `mkdir -p sub/.hooks; echo '#!/bin/sh' >sub/.hooks/pre-commit; echo CANARY >>sub/.hooks/pre-commit; chmod +x sub/.hooks/pre-commit`,
		after:   `cd sub && git commit -q --allow-empty -m x`},
	{name: "included settings", before: `git init -q . && git config include.path ../.gitsettings`,
		command: `printf '[core]\nfsmonitor = CANARY\n' >.gitsettings`,
		after:   `git status`},
	{name: "included settings that are there", before: `git init -q . && echo >.gitsettings && git config include.path ../.gitsettings`,
		command: `printf '[core]\nfsmonitor = CANARY\n' >x; cp x .gitsettings; mv x .gitsettings`,
		after:   `git status`},
	{name: "settings included on a condition", before: `git init -q . && git config includeIf.onbranch:other.path ../part/settings && git commit -q --allow-empty -m x && git branch other`,
		command: `mkdir part; printf '[core]\nfsmonitor = CANARY\n' >part/settings`,
		after:   `git checkout -q other; git status`},
	{name: "a monitor in the directory", before: `git init -q . && git config core.fsmonitor ./monitor`,
		command: `printf '#!/bin/sh\nCANARY\n' >monitor; chmod +x monitor`,
		after:   `git status`},
	{name: "attributes", settings: "[core]\n\tattributesFile = .attributes\n[filter \"run\"]\n\tclean = CANARY\n", before: `git init -q . && echo a >a`,
		command: `echo 'a filter=run' >.attributes`,
		after:   `git add a`},
	{name: "a program that settings name", before: `git init -q . && mkdir tools && printf '#!/bin/sh\ncat\n' >tools/clean && chmod +x tools/clean && git config filter.run.clean 'tools/clean %f' && echo '* filter=run' >.gitattributes && echo a >a`,
		command: `printf '#!/bin/sh\nCANARY\n' >tools/clean; rm -f tools/clean; mv tools x; mkdir -p tools; printf '#!/bin/sh\nCANARY\n' >tools/clean; chmod +x tools/clean`,
		after:   `git add a`},
	{name: "a repository at the top", before: `true`,
		command: `mkdir objects refs; echo ref: refs/heads/x >HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = CANARY\n' >config`,
		after:   `git status`},
	{name: "a repository whose parts are elsewhere", before: `true`,
		command: `mkdir -p s/o/objects s/o/refs; echo o >s/commondir; echo ref: refs/heads/x >s/HEAD; printf '[core]\nrepositoryformatversion = 0\nsshCommand = CANARY\n[remote "origin"]\nurl = ssh://example.invalid/x\n' >s/o/config; cp s/o/config s`,
		after:   `cd s; git fetch origin`},
	{name: "a repository at the top in place of what is there", before: `git init -q .`,
		command: `rm -f .git/HEAD; rm -r .git/objects .git/refs; mkdir objects refs; echo ref: refs/heads/x >HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = CANARY\n' >config`,
		after:   `git status`},
	{name: "a repository below, entered", before: `git init -q . && git commit -q --allow-empty -m x`,
		command: `git init -q sub; git -C sub config core.fsmonitor CANARY; printf '#!/bin/sh\nCANARY\n' >sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit`,
		after:   `cd sub; git status; git commit --allow-empty -m x`},
	{name: "a repository below, in the index", before: `git init -q . && git commit -q --allow-empty -m x`,
		command: `git init -q sub; git -C sub -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x; git add sub; git -C sub config core.fsmonitor CANARY`,
		after:   `git status; git diff`},
	{name: "a repository hidden in one", before: `git init -q . && git commit -q --allow-empty -m x`,
		command: `git init -q .git/hidden; git -C .git/hidden config core.fsmonitor CANARY; mkdir sub; echo gitdir: ../.git/hidden/.git >sub/.git; ln -s ../.git/hidden/.git sub/link; mkdir by; ln -s ../.git/hidden/.git by/.git`,
		after:   `cd sub; git status; cd ../by; git status`},
	{name: "steps of a rebase", before: `git init -q . && git commit -q --allow-empty -m x && git commit -q --allow-empty -m y`,
		command: `GIT_SEQUENCE_EDITOR='printf "break\nexec CANARY\n" >' git -c user.name=a -c user.email=a@example.org rebase -i HEAD~1`,
		after:   `git rebase --continue`},
	{name: "steps that are added to a rebase", before: `git init -q . && git commit -q --allow-empty -m x && git commit -q --allow-empty -m y; GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1`,
		command: `printf '  x CANARY\n' >>.git/rebase-merge/git-rebase-todo`,
		after:   `git rebase --continue`},
	{name: "a strategy of a rebase", before: `git init -q . && git commit -q --allow-empty -m x && echo a >a && git add a && git commit -q -m y && git checkout -q -b z HEAD~1 && echo b >b && git add b && git commit -q -m z`,
		command: `mkdir git-merge-x; printf '#!/bin/sh\nCANARY\n' >git-merge-x/y; chmod +x git-merge-x/y; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git -c user.name=a -c user.email=a@example.org rebase -i master; echo x/y >.git/rebase-merge/strategy`,
		after:   `git rebase --continue`},
}

// person runs a script as the person does, with their settings.
func person(t *testing.T, directory, script string) string {
	t.Helper()
	command := exec.Command("bash", "-c", script)
	command.Dir = directory
	command.Env = append(os.Environ(), "GIT_EDITOR=true")
	output, _ := command.CombinedOutput() // git may complain about what it finds
	return string(output)
}

// TestPersonsGit checks that what a command leaves makes the person's own git run nothing.
func TestPersonsGit(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			outside := resolved(t)
			t.Setenv("HOME", outside)
			t.Setenv("XDG_CONFIG_HOME", "")
			ran, program := filepath.Join(outside, "ran"), filepath.Join(outside, "canary")
			write(t, program, "#!/bin/sh\ntouch "+ran+"\n", 0o755)
			fill := strings.NewReplacer(canary, program).Replace
			write(t, filepath.Join(outside, ".gitconfig"), "[user]\n\tname = a\n\temail = a@example.org\n[init]\n\tdefaultBranch = master\n"+fill(a.settings), 0o644)
			prepared := func(fenced bool) string {
				directory := resolved(t)
				bash(t, directory, fill(a.before))
				if fenced {
					_, _ = run(t, kind, sandbox.Command{Text: fill(a.command), Directory: directory, Home: "/root", Writes: true})
				} else {
					person(t, directory, fill(a.command))
				}
				return person(t, directory, fill(a.after))
			}
			forget := func() {
				if err := os.RemoveAll(ran); err != nil {
					t.Fatal(err)
				}
			}
			forget()
			output := prepared(true)
			if _, err := os.Lstat(ran); err == nil {
				t.Errorf("it ran: %s", output)
			}
			forget()
			output = prepared(false)
			if _, err := os.Lstat(ran); err != nil {
				t.Errorf("the attack is none, even without a fence: %s", output)
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// left runs a command that may write in a directory, and returns what it left.
func left(t *testing.T, kind sandbox.Kind, directory, text string) sandbox.Left {
	t.Helper()
	p, err := sandbox.Start(t.Context(), kind, sandbox.Command{Text: text, Directory: directory, Home: "/root", Writes: true, Environment: os.Getenv}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := p.Wait(); err != nil || outcome.Status != 0 {
		t.Errorf("%s: %s, %v", text, outcome, err)
	}
	return p.Left()
}

// TestStartupFiles checks that existing startup files at the top cannot be changed, and that new
// ones, and changes below the top, are reported.
func TestStartupFiles(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	for _, name := range []string{".bashrc", ".vscode/tasks.json", "sub/.envrc", "sub/.dir-locals.el", "sub/.bashrc"} {
		write(t, filepath.Join(directory, name), "mine\n", 0o644)
	}
	got := left(t, kind, directory, `for name in .bashrc .vscode .vscode/tasks.json; do echo evil >>$name; rm -r $name; mv $name x; ln -sf /etc $name; done
for name in .dir-locals.el .envrc HEAD; do echo evil >$name; mkdir $name/x; done
mkdir .idea deep .claude; echo x >.mcp.json; echo x >deep/eslint.config.mjs; echo x >.gdbinit; echo x >deep/.dir-locals.el; echo x >deep/.gdbinit
touch -r sub/.envrc stamp; echo evil >sub/.envrc; touch -r stamp sub/.envrc; echo x >sub/.bashrc; true`)
	want := sandbox.Left{}
	for _, name := range []string{".claude", ".gdbinit", ".idea", ".mcp.json", "deep/.dir-locals.el", "deep/.gdbinit", "deep/eslint.config.mjs", "sub/.envrc"} {
		want.Startup = append(want.Startup, filepath.Join(directory, name))
	}
	if !slices.Equal(got.Startup, want.Startup) || got.Repositories != nil || got.Aside != nil || got.Unseen {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{".bashrc", ".vscode/tasks.json", "sub/.dir-locals.el"} {
		if text, err := os.ReadFile(filepath.Join(directory, name)); err != nil || string(text) != "mine\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{".dir-locals.el", ".envrc", "HEAD"} {
		if _, err := os.Lstat(filepath.Join(directory, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// TestOtherPrograms checks what programs other than git, shells and editors obey: what is read in place of
// an ordinary file, the scripts of package.json, repositories of hg, and files below the top.
func TestOtherPrograms(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	for name, text := range map[string]string{
		".yarn/releases/yarn.cjs": "mine\n", ".yarn/cache/x": "x\n", ".hg/requires": "x\n", ".hg/store/x": "x\n", "old/.hg/hgrc": "mine\n", "Makefile": "all:\n", "old/GNUmakefile": "all:\n", "sub/.vscode/tasks.json": "mine\n", "sub/.cargo/config.toml": "mine\n",
		"package.json": `{"name": "x", "scripts": {"test": "true"}}`, "old/package.json": `{"scripts": {"test": "true"}}`,
	} {
		write(t, filepath.Join(directory, name), text, 0o644)
	}
	for _, c := range []struct {
		script string
		want   []string
	}{
		{`echo x >>Makefile; echo x >>old/GNUmakefile; echo '{"scripts": {"test": "true"}, "name": "y"}' >package.json; mkdir -p node_modules/x/.vscode; echo x >node_modules/x/.npmrc; echo x >.hg/store/x`, nil},
		{`echo 'all:' >GNUmakefile; mkdir -p a/b; echo x >a/b/makefile`, []string{"GNUmakefile", "a/b/makefile"}},
		{`echo '{"scripts": {"test": "evil"}, "name": "y"}' >package.json`, []string{"package.json"}},
		{`echo '[hooks]' >.hg/hgrc; mkdir .hg/hgrc; rm -rf .hg/hgrc; mv .hg x; echo x >.hg/hgrc-not-shared`, nil},
		{`echo '[hooks]' >old/.hg/hgrc; mkdir -p new/.hg; echo x >new/.hg/hgrc`, []string{"new/.hg", "new/.hg/hgrc", "old/.hg/hgrc"}},
		{`echo x >sub/.vscode/tasks.json; echo x >sub/.cargo/config.toml; echo x >.Rprofile; echo x >a/.exrc`, []string{".Rprofile", "a/.exrc", "sub/.cargo", "sub/.vscode"}},
		{`mkdir -p node_modules/y; echo x >node_modules/y/.envrc; echo x >.python-version; echo x >a/compose.override.yaml`, []string{".python-version", "a/compose.override.yaml", "node_modules/y/.envrc"}},
	} {
		if err := os.MkdirAll(filepath.Join(directory, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
		got := left(t, kind, directory, c.script+"; true")
		var names []string
		for _, path := range got.Startup {
			name, err := filepath.Rel(directory, path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if !slices.Equal(names, c.want) || got.Repositories != nil || got.Aside != nil || got.Unseen {
			t.Errorf("%s: %v, want %v (%+v)", c.script, names, c.want, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(directory, ".hg/hgrc")); err == nil {
		t.Error(".hg/hgrc is there")
	}
	left(t, kind, directory, "echo evil >.yarn/releases/yarn.cjs; mv .yarn x; rm -r .yarn/releases; echo y >.yarn/cache/y; true")
	for name, want := range map[string]string{".yarn/releases/yarn.cjs": "mine\n", ".yarn/cache/y": "y\n"} {
		if text, err := os.ReadFile(filepath.Join(directory, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestOrdinaryWork checks that ordinary work of commands succeeds as elsewhere, and that nothing of
// it is put aside.
func TestOrdinaryWork(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	home := resolved(t)
	t.Setenv("HOME", home)
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@example.org\n[init]\n\tdefaultBranch = master\n[alias]\n\tx = !tools/x\n", 0o644)
	directory := resolved(t)
	bash(t, directory, `git init -q . && echo 1 >a && git add a && git commit -qm first && git checkout -q -b side && echo 2 >a && git commit -qam side && git checkout -q master && echo 3 >a && git commit -qam third`)
	settings := `export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org GIT_CONFIG_KEY_2=init.defaultBranch GIT_CONFIG_VALUE_2=master GIT_EDITOR=true; set -e; `
	got := left(t, kind, directory, settings+`git diff HEAD; git log -1 HEAD
mkdir -p web/src web/node_modules/x tools; echo '{}' >web/package.json; echo a >web/src/a; mv web/src web/lib; echo 'all:' >web/Makefile; echo x >tools/y
git add web && git commit -qm web
git clone -q . copy && git -C copy commit -q --allow-empty -m copied && git -C copy remote add 'a"b' ./web && git init -q --bare bare
! git rebase -q side >/dev/null 2>&1`)
	if want := []string{filepath.Join(directory, "bare"), filepath.Join(directory, "copy/.git")}; !slices.Equal(got.Repositories, want) || got.Aside != nil || got.Startup != nil || got.Unseen {
		t.Errorf("%+v", got)
	}
	got = left(t, kind, directory, settings+`echo 4 >a; git add a; git rebase --continue; git -C copy pull -q --no-rebase ..  side -s ours --allow-unrelated-histories`)
	if !got.Empty() {
		t.Errorf("%+v", got)
	}
	if log := bash(t, directory, "git log --format=%s; git -C copy remote; git status --short"); log != "web\nthird\nside\nfirst\na\"b\norigin\n?? bare/\n?? copy/\n?? tools/\n" {
		t.Errorf("%s", log)
	}
}

// TestDisarmed checks that the harmless part of a repository that a command made keeps working.
func TestDisarmed(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	directory := resolved(t)
	got := left(t, kind, directory, `git init -q -b master sub; cd sub; git remote add origin 'https://example.org/a b#c;"d'; git config branch.'x"\y'.description $'two\nlines "quoted" \\'
git config core.fsmonitor /bin/false; git config remote.evil.url 'ext::sh -c true'; git config core.hooksPath /tmp; echo true >.git/hooks/post-checkout`)
	if want := []string{filepath.Join(directory, "sub/.git/config.set-aside"), filepath.Join(directory, "sub/.git/hooks.set-aside")}; !slices.Equal(got.Aside, want) {
		t.Errorf("%+v", got)
	}
	settings := bash(t, directory, `cd sub; git config --local --list; git status --short`)
	if want := "remote.origin.url=https://example.org/a b#c;\"d\nremote.origin.fetch=+refs/heads/*:refs/remotes/origin/*\nbranch.x\"\\y.description=two\nlines \"quoted\" \\\n"; !strings.HasSuffix(settings, want) || strings.Contains(settings, "evil") || strings.Contains(settings, "fsmonitor") {
		t.Errorf("%s", settings)
	}
}
