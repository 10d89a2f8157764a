package daemon

import (
	"context"
	"path/filepath"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Drivers are the protocols that model servers are asked in.
func Drivers() llm.Drivers { return llm.Drivers{openai.Driver()} }

// openModels makes the router of the models that the settings and the environment choose.
func (d *daemon) openModels(ctx context.Context, settings config.Settings) (err error) {
	d.models, err = route.New(ctx, route.Config{
		Drivers: Drivers(), Settings: settings, Env: d.config.Env, Consent: filepath.Join(d.paths.State, "consent"),
		Builtin: builtin.Provider{About: d.about, Pace: builtin.DefaultPace}, Logger: d.log,
	})
	return err
}

// server is one that settings name for something else than answers.
func (d *daemon) server(model config.Model) *route.Server {
	driver, _ := Drivers().Named(model.Driver) // of those there is a first
	return route.NewServer(driver, model, d.config.Env)
}

// about is what the built-in responder knows of this kernel.
func (d *daemon) about() builtin.About {
	about := builtin.About{Home: d.paths.Home, Version: d.config.Version}
	for _, s := range d.skills.Current().Skills() {
		does := s.Description
		if does == "" {
			does = s.Title
		}
		about.Skills = append(about.Skills, builtin.Item{Name: s.Name, Does: does})
	}
	for _, s := range d.prompts.Current().Offered() {
		about.Texts = append(about.Texts, builtin.Item{Name: s.Name, Does: s.Description})
	}
	for _, t := range d.tools.Offered() {
		about.Tools = append(about.Tools, builtin.Item{Name: t.Name(), Does: t.Does()})
	}
	return about
}

// listModels answers model/list.
func (d *daemon) listModels(ctx context.Context, _ *rpc.Client, p *protocol.ModelListParams) (protocol.ModelListResult, error) {
	chosen := ""
	if p.Session != "" {
		var err error
		if chosen, err = d.journal.SessionModel(ctx, p.Session); err != nil {
			return protocol.ModelListResult{}, err
		}
	}
	return d.models.List(ctx, chosen), nil
}

// chooseModel answers session/model.
func (d *daemon) chooseModel(ctx context.Context, _ *rpc.Client, p *protocol.SessionModelParams) (protocol.SessionModelParams, error) {
	if p.Model != "" {
		if err := d.models.Find(p.Model); err != nil {
			return *p, err
		}
	}
	return *p, d.sessions.Choose(ctx, *p)
}

// retry answers turn/retry.
func (d *daemon) retry(ctx context.Context, _ *rpc.Client, p *protocol.TurnRetryParams) (protocol.EventResult, error) {
	if p.Model != "" {
		if err := d.models.Find(p.Model); err != nil {
			return protocol.EventResult{}, err
		}
	}
	record, err := d.sessions.Turn(ctx, protocol.TurnParams{Turn: p.Turn, Event: p.Event})
	if err != nil {
		return protocol.EventResult{}, err
	}
	settings, err := d.settleAgain(ctx, record, p.Above)
	if err != nil {
		return protocol.EventResult{}, err
	}
	return d.sessions.Retry(ctx, *p, settings)
}
