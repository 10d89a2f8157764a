package daemon

import "org-agent/kernel/hook"

// hooks asks the hooks of the notes of this kernel.
func (d *daemon) hooks() *hook.Hooks {
	c := d.home.Hooks(d.skills.Notes.Current)
	c.Logger = d.log
	c.Kind = d.commands.kind
	return hook.New(c)
}
