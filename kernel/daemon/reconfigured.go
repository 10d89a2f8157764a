package daemon

import (
	"context"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/watch"
)

// followSettings tells people when config.org says something that this kernel, which read it
// when it started, does not do yet, and what is at fault in it, until ctx ends.
func (d *daemon) followSettings(ctx context.Context, started config.Settings) error {
	w := watch.Watch{
		Of: "the settings", Above: d.paths.Home, Quiet: 20 * time.Millisecond, Patience: 500 * time.Millisecond, Logger: d.log,
		Directories: func() []string { return nil },
		Concerns:    func(path string) bool { return path == d.paths.Config },
		CatchUp: func(context.Context) time.Duration {
			d.faults.tell(d, "the settings", d.settingsTold(started))
			return 0
		},
	}
	return w.Follow(ctx)
}

// settingsTold is what there is to say of config.org as it stands.
func (d *daemon) settingsTold(started config.Settings) []string {
	now, err := config.Load(d.paths)
	if err != nil {
		return []string{err.Error() + "; what it said before counts"}
	}
	var told []string
	for _, fault := range now.Diagnostics {
		told = append(told, fault.String())
	}
	if !started.SameStart(now) {
		told = append(told, d.shown(d.paths.Config)+" has changed, and this kernel began with what it said before: M-x org-agent-stop (or \"org-agent stop\"), and your next message starts one that does what it says")
	}
	return told
}
