package daemon

import (
	"path/filepath"

	"org-agent/kernel/action"
	"org-agent/kernel/agent"
	"org-agent/kernel/hook"
	"org-agent/kernel/memory"
	"org-agent/kernel/notekind"
	"org-agent/kernel/persona"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/service"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// noteSkills holds the skills, and the sensor of the events that notes inject.
type noteSkills struct {
	service.Skills
	injected *sensor.Injected
}

// openSkills makes the registries of the notes and of the prompt skills. They are empty until they are
// loaded.
func (d *daemon) openSkills(home *memory.Home) {
	grants := d.home.Grants(d.settings.Last, d.config.Addresses)
	recorded := agent.Recordings{Turns: d.journal.Turns, Rows: d.journal.Records, Acts: d.journal.Acts}.Recording
	specs := func() action.Specs { return d.kinds.Specs() } // d.kinds is set later, after the tools
	d.skills = noteSkills{service.Skills{Grants: grants, Recorded: recorded, Persona: persona.Field(home), Specs: specs, Tools: ToolNames, CheckEvent: sensor.CheckEvent}, sensor.NewInjected(d.log)}
	d.skills.Notes = skill.New(skill.Config{
		Watcher: d.watcher,
		Shipped: skills.Notes(), Home: d.paths.Skills, Keep: filepath.Join(d.paths.State, "notes"), Logger: d.log, Grants: grants,
		Proven: filepath.Join(d.paths.State, "proven.json"), Program: skill.Program(d.config.Version),
		Recorded: recorded, Changed: d.skillsChanged, Persona: d.skills.Persona,
		Log:    func(name, text string) { d.log.Info("skill log", "skill", name, "text", d.agent.Hide(text)) },
		Inject: d.skills.injected.Inject,
		Specs:  specs, Tools: ToolNames, CheckEvent: sensor.CheckEvent,
	})
	c := d.home.PromptSkills()
	c.Logger, c.Watcher = d.log, d.watcher
	c.Notes = func() map[string]string { return skillmd.NamesOf(d.skills.Notes.Statuses()) }
	c.Changed = func([]skillmd.Status) {
		d.clients.NotifyAll(protocol.MethodSkillChanged, d.skills.List(d.skills.Notes.Statuses()))
	}
	d.skills.Prompts = skillmd.New(c)
}

// skillsChanged notifies every client of the notes' states. It also refreshes the prompt skills, because
// a note may have taken or released the name of one.
func (d *daemon) skillsChanged(statuses []skill.Status) {
	d.skills.Prompts.Refresh()
	hook.WarnUnknown(d.log, statuses, d.tools, notekind.Live(d.kinds, d.skills.Notes)())
	d.clients.NotifyAll(protocol.MethodSkillChanged, d.skills.List(statuses))
}
