// Package instance makes of the paths and the settings of one home what other packages are given of
// them: grants and rules, the fence of commands, hooks, servers and directories. A kernel and the
// commands of the program that need no kernel are made of the same values.
//
// Nothing here runs by itself. What reads files does so when it is used, so that changes of the
// person count.
package instance

import (
	"path/filepath"
	"strings"
	"sync/atomic"

	"org-agent/kernel/config"
	"org-agent/kernel/hook"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// Instance is one home. Env looks up a variable of the environment.
type Instance struct {
	Paths config.Paths
	Env   func(string) string
}

// Grants are what the person let notes reach. A note may never write what decides about the agent,
// and never read what kernels keep, whatever was granted.
func (i Instance) Grants(settings config.Settings) *skill.Grants {
	user := i.Env("HOME")
	if real, err := filepath.EvalSymlinks(user); err == nil {
		user = real
	}
	return skill.NewGrants(skill.GrantsConfig{
		File: i.Paths.Policy, Home: i.Paths.Home, User: user, Secrets: settings.KeyVariables(),
		Protected: func(path string) bool { return policy.Protected(i.Paths.Home, path) },
		Closed:    i.Paths.Keeps,
	})
}

// Rules are what the person lets the agent do.
func (i Instance) Rules() *policy.RuleFile {
	return &policy.RuleFile{Path: i.Paths.Policy, Home: i.Paths.Home}
}

// Hooks is what hooks of notes are asked with.
func (i Instance) Hooks(skills func() *skill.Set) hook.Config {
	return hook.Config{Skills: skills, Home: resolved(i.Env("HOME")), Hidden: i.hidden(), Environment: i.Env}
}

// PromptSkills is where the prompt skills are and what decides about them, but for the notes.
// Settings are read anew each time they are asked for; while config.org cannot be read, those from
// before hold.
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

// Directory is a directory of the settings as the system has it: the person's home stands for ~, and
// a relative path is below the agent's. Links in the path are followed, those in the directory are
// not. found says whether it is there.
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

// expanded is the path with the person's home directory for ~.
func (i Instance) expanded(path string) string {
	user := i.Env("HOME")
	if rest, under := strings.CutPrefix(path, "~"); under && user != "" && (rest == "" || rest[0] == '/') {
		return user + rest
	}
	return path
}
