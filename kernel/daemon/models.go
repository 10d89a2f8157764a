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
	"org-agent/kernel/service"
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

// setup returns the service that finds, tries and writes models.
func (d *daemon) setup() service.Setup {
	return service.Setup{
		Path: d.paths.Config,
		Discover: func(ctx context.Context) []llm.FoundServer {
			found, _ := Drivers().Discover(ctx)
			return found
		},
		List: func(ctx context.Context, m config.Model) ([]string, error) { return d.newServer(m).Models(ctx) },
		Try: func(ctx context.Context, m config.Model, request llm.Request) (llm.Reply, error) {
			env := func(name string) string { // no variable chooses another model
				if name == m.Key.Env {
					return d.config.Env(name)
				}
				return ""
			}
			router, err := route.New(ctx, route.Config{Drivers: Drivers(), Dialects: dialect.All(), Settings: config.Settings{Models: []config.Model{m}}, Env: env, Logger: d.log})
			if err != nil {
				return llm.Reply{}, err
			}
			return llm.Collect(router.Stream(ctx, request))
		},
		Changed: func(ctx context.Context) {
			d.reconfigure(ctx)
			d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{d.paths.Config}})
		},
		Model: d.models.Model,
		Decides: func() (name, otherwise string) {
			choices, err := config.Choices(d.settings.Now(), d.config.Env)
			if err != nil {
				return "", err.Error()
			}
			variable, set := d.config.Env("ORG_AGENT_LLM"), d.settings.Last().LLM
			switch {
			case variable != "":
				otherwise = fmt.Sprintf("the variable ORG_AGENT_LLM is %s, and that decides", variable)
			case set != "":
				otherwise = fmt.Sprintf("LLM in config.org is %s, and that decides", set)
			}
			return choices[0].Name, otherwise
		},
	}
}

// reconfigure makes a changed config.org count, and tells people what of it cannot be used or counts
// only from the next start on.
func (d *daemon) reconfigure(ctx context.Context) {
	d.reconfiguring.Lock()
	defer d.reconfiguring.Unlock()
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
