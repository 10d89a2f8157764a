package cover_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/cover"
)

// TestWhatIsGone: what was withheld is in the repository as long as git has it, wherever it went in the directory.
func TestWhatIsGone(t *testing.T) {
	const private, plain = "* Mine :NoAgent:\nsecret\n", "* Open\nthe tag :noagent: is for crypt(3)\n"
	for name, c := range map[string]struct {
		commands string // A stands for git with an author
		covered  bool
	}{
		"removed in the directory": {"A add private.org; A commit -qm x; rm private.org", true},
		"removed by a commit":      {"A add .; A commit -qm x; A rm -q private.org; A commit -qm y", true},
		"without its tag now":      {"A add .; A commit -qm x; echo '* Mine' > private.org; A commit -qam y", true},
		"on another branch":        {"A add plain.org; A commit -qm x; A checkout -qb other; A add .; A commit -qm y; A checkout -q main; rm -f private.org", true},
		"on a branch that is gone": {"A add plain.org; A commit -qm x; A checkout -qb other; A add .; A commit -qm y; A checkout -q main; A branch -qD other", true},
		"in a stash":               {"A add plain.org; A commit -qm x; A add .; A stash -q", true},
		"in the index alone":       {"A add .; rm private.org", true},
		"under another name":       {"mkdir old; mv private.org old/Was.ORG; A add .; A commit -qm x; A rm -qr old; A commit -qm y", true},
		"in a merge":               {"A add plain.org; A commit -qm x; A checkout -qb other; A commit --allow-empty -qm y; A checkout -q main; A commit --allow-empty -qm z; A merge -q --no-commit other; A add .; A commit -qm m; A rm -q private.org; A commit -qm n", true},
		"keys":                     {"rm private.org; echo A=b > .env; A add -f .; A commit -qm x; rm .env", true},
		"keys of once":             {"rm private.org; echo A=b > .env; A add -f .; A commit -qm x; A rm -q .env; A commit -qm y", true},
		"never":                    {"rm private.org; A add .; A commit -qm x; A rm -q plain.org; A commit -qm y", false},
		"not yet":                  {"rm private.org; A add .; echo '* x :noagent:' > /dev/null", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			put(t, filepath.Join(directory, "private.org"), private)
			put(t, filepath.Join(directory, "plain.org"), plain)
			script := "git init -q -b main .; " + strings.ReplaceAll(c.commands, "A ", "git -c user.name=a -c user.email=a@b ")
			command := exec.Command("/bin/sh", "-ec", strings.ReplaceAll(script, "echo git -c user.name=a -c user.email=a@b=b", "echo A=b"))
			command.Dir, command.Env = directory, append(os.Environ(), "HOME="+directory, "GIT_CONFIG_NOSYSTEM=1")
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f := &cover.Finder{User: "/home/someone"}
			for range 2 {
				if got := f.Look(t.Context(), directory); got.Holds() != c.covered {
					t.Errorf("the repository is covered: %v: %+v", got.Holds(), got.Files)
				}
			}
		})
	}
}
