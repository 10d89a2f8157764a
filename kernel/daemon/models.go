package daemon

import (
	"context"
	"path/filepath"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
)

// Drivers are the protocols that model servers are asked in. The first is for servers of which
// config.org does not say what they speak.
func Drivers() llm.Drivers {
	return llm.Drivers{
		openai.Driver(),
	}
}

// openModels makes the router of the models that the settings and the environment choose.
func (d *daemon) openModels(ctx context.Context, settings config.Settings) (*route.Router, error) {
	return route.New(ctx, route.Config{
		Drivers: Drivers(), Dialects: dialect.All(), Settings: settings, Env: d.config.Env, Consent: filepath.Join(d.paths.State, "consent"),
		Builtin: builtin.Provider{About: d.about, Pace: builtin.DefaultPace}, Logger: d.log,
	})
}

// server is one that settings name for something else than answers.
func (d *daemon) server(model config.Model) *route.Server {
	return route.NewServer(Drivers()[0], model, d.config.Env)
}

// about is what the built-in responder knows of this kernel.
func (d *daemon) about() builtin.About {
	about := d.skills.About(d.tools)
	about.Home, about.Version = d.paths.Home, d.config.Version
	return about
}
