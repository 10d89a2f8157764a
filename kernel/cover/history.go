package cover

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// repositories covers those that have covered files, or had them.
func (s *search) repositories(ctx context.Context) {
	for _, git := range s.repos {
		top := filepath.Dir(git)
		if _, err := os.Stat(filepath.Join(git, "HEAD")); err != nil && isDirectory(git) {
			continue // it is no repository
		}
		var names []string
		kept := false // one of them is withheld
		for _, file := range s.found.Files {
			if name, below := strings.CutPrefix(file.Path, top+"/"); below && !file.example(name) && file.Reason != History {
				names, kept = append(names, name), kept || file.Reason == Withheld
			}
		}
		if len(names) > 0 && s.finder.has(ctx, top, names, kept) || s.finder.held(ctx, top) {
			s.add(File{Path: git, Reason: History, Directory: isDirectory(git)})
		}
	}
}

// examples are directories with what tests and readers need. Keys that are committed there are no secret.
var examples = [...]string{"testdata", "fixtures", "fixture", "test", "tests", "testing", "example", "examples", "spec"}

// example reports whether a file of a repository, by its name there, is such a key, or a certificate.
func (f File) example(name string) bool {
	if f.Reason != Keys && f.Reason != Perhaps {
		return false
	}
	if slices.ContainsFunc(strings.Split(filepath.Dir(name), "/"), func(part string) bool { return slices.Contains(examples[:], part) }) {
		return true
	}
	if f.Reason != Perhaps || f.Directory || !strings.EqualFold(filepath.Ext(name), ".pem") {
		return false
	}
	text, err := os.ReadFile(f.Path)
	return err == nil && bytes.Contains(text, []byte("BEGIN CERTIFICATE")) && !bytes.Contains(text, []byte("PRIVATE KEY"))
}

func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// lookFor is how long git may look for files in the history, and mostNames for how many.
const (
	lookFor   = 2 * time.Second
	mostNames = 500
)

// has reports whether a repository has one of the files in its index or in its history. Where git cannot
// tell in time, the answer is assumed.
func (f *Finder) has(ctx context.Context, top string, names []string, assumed bool) bool {
	if len(names) > mostNames {
		return true
	}
	head := state(ctx, top)
	key := top + "\x00" + head + "\x00" + strings.Join(names, "\x00")
	f.mu.Lock()
	has, known := f.past[key]
	f.mu.Unlock()
	if known {
		return has
	}
	limited, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = ":(top,literal)" + name
	}
	now, err := git(limited, top, append([]string{"ls-files", "-z", "--"}, names...)...)
	has = now != "" || err != nil
	if !has {
		past, err := git(limited, top, append([]string{"rev-list", "--all", "--reflog", "-1", "--"}, names...)...)
		has = past != "" || err != nil && assumed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.past == nil || len(f.past) > 1000 {
		f.past = map[string]bool{}
	}
	f.past[key] = has
	return has
}

// state returns a text that changes when something is committed or added.
func state(ctx context.Context, top string) string {
	refs, _ := git(ctx, top, "for-each-ref", "--format=%(objectname)") // the index decides where there are none
	index, err := os.Stat(filepath.Join(top, ".git", "index"))
	if err != nil {
		return refs
	}
	return refs + index.ModTime().String()
}

// git asks git, which runs nothing that a repository names for these questions, and asks no server.
func git(ctx context.Context, top string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", top, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, arguments...)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	command.Env = append(command.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var out bytes.Buffer
	command.Stdout = &out
	err := command.Run()
	return out.String(), err
}
