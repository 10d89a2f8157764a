package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"org-agent/kernel/agent"
	"org-agent/kernel/config"
	"org-agent/kernel/memory"
	"org-agent/kernel/persona"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/service"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// noteSkills are the skills and what their notes inject.
type noteSkills struct {
	service.Skills
	injected *sensor.Injected
}

// openSkills makes the registries of the notes and of the prompt skills. They are empty until
// they are loaded.
func (d *daemon) openSkills(settings config.Settings, home *memory.Home) {
	grants := Grants(d.paths, settings, d.config.Env)
	recorded := func(ctx context.Context, turn string) (skill.Recording, error) {
		return agent.Recall(ctx, d.journal, turn)
	}
	d.skills = noteSkills{service.Skills{Grants: grants, Recorded: recorded, Persona: Persona(home)}, sensor.NewInjected(d.log)}
	d.skills.Notes = skill.New(skill.Config{
		Shipped: skills.Notes(), Home: d.paths.Skills, Keep: filepath.Join(d.paths.State, "notes"), Logger: d.log, Grants: grants,
		Proven: filepath.Join(d.paths.State, "proven.json"), Program: program(d.config.Version),
		Recorded: recorded, Changed: d.skillsChanged, Persona: d.skills.Persona,
		Log:    func(name, text string) { d.log.Info("skill log", "skill", name, "text", d.agent.Hide(text)) },
		Inject: d.skills.injected.Inject,
	})
	c := PromptSkills(d.paths, d.config.Env)
	c.Logger = d.log
	c.Notes = func() map[string]string { return skillmd.NamesOf(d.skills.Notes.Statuses()) }
	c.Changed = func([]skillmd.Status) {
		d.editors.notify(protocol.MethodSkillChanged, d.skills.List(d.skills.Notes.Statuses()))
	}
	d.skills.Prompts = skillmd.New(c)
}

// skillsChanged tells every client what became of the notes. A note may have taken the name of
// a prompt skill, or given it free.
func (d *daemon) skillsChanged(statuses []skill.Status) {
	d.skills.Prompts.Refresh()
	d.warnOfHooks(statuses)
	d.editors.notify(protocol.MethodSkillChanged, d.skills.List(statuses))
}

// logStatus says what became of a note.
func (d *daemon) logStatus(s skill.Status) {
	if len(s.Diagnostics) == 0 {
		d.log.Info("note loaded", "file", s.File, "skill", s.Skill, "state", s.State)
		return
	}
	for _, fault := range s.Diagnostics {
		d.log.Warn("note not in order", "file", s.File, "state", s.State, "err", fault.String())
	}
}

// program tells the program that runs from others, also from one of the same version that was
// built anew; "" if that cannot be told.
func program(version string) string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %d", version, path, info.Size(), info.ModTime().UnixNano())
}

// Persona is what notes read of the agent in the file IDENTITY of a home, by name.
func Persona(home *memory.Home) func(name string) string { return persona.Field(home) }

// PromptSkills is where an instance's prompt skills are and what decides about them, but for
// the notes. Settings are read anew each time they are asked for; while config.org cannot be
// read, those from before hold.
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
