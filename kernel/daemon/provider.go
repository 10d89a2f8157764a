package daemon

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
)

// provider builds what the settings and the environment choose, each with its
// time limits and retries, and every other model that can be asked for by its
// name. It sets the model's name and the notice that clients show.
func (d *daemon) provider(ctx context.Context, settings config.Settings) (llm.Provider, error) {
	choices, err := config.Choices(settings, d.config.Env)
	if err != nil {
		return nil, err
	}
	if d.models.standard, err = d.standard(ctx, settings, choices); err != nil {
		return nil, err
	}
	d.models.off = settings.Off
	return &d.models, d.others(settings)
}

// standard is what answers where no model is chosen: the choices in the order in
// which they are tried.
func (d *daemon) standard(ctx context.Context, settings config.Settings, choices []config.Choice) (llm.Provider, error) {
	cascade := llm.Cascade{Logger: d.log}
	for _, choice := range choices {
		provider, err := d.choose(ctx, settings, choice)
		if err != nil {
			return nil, err
		}
		if provider == nil {
			continue
		}
		cascade.Steps = append(cascade.Steps, llm.Step{Name: choice.Name, Provider: provider})
		if choice.Kind == config.ChoiceDiscover {
			break // what is found answers alone
		}
	}
	if len(cascade.Steps) == 1 {
		// No breaker: the person mends the server and asks again at once.
		return d.health.watch(cascade.Steps[0].Name, cascade.Steps[0].Provider), nil
	}
	for i, step := range cascade.Steps {
		cascade.Steps[i].Provider = d.health.watch(step.Name, &llm.Breaker{Next: step.Provider, Name: step.Name})
	}
	return cascade, nil
}

// choose makes the provider of one choice; nil if there is nothing to ask.
func (d *daemon) choose(ctx context.Context, settings config.Settings, choice config.Choice) (llm.Provider, error) {
	switch choice.Kind {
	case config.ChoiceBuiltin:
		d.call("builtin", "")
		responder := d.showing(builtin.Provider{About: d.about, Pace: builtin.DefaultPace}, "the built-in responder", llm.ImagesOmitted)
		d.models.add(place{name: "builtin", standard: true, provider: responder})
		return responder, nil
	case config.ChoiceNone:
		d.call("none", "")
		return noModel{}, nil
	case config.ChoiceDiscover:
		found := openai.Discover(ctx, openai.LocalPlaces())
		if len(found) == 0 {
			return nil, nil
		}
		choice.Name, choice.BaseURL = found[0].Name, found[0].BaseURL
		if choice.Model.Model == "" && len(found[0].Models) == 1 {
			choice.Model.Model = found[0].Models[0]
		}
	}
	return d.server(settings, choice)
}

// server makes the provider of a server that is asked where nothing is chosen.
func (d *daemon) server(settings config.Settings, choice config.Choice) (llm.Provider, error) {
	provider, asked, err := d.connect(settings, choice)
	if err != nil {
		return nil, err
	}
	notice := ""
	if choice.Found {
		notice = fmt.Sprintf("answers come from %s, found by %s; config.org chooses another model", host(choice.BaseURL), choice.Source)
		if err := d.consent.require(host(choice.BaseURL)); err != nil {
			return nil, err
		}
	}
	name := choice.Model.Model
	if name == "" {
		name = choice.Name
	}
	d.call(name, notice)
	heading := strings.HasPrefix(choice.Source, "config.org:")
	d.models.add(place{name: choice.Name, heading: heading, standard: true, provider: provider, server: asked})
	return provider, nil
}

// connect makes the provider of a server, with what makes it dependable.
func (d *daemon) connect(settings config.Settings, choice config.Choice) (llm.Provider, *server, error) {
	asked := &server{choice: choice, env: d.config.Env}
	base, err := asked.open("")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", choice.Source, err)
	}
	name := choice.Model.Model
	if name == "" {
		name = choice.Name
	}
	return d.showing(agreed{llm.Retry{Next: d.keyed(settings, asked, base.Name()), Logger: d.log}, &d.consent}, name, llm.ImageRule(choice.Images)), asked, nil
}

// keyed asks a server in the time it has, with one of its keys after the other if it has
// several.
func (d *daemon) keyed(settings config.Settings, asked *server, name string) llm.Provider {
	timed := func(s *server) llm.Provider {
		return llm.Timeouts{Next: s, Name: name, Idle: settings.IdleTimeout, Total: settings.TurnTimeout}
	}
	if len(asked.choice.MoreKeys) == 0 {
		return timed(asked)
	}
	rotation := &llm.Rotation{Logger: d.log}
	for i, key := range asked.choice.Keys() {
		with := asked
		if i > 0 {
			with = &server{choice: asked.choice, env: asked.env}
			with.choice.Key = key
			asked.spare = append(asked.spare, with)
		}
		rotation.Keys = append(rotation.Keys, llm.Key{Name: fmt.Sprintf("%s, key %d (%s)", name, i+1, key), Provider: timed(with)})
	}
	return rotation
}

// showing gives a provider its rule about images; the first one's is told to people who
// look at a prompt.
func (d *daemon) showing(provider llm.Provider, model string, rule llm.ImageRule) llm.Provider {
	images := llm.Images{Next: provider, Model: model, Rule: rule}
	if d.images == nil {
		d.images = images.Apply
	}
	return images
}

// agreed asks nothing before a person has agreed to where the words go, whatever
// brought the turn: an event, a retry, or the kernel's start.
type agreed struct {
	llm.Provider
	consent *consent
}

func (a agreed) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if err := a.consent.check(protocol.Event{}); err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return a.Provider.Stream(ctx, request)
}

// call names the model and the notice, once: the first choice is what people
// are told.
func (d *daemon) call(model, notice string) {
	if d.model == "" {
		d.model, d.notice = model, notice
	}
}

// host is the part of an address that tells people where their words go.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return llm.RedactURL(address)
	}
	return u.Host
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

// server asks a server with the settings of its heading in config.org. Its key
// is fetched when it is first needed: that may run a command, or ask a person.
type server struct {
	choice config.Choice
	env    func(string) string

	mu   sync.Mutex
	with *openai.Provider // with the key; nil before

	spare []*server // the same with its further keys

	windowMu sync.Mutex
	windows  map[string]told // of its models, by their names
	listed   listed
}

// open makes the provider.
func (s *server) open(key secret.Text) (*openai.Provider, error) {
	c := openai.Config{
		Name: s.choice.Name, BaseURL: s.choice.BaseURL, APIKey: key,
		Model: s.choice.Model.Model, GrammarField: s.choice.Grammar,
	}
	if s.choice.Effort != "" {
		c.Extra = map[string]any{"reasoning_effort": s.choice.Effort}
	}
	return openai.New(c)
}

// provider returns the provider with its key. A key that could not be got is
// tried again next time.
func (s *server) provider(ctx context.Context) (*openai.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.with != nil {
		return s.with, nil
	}
	key, err := s.choice.Key.Resolve(ctx, s.env)
	if err != nil {
		return nil, &llm.Error{Class: llm.ClassAuth, Provider: s.choice.Name, Err: err}
	}
	s.with, err = s.open(key)
	return s.with, err
}

// Stream implements [llm.Provider].
func (s *server) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if request.Temperature == nil {
		request.Temperature = s.choice.Temperature
	}
	if request.MaxTokens == 0 {
		request.MaxTokens = s.choice.MaxTokens
	}
	return func(yield func(llm.Delta, error) bool) {
		provider, err := s.provider(ctx)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for delta, err := range provider.Stream(ctx, request) {
			delta.Usage = s.priced(delta.Usage, request.Model)
			if !yield(delta, err) {
				return
			}
		}
	}
}

// noModel is the provider of ORG_AGENT_LLM=none: only skills that need no model
// answer.
type noModel struct{}

func (noModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, fmt.Errorf("no model is to be asked (ORG_AGENT_LLM or the setting LLM is none)"))
	}
}
