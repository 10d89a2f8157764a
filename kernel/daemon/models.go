package daemon

import (
	"context"
	"os"
	"path/filepath"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/config"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// openModels makes the router of the models in the settings and the environment.
func (d *daemon) openModels(ctx context.Context, settings config.Settings) (*route.Router, error) {
	return route.New(ctx, route.Config{
		Drivers: d.config.Drivers, Dialects: dialect.All(), Settings: settings, Env: d.config.Env, Consent: filepath.Join(d.paths.State, "consent"),
		Learnt: filepath.Join(d.paths.State, "learnt.json"), Version: d.config.Version,
		Builtin: builtin.Provider{About: d.about, Pace: builtin.DefaultPace}, KeepPicture: d.keepPicture, Logger: d.log,
	})
}

// keepPicture stores a picture of a reply where images that a person attaches are. The conversation links to
// it.
func (d *daemon) keepPicture(name string, content []byte) (string, error) {
	directory := filepath.Join(d.paths.Sessions, "images")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(directory, name)
	return path, atomicfile.Write(path, content, 0o600)
}

// setup returns the service that finds, tries and writes models.
func (d *daemon) setup() service.Setup {
	return service.Setup{
		Path: d.paths.Config, Settings: d.settings, Model: d.models.Model,
		Route: route.Config{Drivers: d.config.Drivers, Dialects: dialect.All(), Env: d.config.Env, Logger: d.log},
		Changed: func(ctx context.Context) {
			d.configuration.Reload(ctx)
			d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{d.paths.Config}})
		},
	}
}

// newServer returns a server that does not answer messages, such as the one for embeddings.
func (d *daemon) newServer(model config.Model) *route.Server {
	return route.NewServer(d.config.Drivers[0], model, d.config.Env)
}

// about returns the description of this kernel for the built-in guide.
func (d *daemon) about() builtin.About {
	about := d.skills.About(d.tools)
	about.Home, about.Version = d.paths.Home, d.config.Version
	return about
}
