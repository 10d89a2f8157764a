package sandbox

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

// setting is a file or a directory that git obeys because its settings name it.
type setting struct {
	Path string // absolute
	// Hooks is true for a directory of hooks. If it does not exist, a placeholder is put there.
	Hooks bool
	// Program is true for a word of a command line. A new one is reported and not put aside.
	Program bool
}

// pathSettings are the settings whose value is the path of something that git obeys. A * stands for
// any name.
var pathSettings = [...]string{
	"include.path", "includeif.*.path", // more settings
	"core.hookspath",      // programs
	"core.fsmonitor",      // a program, at each git status
	"core.attributesfile", // which filters and drivers run on which files
	"core.excludesfile",   // what git does not show
	"init.templatedir",    // hooks of repositories that are made or cloned
}

// programSettings are the settings whose value is a program or a command line.
var programSettings = [...]string{
	"alias.*", "core.editor", "core.pager", "core.sshcommand", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"sequence.editor", "pager.*", "interactive.difffilter",
	"diff.external", "diff.*.command", "diff.*.textconv", "difftool.*.cmd", "difftool.*.path",
	"merge.*.driver", "mergetool.*.cmd", "mergetool.*.path",
	"filter.*.clean", "filter.*.smudge", "filter.*.process",
	"gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand", "credential.helper", "credential.*.helper",
	"remote.*.uploadpack", "remote.*.receivepack", "submodule.*.update", "hook.*.command",
	"trailer.*.command", "trailer.*.cmd", "tar.*.command", "uploadpack.packobjectshook",
	"browser.*.cmd", "browser.*.path", "man.*.cmd", "man.*.path", "guitool.*.cmd", "imap.tunnel", "sendemail.*",
}

// named reports whether a setting matches one of the patterns.
func named(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		before, after, any := strings.Cut(pattern, "*")
		return key == pattern || any && len(key) > len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)
	})
}

// askLimit is the maximum number of repositories whose settings git is asked for.
const askLimit = 100

// obeyedSettings returns what git obeys because of its settings in a directory and in the
// repositories there, as far as it lies in the directory. whole is false if there are more
// repositories than askLimit.
func obeyedSettings(directory string, repositories []string) (found []setting, whole bool) {
	places := []string{directory}
	for _, repository := range repositories {
		if at := strings.TrimSuffix(repository, "/.git"); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	whole = len(places) <= askLimit
	for _, place := range places[:min(len(places), askLimit)] {
		for _, s := range settingsIn(place) {
			s.Path = inside(s.Path, directory)
			if s.Path != directory && within(s.Path, directory) && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found, whole
}

// inside returns the path by which the path of a setting is guarded in a directory: the first link
// on the way, which is guarded together with its target. A path that leads into the directory by
// links from elsewhere is resolved first.
func inside(path, directory string) string {
	if !within(path, directory) {
		if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(real, filepath.Base(path))
		}
	}
	rest, err := filepath.Rel(directory, path)
	if err != nil || !within(path, directory) {
		return path
	}
	at := directory
	for name := range strings.SplitSeq(rest, "/") {
		at = filepath.Join(at, name)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return at
		}
	}
	return path
}

// settingsIn returns what git's settings name in one place.
func settingsIn(place string) (found []setting) {
	output, err := git(place, nil, "config", "--includes", "--show-origin", "--list", "-z")
	if err != nil {
		return nil // there is no git, or the person's git fails there too
	}
	fields := strings.Split(output, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		base := place
		if strings.HasPrefix(key, "include") {
			base = filepath.Dir(strings.TrimPrefix(fields[i], "file:"))
			if !filepath.IsAbs(base) {
				base = filepath.Join(place, base)
			}
		}
		switch {
		case value == "":
		case named(pathSettings[:], key):
			if path := expanded(value, base); key != "core.fsmonitor" || strings.Contains(value, "/") || exists(path) {
				found = append(found, setting{Path: path, Hooks: key == "core.hookspath"})
			}
		case named(programSettings[:], key):
			for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&!<>()$", r) }) {
				path := expanded(word, base)
				info, err := os.Stat(path)
				if strings.Contains(word, "/") && (err != nil || info.Mode().IsRegular()) {
					found = append(found, setting{Path: path, Program: true})
				}
			}
		}
	}
	return found
}

// expanded returns the absolute path of a setting's value.
func expanded(value, base string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(base, value)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// git asks git about settings, which runs nothing. The environment is the person's, without the
// variables that would lead to another repository.
func git(directory string, input []byte, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // a file of settings may be a pipe
	defer cancel()
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir, command.Stdin = directory, bytes.NewReader(input)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") && !strings.HasPrefix(variable, "GIT_CONFIG_")
	})
	output, err := command.Output()
	return string(output), err
}
