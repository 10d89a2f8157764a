package daemon

import (
	"org-agent/kernel/config"
	"org-agent/kernel/hook"
	"org-agent/kernel/skill"
)

// hooks asks the hooks of the notes of this kernel.
func (d *daemon) hooks() *hook.Hooks {
	c := Hooks(d.paths, d.config.Env, d.skills.Notes.Current, d.kinds)
	c.Logger = d.log
	c.Kind = d.commands.kind
	return hook.New(c)
}

// warnOfHooks logs which hooks are about tools that are not there.
func (d *daemon) warnOfHooks(statuses []skill.Status) {
	if d.tools == nil {
		return // notes are loaded before there are any
	}
	for _, s := range statuses {
		for _, h := range s.Hooks {
			if why := hook.Unknown(h, d.tools); why != "" {
				d.log.Warn("a hook is never called", "hook", h.Name, "file", h.File, "line", h.Line, "err", why)
			}
		}
	}
}

// Hooks is what the hooks of an instance are asked with.
func Hooks(paths config.Paths, env func(string) string, skills func() *skill.Set, kinds hook.Kinds) hook.Config {
	return hook.Config{Kinds: kinds, Skills: skills, Home: resolvedPath(env("HOME")), Hidden: hiddenFrom(paths), Environment: env}
}
