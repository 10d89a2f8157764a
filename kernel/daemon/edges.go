package daemon

import (
	"context"

	"org-agent/kernel/channel"
	"org-agent/kernel/sensor"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
)

// sensors are those that are built in, and behind them those that the kernel was started with.
func (d *daemon) sensors() []sensor.Sensor {
	return append([]sensor.Sensor{
		d.skills.injected,
	}, d.config.Sensors...)
}

// channels are those that are built in, and behind them those that the kernel was started with.
// It is called once: a driver may hold a connection.
func (d *daemon) openChannels() {
	d.channels = append(channel.Drivers{}, d.config.Channels...)
}

// resolver decides what holds for a message.
func (d *daemon) resolver() *settings.Resolver {
	return &settings.Resolver{
		Live: d.settings, Directory: d.paths.Sessions, Names: d.sessions, Chosen: d.journal.Sessions, Models: d.models, Skills: d.skills, Profiles: d.persona,
	}
}

// edges is what runs at the kernel's edges beside its clients: sensors and channels. What ends
// before the kernel does is told.
func (d *daemon) edges(intake service.Intake) []func(context.Context) {
	var runs []func(context.Context)
	edge := func(name string, run func(ctx context.Context) error) {
		runs = append(runs, func(ctx context.Context) {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				d.log.Error("edge ended", "name", name, "err", err)
				d.faults.Tell(name, []string{name + " reports nothing any more: " + err.Error()})
			}
		})
	}
	for _, s := range d.sensors() {
		edge(s.Name(), func(ctx context.Context) error { return s.Run(ctx, intake.Take) })
	}
	for _, driver := range d.channels {
		edge(driver.Name(), func(ctx context.Context) error {
			return channel.Run(ctx, driver, channel.Config{Take: intake.Take, May: d.config.MayTalk, Logger: d.log})
		})
	}
	return runs
}
