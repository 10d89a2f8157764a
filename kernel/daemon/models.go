package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
)

// Drivers returns the drivers of model servers. The first is the default for servers whose protocol
// config.org does not name.
func Drivers() llm.Drivers {
	return llm.Drivers{
		openai.Driver(),
	}
}

// openModels makes the router of the models in the settings and the environment.
func (d *daemon) openModels(ctx context.Context, settings config.Settings) (*route.Router, error) {
	return route.New(ctx, route.Config{
		Drivers: Drivers(), Dialects: dialect.All(), Settings: settings, Env: d.config.Env, Consent: filepath.Join(d.paths.State, "consent"),
		Builtin: builtin.Provider{About: d.about, Pace: builtin.DefaultPace}, Logger: d.log,
	})
}

// reconfigure makes a changed config.org count, and tells people what of it cannot be used or counts
// only from the next start on. Only the goroutine that follows the file calls it.
func (d *daemon) reconfigure(ctx context.Context) {
	now := d.settings.Now()
	d.level.Set(now.LogLevel)
	faults := d.settings.Faults(displayPath(d.paths.Config))
	if !now.SameModels(d.routed) {
		if err := d.models.Reload(ctx, now); err != nil {
			faults = append(faults, fmt.Sprintf("the models stay as they were: %v", err))
		} else {
			d.routed = now
			d.log.Info("models changed", "model", d.models.Model())
		}
	}
	if info := d.serverInfo(); !reflect.DeepEqual(info, d.announced) {
		d.announced = info
		d.clients.NotifyAll(protocol.MethodServerChanged, info)
	}
	d.faults.Report("the settings", faults)
}

// newServer returns a server that does not answer messages, such as the one for embeddings.
func (d *daemon) newServer(model config.Model) *route.Server {
	return route.NewServer(Drivers()[0], model, d.config.Env)
}

// about returns the description of this kernel for the built-in responder.
func (d *daemon) about() builtin.About {
	about := d.skills.About(d.tools)
	about.Home, about.Version = d.paths.Home, d.config.Version
	return about
}
