package daemon

import (
	"path/filepath"
	"sync/atomic"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// PromptSkills is where an instance's prompt skills are and what decides about them, but for
// the notes. Settings are read anew each time they are asked for; while config.org cannot
// be read, those from before hold.
func PromptSkills(paths config.Paths, env func(string) string) skillmd.Config {
	var last atomic.Pointer[config.Settings]
	last.Store(&config.Settings{})
	return skillmd.Config{
		Shipped: skills.Notes(), Home: paths.Skills, Originals: filepath.Join(paths.State, "originals"),
		Surroundings: func() skillmd.Surroundings {
			if settings, err := config.Load(paths); err == nil {
				last.Store(&settings)
			}
			settings := last.Load()
			return skillmd.Surroundings{
				Env: env, Config: settings.Value, Disabled: settings.SkillsDisabled, Allowed: settings.SkillsAllowed,
			}
		},
	}
}

// promptSkills makes the registry of the prompt skills, beside the one of the notes.
func (d *daemon) promptSkills() *skillmd.Registry {
	c := PromptSkills(d.paths, d.config.Env)
	c.Logger = d.log
	c.Notes = func() map[string]string { return skillmd.NamesOf(d.skills.Statuses()) }
	c.Changed = func([]skillmd.Status) {
		d.editors.notify(protocol.MethodSkillChanged, d.skillList(d.skills.Statuses()))
	}
	return skillmd.New(c)
}

// promptListBytes bounds what a message has of prompt skills: a frame has an end, and
// people have other ways to look at thousands.
const promptListBytes = protocol.FrameLimit / 4

// promptList is the prompt skills for the wire, and how many are left out.
func (d *daemon) promptList() (list []protocol.SkillStatus, left int) {
	bytes := 0
	all := d.prompts.Statuses()
	for i, s := range all {
		const keys = 200 // and the punctuation, about
		bytes += keys + len(s.File) + len(s.Skill) + len(s.Description)
		for _, reason := range s.Reasons {
			bytes += len(reason)
		}
		for _, fault := range s.Diagnostics {
			bytes += keys + len(fault.File) + len(fault.Message)
		}
		if bytes > promptListBytes {
			return list, len(all) - i
		}
		list = append(list, protocol.SkillStatus{
			Kind: "prompt", File: s.File, Skill: s.Skill, Description: s.Description, State: protocol.Keyword(s.State), Reasons: s.Reasons,
			Shipped: s.Shipped, Version: s.Version, OnlyUser: s.OnlyUser, Diagnostics: skillDiagnostics(s.Diagnostics),
		})
	}
	return list, 0
}
