// Package instance derives the configuration of other packages from the paths and the settings of
// one home: grants and rules, commands and their sandbox, hooks, servers and directories. A kernel
// and those commands of the program that need no kernel use the same values.
//
// The package starts nothing by itself, except that [Instance.OpenCommands] returns commands that
// must be closed. Values that depend on a file read it at each use, so that a person's changes take
// effect at once.
package instance

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"

	"org-agent/kernel/config"
	"org-agent/kernel/hook"
	"org-agent/kernel/keys"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// Instance is the instance of one home. Env looks up a variable of the environment.
type Instance struct {
	Paths config.Paths
	Env   func(string) string
}

// Grants returns what the person has granted to notes. No grant lets a note write the files that
// control the agent, or read the files that kernels write,
// or those with keys and passwords. settings returns the settings that hold now: which variables hold
// keys, and the proxy through which notes ask servers. judge is that of [Instance.Pages].
func (i Instance) Grants(settings func() config.Settings, judge func(netip.Addr) error) *skill.Grants {
	user := i.Env("HOME")
	if real, err := filepath.EvalSymlinks(user); err == nil {
		user = real
	}
	return skill.NewGrants(skill.GrantsConfig{
		File: i.Paths.Policy, Home: i.Paths.Home, User: user,
		Secrets:   func() []string { return settings().KeyVariables() },
		Network:   i.Pages(settings, judge, nil),
		Protected: func(path string) bool { return policy.Protected(i.Paths.Home, path) },
		Closed: func(path string) bool {
			return i.Paths.Keeps(path) || keys.In(path, user) == keys.Kept || policy.Secret(i.Paths.Home, path)
		},
	})
}

// GrantsWith returns what the person has granted to notes, with settings that do not change.
func (i Instance) GrantsWith(settings config.Settings) *skill.Grants {
	return i.Grants(func() config.Settings { return settings }, nil)
}

// Rules returns the rules by which the person allows or forbids actions.
func (i Instance) Rules() *policy.RuleFile {
	return &policy.RuleFile{Path: i.Paths.Policy, Home: i.Paths.Home}
}

// Hooks returns the configuration for hooks of notes.
func (i Instance) Hooks(skills func() *skill.Set) hook.Config {
	return hook.Config{Skills: skills, Home: resolved(i.Env("HOME")), Hidden: i.hidden(), Environment: i.Env}
}

// PromptSkills returns the configuration of prompt skills. It reads the settings at each use. While
// config.org cannot be read, the settings of the last successful reading count.
func (i Instance) PromptSkills() skillmd.Config {
	var last atomic.Pointer[config.Settings]
	last.Store(&config.Settings{})
	return skillmd.Config{
		Shipped: skills.Notes(), Home: i.Paths.Skills, Originals: filepath.Join(i.Paths.State, "originals"),
		Environment: func() skillmd.Environment {
			if settings, err := config.Load(i.Paths); err == nil {
				last.Store(&settings)
			}
			settings := last.Load()
			return skillmd.Environment{
				Env: i.Env, Config: settings.Value, Disabled: settings.SkillsDisabled, Allowed: settings.SkillsAllowed,
			}
		},
	}
}

// Notes returns the directories of NOTES in config.org. Some may not exist.
func (i Instance) Notes(settings config.Settings) (directories []string) {
	for _, path := range settings.Notes {
		directory, _ := i.Directory(path)
		directories = append(directories, directory)
	}
	return directories
}

// TaskFiles returns the files of TASK_FILES in config.org, absolute.
func (i Instance) TaskFiles(settings config.Settings) (files []string) {
	for _, path := range settings.TaskFiles {
		file, _ := i.Directory(path)
		files = append(files, file)
	}
	return files
}

// CheckNotes returns an error for people if a directory of NOTES in config.org does not exist.
func (i Instance) CheckNotes(settings config.Settings) error {
	for _, path := range settings.Notes {
		if _, found := i.Directory(path); !found {
			return fmt.Errorf("NOTES in config.org names %s, which does not exist: make it, or correct NOTES, and save config.org", path)
		}
	}
	return nil
}

// Directory returns the absolute path of a directory that the settings name. ~ stands for the
// person's home directory, and a relative path is below the home of the agent. Links in the path
// are resolved. Links inside the directory are not followed. found reports whether the path exists.
func (i Instance) Directory(path string) (directory string, found bool) {
	path = i.expanded(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(i.Paths.Home, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, true
	}
	return filepath.Clean(path), false
}

// expanded returns the path with the person's home directory in place of ~.
func (i Instance) expanded(path string) string {
	user := i.Env("HOME")
	if rest, under := strings.CutPrefix(path, "~"); under && user != "" && (rest == "" || rest[0] == '/') {
		return user + rest
	}
	return path
}
