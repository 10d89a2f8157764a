package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
)

// readingProject makes a project with files, a file of keys in keys/, and links that lead out of it.
func readingProject(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "x")
	for _, directory := range []string{".git", "sub/deep", "keys", "links", "bare/objects", "bare/refs", "odd"} {
		if err := os.MkdirAll(filepath.Join(project, directory), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.go", "b.go", "sub/c.go", "keys/.env", "bare/HEAD", "odd/-f", "../other"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "/etc", "links/one": "/etc/hostname", "in": "sub", "passwd": "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	return project
}

// commandIn is the action of a command line in a directory.
func commandIn(directory, text string) string {
	return `(:type :request :target :shell :cmd ` + plist.Print(plist.String(text)) + ` :cwd ` + plist.Print(plist.String(directory)) + `)`
}

// TestReadingStaysInTheProject attacks the read-only set: its rows allow to read in the project, and
// nothing that could read elsewhere, read keys, write or run something.
func TestReadingStaysInTheProject(t *testing.T) {
	project := readingProject(t)
	p := withRules(t, ruleHead)
	_, v, err := p.Verify(t.Context(), read(t, commandIn(project, "cat a.go")), policy.Where{})
	if err != nil || v.Reading == nil {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := p.Rules.AllowReading(*v.Reading, writtenOn); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(project, "sub")
	for directory, commands := range map[string]struct{ allowed, asked []string }{
		project: {
			allowed: []string{
				"cat a.go", "cat ./sub/c.go", "cd sub && cat c.go", "git -C sub status", "cd sub && git status", "for f in a.go b.go; do cat $f; done", "for f in *.go; do wc -l \"$f\"; done", "wc -l *.go", "cat " + project + "/a.go", "cat *.go", "cat sub/*.go", "cat keys/*", "cat in/c.go", "cat -n a.go | head -5", "head -n 3 a.go", "tail -c 10 a.go", "wc -l a.go b.go", "ls", "ls -la sub", "ls -R",
				"stat a.go", "file a.go", "grep -n '/etc/passwd' a.go", "grep -n x a.go /dev/null", "grep -r x sub", "grep -rn --include='*.go' x sub", "grep .env a.go", "rg x sub", "rg -n x a.go", "grep -nA 3 '/x' a.go", "rg -n 'a|/b' sub",
				"git status", "git status --short", "git log --oneline -5", "git --no-pager log -p", "git log main..feature", "git diff HEAD~1 -- a.go", "git show HEAD:sub/c.go", "git show HEAD@{1}", "git blame a.go", "git branch", "git branch --list", "git ls-files",
				"cat < a.go", "cat a.go 2>/dev/null", "if [ -f a.go ]; then cat a.go; fi", "bash -c 'cat a.go'", "nice cat a.go", "LC_ALL=C ls", "cat 'a b'", "cat nothing", "ls x..y", "head -n $((1+2)) a.go", "git log --since=2.weeks", "git log --format='%h %an'",
			},
			asked: []string{
				"cat ../other", "cat ../../etc/passwd", "cat sub/../../other", "cat /etc/hostname", "cat out/hostname", "cat out", "cat passwd", "cat links/one", "cat links/*", "cat *", "cat in/../../other", "cat ~/x", "cat ~root/x", "cat -- /etc/hostname", "cat $x", "cat \"$x\"", "cat $(ls)", "cat {a.go,/etc/passwd}", "cat [p]asswd", "cat p?sswd", "cat /proc/self/environ", "cat /dev/fd/3", "cat //etc/passwd", "cat './../other'",
				"cat < ../other", "cd sub && cat ../../other", "cd sub; cat ../other", "cd out && cat hostname", "cd .. && git status", "cd sub && cat < ../../other", "cd sub/deep && cat ../../../other", "cd $x && cat a.go", "for f in a.go ../other; do cat $f; done", "for f in a.go; do f=../other; cat $f; done", "for f in links/*; do cat \"$f\"; done", "while true; do cat a.go; cd ..; done", "bash -c 'while true; do git status; cd /; done'", "f() { cat a.go; }; cd /; f", "ls > x", "cat < /etc/hostname", "cat a.go > b.go", "cat a.go | tee b.go", "head <(cat a.go)", "head <(cat /etc/hostname)", "cd /etc; cat hostname", "pushd /; cat a.go", "(cd ..; cat other)", "find . -execdir cat {} +", "xargs cat", "ls | xargs cat", "find . -exec cat {} +", "sudo cat a.go", "bash -c 'cd /; cat a.go'", "env -C / cat a.go", "CAT=x cat a.go", "./cat a.go", "PATH=. cat a.go",
				"grep -r x /", "grep -r x out", "grep -R x sub", "grep -nR x sub", "grep --dereference-recursive x sub", "grep --deref x sub", "grep -f /etc/hostname a.go", "grep -f/etc/hostname a.go", "grep --file=/etc/hostname a.go", "grep --file /etc/hostname a.go", "grep -e x /etc/hostname", "grep -ex /etc/hostname", "grep -r x", "grep -r x .", "grep -rA 3 x", "grep -r -m 1 x", "grep -rnC2 x", "grep -C 2 x /etc/hostname", "grep -d recurse x .", "grep --directories=recurse x .", "grep x *", "grep --exclude-from=../other x a.go",
				"rg x", "rg -t sh x", "rg --files keys", "git diff --no-index sub keys", "git diff --no-ind sub keys", "rg --pre cat x", "rg --pre=./run x", "rg -L x", "rg --follow x", "rg x /", "rg x out", "rg -f ../other", "rg --hidden x", "rg -. x", "rg -uu x", "rg -g '.e*' x", "rg --glob '.e*' x", "rg --no-ignore --unrestricted x", "rg -z x", "rg --search-zip x", "rg --hostname-bin=x x", "rg --ignore-file=/etc/hostname x",
				"file -m ../other a.go", "file -f ../other", "file -f a.go", "file -C -m a.go", "file --files-from=a.go", "file -z a.go", "wc --files0-from=a.go", "wc --files0-from=../other",
				"cat keys/.env", "head -1 keys/.env", "cat keys/.*", "cat keys/.e?v", "grep x keys/.env", "grep -r x keys", "git show HEAD:keys/.env", "git show HEAD:.env", "git diff -- keys/.env", "cat .env", "cat .git/config", "stat keys/.env",
				"git -C /other status", "git -C ../x-other status", "git --git-dir=/other log", "git --git-dir /other log", "git --work-tree=/ status", "git show --output=x", "git show --output x", "git log --output=sub/x", "git diff --ext-diff", "git diff --textconv", "git log --ext-diff", "git log --exec=x", "git --exec-path=x log", "git -c core.pager=x log", "git --config-env=core.pager=X log", "git diff --no-index a.go /etc/hostname", "git diff --no-index a.go ../other", "git diff -O../other", "git diff -O/etc/hostname", "git blame --contents /etc/hostname a.go", "git blame --contents=../other a.go", "git blame -S ../other a.go", "git blame --ignore-revs-file=/etc/hostname a.go",
				"git branch -D main", "git branch new", "git branch --list --no-list -D main", "git grep x", "git grep -Ox x", "git config x", "git push", "git commit -m x", "git log $x", "git log --since=$x", "git ls-files -X ../other", "git ls-files --exclude-from=/etc/hostname",
				"rm a.go", "tail -f /var/log/x", "less a.go", "sed -n 1p a.go", "awk 1 a.go", "sort a.go", "cat a.go; rm b.go", "cat a.go && curl http://x/", "export PAGER=x; git log", "GIT_DIR=/other git log", "cat 'a:/etc/hostname'", "cat @/etc/hostname", "ls --color=/etc", "cat -A/etc/hostname", "cat\t../other",
			},
		},
		sub:                             {allowed: []string{"cat c.go", "cat ../a.go", "git status", "ls ..", "grep -r x ."}, asked: []string{"cat ../../other", "ls ../..", "cat ../../x/../other", "cat ../passwd", "cat ../out/hostname"}},
		filepath.Join(project, "bare"):  {allowed: []string{"cat HEAD"}, asked: []string{"git status", "git log"}},
		filepath.Join(project, "odd"):   {asked: []string{"cat *", "grep x *"}},
		filepath.Dir(project):           {asked: []string{"cat x/a.go", "cat other", "ls"}},
		"/etc":                          {asked: []string{"cat hostname"}},
		project + "-other":              {asked: []string{"cat a.go"}},
		filepath.Join(project, "links"): {asked: []string{"cat one", "cat *"}},
	} {
		for want, lines := range map[policy.Kind][]string{policy.Allow: commands.allowed, policy.Ask: commands.asked} {
			for _, line := range lines {
				if v := p.JudgeReach(runsIn(directory, line)); v.Kind != want && (want == policy.Allow || v.Kind != policy.Refuse) {
					t.Errorf("%s in %s: %s, %s", line, directory, v.Kind, v.Reason)
				}
			}
		}
	}
}

// TestReadingWithoutRepository checks that git, which compares any two directories where there is no
// repository, shows no file of keys then.
func TestReadingWithoutRepository(t *testing.T) {
	project := readingProject(t)
	p := withRules(t, ruleHead+"| runs in "+project+" | git diff ** | allow | | |\n")
	for _, want := range []policy.Kind{policy.Allow, policy.Ask} {
		if v := p.JudgeReach(runsIn(project, "git diff sub keys")); v.Kind != want {
			t.Errorf("%s: %s", v.Kind, v.Reason)
		}
		if err := os.Rename(filepath.Join(project, ".git"), filepath.Join(project, ".org-agent")); err != nil && want == policy.Allow {
			t.Fatal(err)
		}
	}
}

// TestRowsInDirectoryKeepInside checks the same for a row of a person: a word that stands in the row may
// name anything, and a word that its * or ** stands for only what is in the directory.
func TestRowsInDirectoryKeepInside(t *testing.T) {
	project := readingProject(t)
	p := withRules(t, ruleHead+"| runs in "+project+" | diff /etc/hostname * | allow | | |\n| runs in "+project+" | make ** | allow | | |\n")
	for line, want := range map[string]policy.Kind{
		"diff /etc/hostname a.go": policy.Allow, "diff /etc/hostname ../other": policy.Ask, "diff /etc/hostname /etc/passwd": policy.Ask, "diff /etc/hostname out/passwd": policy.Ask,
		"make -j4 test": policy.Allow, "make -C sub test": policy.Allow, "make -C out test": policy.Ask, "make -C .. test": policy.Ask, "make ../other": policy.Ask,
	} {
		v := p.JudgeReach(runsIn(project, line))
		if v.Kind != want {
			t.Errorf("%s: %s, %s", line, v.Kind, v.Reason)
		}
		if line == "diff /etc/hostname ../other" && !strings.Contains(v.Reason, "../other is or could be outside of "+project) {
			t.Errorf("it does not say why: %s", v.Reason)
		}
	}
}

// TestReadingIsOffered checks with which actions the read-only set is offered: those that it would allow.
func TestReadingIsOffered(t *testing.T) {
	project := readingProject(t)
	user := filepath.Dir(project)
	t.Setenv("HOME", user)
	for name, c := range map[string]struct {
		rules, directory, command string
		offered                   bool
	}{
		"reading":               {"", project, "cat a.go", true},
		"in a directory of it":  {"", project + "/sub", "grep -n x c.go | head", true},
		"several commands":      {"", project, "git status && git diff", true},
		"beside a row":          {"| runs | make test | allow | | |\n", project, "make test; cat a.go", true},
		"nothing only reads":    {"", project, "make test", false},
		"more than reading":     {"", project, "cat a.go; make test", false},
		"outside":               {"", project, "cat ../other", false},
		"in no project":         {"", user, "ls", false},
		"keys":                  {"", project, "cat keys/.env", false},
		"a row asks":            {"| runs | cat ** | ask | | |\n", project, "cat a.go", false},
		"a row asks about more": {"| action :shell | | ask | | |\n", project, "cat a.go", false},
		"allowed already":       {"| runs | cat ** | allow | | |\n", project, "cat a.go", false},
		"the rules are faulty":  {"| x |\n", project, "cat a.go", false},
	} {
		p := withRules(t, ruleHead+c.rules)
		_, v, err := p.Verify(t.Context(), read(t, commandIn(c.directory, c.command)), policy.Where{})
		if err != nil || (v.Reading != nil) != c.offered {
			t.Errorf("%s: offered %+v, %v: %s", name, v.Reading, err, v.Reason)
			continue
		}
		if !c.offered {
			continue
		}
		if row := v.Reading.Rows[0]; v.Reading.Directory != project || row.Rule != "reads" || row.Matches != "~/x/**" || v.Reading.Rows[1].Rule != "runs in ~/x" {
			t.Errorf("%s: offered %+v", name, v.Reading)
		}
		for range 2 {
			if err := p.Rules.AllowReading(*v.Reading, writtenOn); err != nil {
				t.Fatal(err)
			}
		}
		source, err := os.ReadFile(p.Rules.Path)
		if err != nil || strings.Count(string(source), "| runs in ~/x | cat **") != 1 {
			t.Fatalf("%v\n%s", err, source)
		}
		_, after, err := p.Verify(t.Context(), read(t, commandIn(c.directory, c.command)), policy.Where{})
		if err != nil || after.Kind != policy.Allow || after.Reading != nil {
			t.Errorf("%s: then %s, %v", name, after.Reason, err)
		}
	}
}
