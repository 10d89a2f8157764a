package daemon

import (
	"context"

	"org-agent/kernel/reaction"
	"org-agent/kernel/sensor"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
)

// sensors returns the built-in sensors, followed by those of the configuration.
func (d *daemon) sensors() []sensor.Sensor {
	return append([]sensor.Sensor{
		d.skills.injected,
		d.tasks,
		d.heartbeat,
	}, d.config.Sensors...)
}

// resolver returns the resolver of a message's settings.
func (d *daemon) resolver() *settings.Resolver {
	return &settings.Resolver{
		Live: d.settings, Directory: d.paths.Sessions, Names: d.sessions, Chosen: d.journal.Sessions, Models: d.models, Skills: d.skills, Profiles: d.persona,
	}
}

// reactions returns what decides which skills react to what happens in the person's Org files.
func (d *daemon) reactions() *reaction.Reactions {
	return reaction.New(reaction.Config{
		Matcher: d.agent, Turns: d.journal.Turns, PerHour: func() int { return d.settings.Last().ReactionsPerHour() }, Now: d.config.Now, Logger: d.log,
	})
}

// edges returns the tasks of the sensors and of the channels, which take events from outside beside the
// clients. A sensor that ends before the kernel is reported as a fault.
func (d *daemon) edges(intake service.Intake) []func(context.Context) {
	var tasks []func(context.Context)
	edge := func(name string, run func(ctx context.Context) error) {
		tasks = append(tasks, func(ctx context.Context) {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				d.log.Error("edge ended", "name", name, "err", err)
				d.faults.Report(name, []string{name + " has stopped: " + err.Error()})
			}
		})
	}
	edge("contacts", d.contacts.Run)
	for _, s := range d.sensors() {
		edge(s.Name(), func(ctx context.Context) error { return s.Run(ctx, intake.Take) })
	}
	d.openRouter(intake)
	return append(tasks, d.channels.Run, d.channels.typing.Run, d.channels.stream.Run, d.channels.letters.Run)
}
