package daemon

import (
	"path/filepath"

	"org-agent/kernel/config"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
)

// Grants are what the person of a home let notes reach. What decides about the agent may
// not be written by a note whatever was granted, and what kernels keep may not be read.
func Grants(paths config.Paths, settings config.Settings, env func(string) string) *skill.Grants {
	user := env("HOME")
	if real, err := filepath.EvalSymlinks(user); err == nil {
		user = real
	}
	return skill.NewGrants(skill.GrantsConfig{
		File: paths.Policy, Home: paths.Home, User: user, Secrets: settings.KeyVariables(),
		Protected: func(path string) bool { return policy.Protected(paths.Home, path) },
		Closed:    paths.Keeps,
	})
}

// Rules are what the person of a home lets the agent do.
func Rules(paths config.Paths) *policy.RuleFile {
	return &policy.RuleFile{Path: paths.Policy, Home: paths.Home}
}
