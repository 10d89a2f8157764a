package policy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/policy"
)

// hostileSettings are settings of a repository by which git, or a program like it, runs something or reads elsewhere.
var hostileSettings = []string{
	"[core]\n\tfsmonitor = ./evil", "[core] fsmonitor = \"./evil\"", "[core]\nfsMonitor=./evil", "[core]\n\tpager = ./evil", "[core]\n\teditor = ./evil", "[core]\n\tsshCommand = ./evil", "[core]\n\thooksPath = hooks2", "[core]\n\tgitProxy = ./evil", "[core]\n\taskPass = ./evil",
	"[core]\n\talternateRefsCommand = ./evil", "[core]\n\tattributesFile = ../x", "[core]\n\tworktree = /", "[core]\n\tfsmonitor = \\\n./evil", "[CORE]\n\tFSMONITOR = ./evil", "[core]\n\tbare = false\n[core \"x\"]\n\tfsmonitor = x",
	"[diff]\n\texternal = ./evil", "[diff \"x\"]\n\tcommand = ./evil", "[diff \"x\"]\n\ttextconv = ./evil", "[diff.x]\n\ttextconv = ./evil", "[filter \"x\"]\n\tclean = ./evil", "[filter \"x\"]\n\tprocess = ./evil", "[filter \"x\"]\n\tsmudge = ./evil", "[merge \"x\"]\n\tdriver = ./evil",
	"[alias]\n\tst = !./evil", "[pager]\n\tlog = ./evil", "[credential]\n\thelper = ./evil", "[credential \"https://x\"]\n\thelper = ./evil", "[gpg]\n\tprogram = ./evil", "[gpg \"ssh\"]\n\tprogram = ./evil", "[gpg \"ssh\"]\n\tdefaultKeyCommand = ./evil", "[sequence]\n\teditor = ./evil",
	"[interactive]\n\tdiffFilter = ./evil", "[include]\n\tpath = ../x", "[includeIf \"gitdir:/\"]\n\tpath = ../x", "[remote \"origin\"]\n\tuploadpack = ./evil", "[remote \"origin\"]\n\treceivepack = ./evil", "[remote \"origin\"]\n\tvcs = evil", "[remote \"origin\"]\n\turl = ext::./evil", "[remote \"origin\"]\n\turl = ../hostile",
	"[remote \"origin\"]\n\turl = /tmp/x", "[remote \"origin\"]\n\turl = file:///tmp/x", "[remote \"origin\"]\n\turl = evil::x", "[remote \"origin\"]\n\tproxy = x", "[url \"ext::./evil\"]\n\tinsteadOf = https://", "[protocol \"ext\"]\n\tallow = always", "[submodule \"x\"]\n\tupdate = !./evil", "[trailer \"x\"]\n\tcommand = ./evil",
	"[mergetool \"x\"]\n\tcmd = ./evil", "[difftool \"x\"]\n\tcmd = ./evil", "[browser \"x\"]\n\tcmd = ./evil", "[man \"x\"]\n\tcmd = ./evil", "[init]\n\ttemplateDir = ../x", "[hook \"x\"]\n\tcommand = ./evil", "[uploadpack]\n\tpackObjectsHook = ./evil", "[http]\n\tproxy = http://evil", "[branch \"main\"]\n\tmergeOptions = -s evil",
	"[unknown]\n\tsetting = x", "not a line of settings",
}

// madeByGit is an empty repository.
func madeByGit(t *testing.T) string {
	t.Helper()
	made := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "-b", "main", "--template=", made).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return made
}

// plainRepository copies a repository that git made, and adds to its settings.
func plainRepository(t *testing.T, made, directory, settings string) string {
	t.Helper()
	if err := os.CopyFS(directory, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(directory, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(settings + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return directory
}

// TestHostileRepositories: in a repository of somebody else git asks if a program could be named there, unless a row
// is about that directory. What many repositories have is no reason to ask.
func TestHostileRepositories(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := madeByGit(t)
	p := withRules(t, ruleHead+"| runs | git ** | allow | | |\n| runs in "+root+"/mine | git ** | allow | | |\n| runs | hg ** | allow | | |\n")
	judged := func(directory, line string, want policy.Kind, why string) {
		t.Helper()
		if v := p.JudgeReach(runsIn(directory, line)); v.Kind != want {
			t.Errorf("%s with %q: %s, %s", line, why, v.Kind, v.Reason)
		}
	}
	for i, settings := range hostileSettings {
		directory := plainRepository(t, made, filepath.Join(root, "hostile", string(rune('a'+i%26))+string(rune('a'+i/26))), settings)
		for _, line := range []string{"git status", "git log -1", "env git diff", "cd . && git status", "git -C . log"} {
			judged(directory, line, policy.Ask, settings)
		}
	}
	plain := plainRepository(t, made, filepath.Join(root, "plain"), "[user]\n\tname = A B ; none\n[remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[pull]\n\trebase = true\n[core]\n\tfsmonitor = true\n\tautocrlf = input # so\n[lfs]\n\trepositoryformatversion = 0\n[color \"status\"]\n\tadded = green")
	for _, line := range []string{"git status", "git log -1", "git push origin main", "git fetch", "git pull --rebase origin main", "git ls-remote origin", "cd . && git status"} {
		judged(plain, line, policy.Allow, "what many have")
	}
	judged(plainRepository(t, made, filepath.Join(root, "mine"), "[core]\n\tfsmonitor = ./evil"), "git status", policy.Allow, "a row for it")
	hooked := plainRepository(t, made, filepath.Join(root, "hooked"), "")
	for _, name := range []string{".git/hooks/post-index-change", "deep/er/x", "empty/.git/x"} {
		path := filepath.Join(hooked, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	judged(hooked, "git status", policy.Ask, "a hook")
	judged(filepath.Join(hooked, "deep/er"), "git status", policy.Ask, "a hook above")
	judged(filepath.Join(hooked, "empty"), "git status", policy.Ask, "a hook above what is none")
	// The settings may lie where .git points.
	pointing := filepath.Join(root, "pointing")
	if err := os.MkdirAll(pointing, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pointing, ".git"), []byte("gitdir: ../hooked/.git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	judged(pointing, "git status", policy.Ask, "a file .git")
	if err := os.MkdirAll(filepath.Join(root, "hg", ".hg"), 0o755); err != nil {
		t.Fatal(err)
	}
	judged(filepath.Join(root, "hg"), "hg status", policy.Allow, "none")
	if err := os.WriteFile(filepath.Join(root, "hg", ".hg", "hgrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	judged(filepath.Join(root, "hg"), "hg status", policy.Ask, "hgrc")
}

// TestRemotesThatAreDirectories: git runs what serves a repository in the directory that its remote is.
func TestRemotesThatAreDirectories(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := madeByGit(t)
	plain := plainRepository(t, made, filepath.Join(root, "plain"), "")
	plainRepository(t, made, filepath.Join(plain, "vendor", "other"), "")
	plainRepository(t, made, filepath.Join(plain, "bare.git"), "")
	if err := os.MkdirAll(filepath.Join(plain, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plain, "file"), []byte("gitdir: vendor/other/.git"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := withRules(t, ruleHead+"| runs | git ** | allow | | |\n| runs | git fetch vendor/other | allow | | |\n")
	for want, lines := range map[policy.Kind][]string{
		policy.Allow: {"git fetch vendor/other", "git push origin docs", "git pull origin docs", "git ls-remote origin", "git remote add x https://example.org/y", "git log vendor/other"},
		policy.Ask: {
			"git ls-remote vendor/other", "git pull vendor/other", "git pull vendor/other main", "git push vendor/other", "git clone vendor/other", "git clone bare", "git fetch file", "git remote add x vendor/other", "git fetch -q vendor/other", "git ls-remote /tmp", "git ls-remote ../hostile", "git ls-remote .",
			"git pull /tmp/x", "git pull ../x main", "git pull file:///tmp/x", "git pull ext::sh", "git ls-remote ext::sh", "git ls-remote -u sh x", "git ls-remote --upload-pack=sh x", "git fetch --upload-pack sh x", "git pull --upload-pack=sh x", "git remote add x ext::sh", "git remote add x /tmp/x", "git pull -s evil", "git pull -X x",
			"git push --receive-pack=sh x", "git push -o x y", "git fsck --lost-found", "git cat-file --textconv x", "git cat-file --filters x", "git rebase -X x", "git rebase -s x", "git merge -X x y",
		},
	} {
		for _, line := range lines {
			if v := p.JudgeReach(runsIn(plain, line)); v.Kind != want {
				t.Errorf("%s: %s, %s", line, v.Kind, strings.TrimSpace(v.Reason))
			}
		}
	}
}
