package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
	"org-agent/kernel/text"
)

// findingLimit is how many faults of one kind are listed.
const findingLimit = 10

// settings checks config.org.
func settings(_ context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return []Finding{fail("make it a readable file", "%v", err)}
	}
	var found []Finding
	for _, d := range loaded.Diagnostics {
		found = append(found, fail("correct the line", "%s", d))
	}
	if _, err := config.Choices(loaded, c.Env); err != nil {
		found = append(found, fail("", "no model can be chosen: %v", err))
	}
	if len(found) > 0 {
		return found[:min(findingLimit, len(found))]
	}
	if _, err := os.Stat(c.Paths.Config); errors.Is(err, fs.ErrNotExist) {
		return []Finding{ok("there is no %s: nothing is set", c.Paths.Config)}
	}
	return []Finding{ok("%s", c.Paths.Config)}
}

// modelTime is how long a server may take to list its models.
const modelTime = 5 * time.Second

// model checks whether the configured models can be asked. It does not ask them.
func model(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // the check settings reports it
	}
	choices, err := config.Choices(loaded, c.Env)
	if err != nil {
		return nil
	}
	var found []Finding
	for _, choice := range choices {
		switch choice.Kind {
		case config.ChoiceNone:
			found = append(found, warn("", "no model is used (%s): only skills that need none answer", choice.Source))
		case config.ChoiceBuiltin:
			found = append(found, warn("name one in config.org, below \"Models\"", "the built-in guide answers (%s): it is no language model", choice.Source))
		case config.ChoiceDiscover:
			if servers, _ := c.Drivers.Discover(ctx); len(servers) > 0 {
				return append(found, ok("%s answers on this machine, with %s", servers[0].Name, text.Count(len(servers[0].Models), "model")))
			}
		default:
			for i, key := range choice.Keys() {
				with := choice
				if with.Key = key; len(choice.MoreKeys) > 0 {
					with.Source = fmt.Sprintf("%s, key %d, %s", choice.Source, i+1, key)
				}
				found = append(found, c.server(ctx, with))
			}
		}
	}
	return found
}

// server checks whether a server answers and has the model.
func (c Config) server(ctx context.Context, choice config.Choice) Finding {
	name := fmt.Sprintf("%s (%s)", choice.Name, choice.Source)
	names, err := c.models(ctx, choice.Model)
	switch {
	case err != nil && unusable(err):
		return fail(llm.HintOf(err), "the model %s: %v", name, err)
	case err != nil:
		return ok("the model %s: %s answers; it does not list its models", name, choice.BaseURL)
	}
	switch {
	case choice.Model.Model == "" && len(names) == 1:
		return ok("the model %s: %s has %s", name, choice.BaseURL, names[0])
	case choice.Model.Model == "":
		return fail("choose one with MODEL in config.org", "the model %s: %s has %d models, and none is named: %s", name, choice.BaseURL, len(names), some(names))
	case len(names) > 0 && !slices.Contains(names, choice.Model.Model):
		return fail("correct MODEL", "the model %s: %s has no %s, but %s", name, choice.BaseURL, choice.Model.Model, some(names))
	}
	return ok("the model %s: %s has %s", name, choice.BaseURL, choice.Model.Model)
}

// models returns the models that a server lists.
func (c Config) models(ctx context.Context, server config.Model) ([]string, error) {
	var names []string
	server.Model = "" // the model may not exist on the server
	err := c.withProvider(ctx, server, func(ctx context.Context, p llm.Provider) error {
		able, err := llm.As[interface {
			Models(context.Context) ([]string, error)
		}](p, "list its models")
		if err == nil {
			names, err = able.Models(ctx)
		}
		return err
	})
	return names, err
}

// withProvider opens the provider of a server for ask, which may take modelTime.
func (c Config) withProvider(ctx context.Context, server config.Model, ask func(context.Context, llm.Provider) error) error {
	ctx, cancel := context.WithTimeout(ctx, modelTime)
	defer cancel()
	driver, err := c.Drivers.Named(server.Driver)
	if err != nil {
		return err
	}
	key, err := server.Key.Resolve(ctx, c.Env)
	if err != nil {
		return err
	}
	provider, err := driver.Open(llm.ServerConfig{Name: server.Name, BaseURL: server.BaseURL, Key: key, Model: server.Model})
	if err != nil {
		return err
	}
	if closer, ok := provider.(interface{ Close() }); ok {
		defer closer.Close()
	}
	return ask(ctx, provider)
}

// unusable reports whether a server that did not list its models cannot be asked at all. A server
// that answers with another error only does not list them.
func unusable(err error) bool {
	switch llm.ClassOf(err) {
	case "", llm.ClassAuth, llm.ClassUnreachable, llm.ClassTimeout, llm.ClassCanceled, llm.ClassServer, llm.ClassLoading: // "": there is no key
		return true
	}
	return false
}

// some returns the first few names.
func some(names []string) string {
	if len(names) > findingLimit {
		return strings.Join(names[:findingLimit], ", ") + "…"
	}
	return strings.Join(names, ", ")
}

// notes looks for notes of the home that cannot be live.
func notes(ctx context.Context, c Config) []Finding {
	if c.Grants == nil {
		return nil
	}
	loaded, _ := config.Load(c.Paths) // the check settings reports its faults
	options := skill.Options{Grants: c.Grants(loaded), Specs: c.Specs}
	paths, err := filepath.Glob(filepath.Join(c.Paths.Skills, "*.org"))
	if err != nil {
		return []Finding{fail("", "the notes cannot be listed: %v", err)}
	}
	var found []Finding
	for i, path := range paths {
		if ctx.Err() != nil {
			return append(found, warn("org-agent skill check says more", "%d of %d notes were not checked in time", len(paths)-i, len(paths)))
		}
		source, err := skill.Read(path)
		if err != nil {
			found = append(found, warn("", "%s", skill.Unread(path, err)))
			continue
		}
		for _, d := range skill.Check(ctx, path, source, options) {
			if !d.Warning {
				found = append(found, warn("org-agent skill check says more; the last good version stays live", "%s", d))
				break
			}
		}
	}
	if len(found) > findingLimit {
		left := len(found) - findingLimit
		found = append(found[:findingLimit], warn("org-agent skill check says which", "not in order: %s more", text.Count(left, "note")))
	}
	if len(found) == 0 {
		found = append(found, ok("in order: %s of the home", text.Count(len(paths), "note")))
	}
	return found
}

// grants checks the grants of policy.org.
func grants(_ context.Context, c Config) []Finding {
	var found []Finding
	for _, f := range (&policy.RuleFile{Path: c.Paths.Policy, Home: c.Paths.Home}).Rules().Faults() {
		found = append(found, fail("correct the row: until then every action that a rule could decide is refused", "%v", f))
	}
	if c.Grants == nil {
		return found
	}
	loaded, _ := config.Load(c.Paths) // the check settings reports its faults
	for _, d := range c.Grants(loaded).Diagnostics() {
		found = append(found, fail("correct the row: until then nothing is granted", "%s", d))
	}
	if len(found) == 0 {
		found = append(found, ok("%s", c.Paths.Policy))
	}
	return found[:min(findingLimit, len(found))]
}
